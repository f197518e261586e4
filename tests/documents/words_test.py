#!/usr/bin/env python3
"""Old words are in no text that users read: documents, help, messages, the C header (tests/documents/old_words.txt).

usage: words_test.py [--program FILE]...   every old word on a line of its own; exit status 1 if there is any
       words_test.py --self-test           finds each kind of mistake in a made-up tree, and none in a right one

What is read: the prose of Markdown files (commands and code spans only for names in capital letters below); man pages;
comments and strings of include/petsccompound.h; strings with a blank in C and C++ of plugin/, src/ and examples/, and
in Python of plugin/python/; and what the programs named by --program print with `-help intro`.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "tests/mutants"))
from builds import files_of  # noqa: E402

LIST = "tests/documents/old_words.txt"
SPAN = re.compile(r"`[^`]*`")
CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'
                  r"'(?:[^'\\\n]|\\.)+'", re.S)


class WordList:
    """Lines `old: PATTERN -> NEW`, `name: PATTERN -> NEW` (in code, too) and `except: FILE: TEXT -- REASON`."""

    def __init__(self, text):
        self.old, self.exceptions, self.wrong = [], [], []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            row = re.fullmatch(r"(old|name): (.*) -> (.+)", line)
            exception = re.fullmatch(r"except: ([^:]+): (.+) -- (.+)", line)
            if row:
                self.old.append((re.compile(row[2], re.I), row[3], row[1] == "name"))
            elif exception:
                self.exceptions.append((exception[1], exception[2]))
            else:
                self.wrong.append(f"{LIST}:{number}: not an old word, nor an exception with its reason: {line}")
        self.used = set()

    def excepted(self, path, text, match):
        for file, allowed in self.exceptions:
            if pathlib.PurePath(path).match(file):
                for found in re.finditer(re.escape(allowed).replace(r"\ ", r"\s+"), text):
                    if found.start() <= match.start() and match.end() <= found.end():
                        self.used.add((file, allowed))
                        return True
        return False

    def found(self, path, text, first_line, is_code):
        """Old words in a text that begins with this line of a file."""
        for pattern, new, in_code in self.old:
            if is_code and not in_code:
                continue
            for match in pattern.finditer(text):
                if not self.excepted(path, text, match):
                    line = first_line + text.count("\n", 0, match.start())
                    yield f"{path}:{line}: '{' '.join(match[0].split())}', write: {new}"


def markdown(text):
    """The text with code blanked, and the code; lines stay where they are."""
    prose, code, fenced, before = [], [], False, ""
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        is_code = fenced or fence or (line.startswith("    ") and (before == "" or before.startswith("    ")))
        spans = SPAN.sub(lambda span: " " * len(span[0]), line)
        prose.append("" if is_code or line.lstrip().startswith("<!--") else re.sub(r"\]\([^)]*\)", "]", spans))
        code.append(line if is_code else "")
        fenced, before = fenced != fence, line if line.strip() else ""
    return "\n".join(prose), text


def strings(text, comments):
    """(line, string) of C and C++; strings side by side are one. With comments those are texts, too."""
    begun, said, end = 0, "", -1
    for match in CODE.finditer(text):
        literal = match["raw"] if match["raw"] is not None else match["text"]
        if literal is None:
            if comments and match[0].startswith("/"):
                yield text.count("\n", 0, match.start()) + 1, match[0]
            continue
        if text[text.rfind("\n", 0, match.start()) + 1 : match.start()].lstrip().startswith("#"):
            continue  # of an #include
        if said and not text[end : match.start()].strip():
            said += literal
        else:
            if " " in said:
                yield begun, said
            begun, said = text.count("\n", 0, match.start()) + 1, literal
        end = match.end()
    if " " in said:
        yield begun, said


def python_strings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def texts(root, path):
    """(first line, text, whether it is code) of one file."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    if path.endswith(".md"):
        prose, whole = markdown(text)
        yield 1, prose, False
        yield 1, whole, True
    elif path.endswith(".in"):
        yield 1, text, False
    elif path.endswith(".py"):
        yield from ((line, said, False) for line, said in python_strings(text))
    else:
        yield from ((line, said, False) for line, said in strings(text, comments=path.startswith("include/")))


READ = re.compile(r"[^/]*\.md|docs/.*\.md|docs/man/.*\.in|include/petsccompound\.h|"
                  r"(?:plugin|src|examples)/.*\.(?:c|h|cpp|hpp)|plugin/python/.*\.py|config/compare_types\.py")


def mistakes(root, programs=()):
    words = WordList((root / LIST).read_text(encoding="utf-8"))
    yield from words.wrong
    for path in filter(READ.fullmatch, files_of(root)):
        try:
            for line, text, is_code in texts(root, path):
                yield from words.found(path, text, line, is_code)
        except SyntaxError as error:
            yield f"{path}:{error.lineno}: cannot be read as Python: {error.msg}"
    for program in programs:
        done = subprocess.run([program, "-help", "intro"], capture_output=True, text=True)
        if done.returncode:
            yield f"{program} -help intro: status {done.returncode}: {done.stderr}"
        yield from words.found(pathlib.Path(program).name, done.stdout, 1, False)
    for file, text in words.exceptions:
        if (file, text) not in words.used:
            yield f"{LIST}: the exception '{text}' in {file} is not needed"


RIGHT = {
    LIST: "# list\nold: \\bgizmos?\\b -> part\nname: \\bby_gizmo\\b -> auto\n"
          "except: a.md: the gizmo of Paris -- a name\n",
    "a.md": "See the gizmo of\nParis, `gizmo`.\n\n    gizmo\n",
    "docs/b.md": "All is well.\n",
    "plugin/c.cpp": '// gizmo\n#include "a gizmo.hpp"\nf("gizmo");\n',
    "plugin/python/d.py": 'f("gizmo")\n',
    "include/petsccompound.h": "/* of parts */\n",
}
SELF_TEST = [
    ("docs/b.md", "A Gizmo.", "docs/b.md:2: 'Gizmo', write: part"),
    ("docs/b.md", "| of | gizmos |", "docs/b.md:2: 'gizmos'"),
    ("a.md", "\n    run by_gizmo", "a.md:6: 'by_gizmo', write: auto"),
    ("plugin/c.cpp", 'f("is " "a "\n  "gizmo");', "plugin/c.cpp:4: 'gizmo'"),
    ("plugin/c.cpp", 'f(R"(is a\ngizmo)");', "plugin/c.cpp:5: 'gizmo'"),
    ("plugin/python/d.py", '"""A gizmo."""', "plugin/python/d.py:2: 'gizmo'"),
    ("include/petsccompound.h", "/* a gizmo */", "petsccompound.h:2: 'gizmo'"),
    (LIST, "except: a.md: another gizmo -- no reason", "the exception 'another gizmo' in a.md is not needed"),
    (LIST, "gadget", "not an old word, nor an exception"),
]


def mistakes_with(changed, line):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in RIGHT.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + (line + "\n" if name == changed else ""), encoding="utf-8")
        return list(mistakes(root))


def self_test():
    wrong = [f"a right tree: found {found}" for found in [mistakes_with(None, "")] if found]
    for path, line, expected in SELF_TEST:
        found = mistakes_with(path, line)
        if len(found) != 1 or expected not in found[0]:
            wrong.append(f"{path}: {line}: expected '{expected}', found {found}")
    print(*wrong, f"self-test: {1 + len(SELF_TEST)} trees, {len(wrong)} wrong", sep="\n")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return 1 if self_test() else 0
    found = list(mistakes(TOP, args.program))
    print(*found, f"{len(found)} old words", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
