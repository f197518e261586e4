#!/usr/bin/env python3
"""Checks documents against the tree, without a build: links, paths, options and variables that they name are there.

usage: check_documents.py [ROOT]      every mistake on a line of its own; exit status 1 if there is any
       check_documents.py --self-test finds a made-up mistake of each kind, and nothing in a tree without one
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "mutants"))
from builds import files_of  # noqa: E402

LINK = re.compile(r"\[[^][]*\]\(([^()\s]+)\)")
SPAN = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<![\w-])-(?:[a-z]+_)*?((?:mat|ksp|pc)_[a-z]*compound_[a-z_]*[a-z])")  # after any prefix
OPTION_OF_CODE = re.compile(r'"-([a-z_]*compound_[a-z_]+)"')
ROW_OF_OPTIONS = re.compile(r'^    \{"([a-z_]+)",', re.M)
OPTIONS = "plugin/options/options.cpp"
OPTIONS_PAGE = "docs/reference/options.md"
VARIABLE = re.compile(r"\bCOMPOUND_[A-Z0-9_]*[A-Z0-9]\b")


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")


def without_blocks(text):
    """The same lines, blocks of code empty."""
    fenced, lines, before = False, [], ""
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        indented = line.startswith("    ") and (before == "" or before.startswith("    "))
        lines.append("" if fenced or fence or indented else line)
        fenced, before = fenced != fence, line if line.strip() else ""
    return lines


def anchors(text):
    """Of headings, as they are made from their words, and of HTML."""
    names = set()
    for line in without_blocks(text):
        if line.startswith("#"):
            title = re.sub(r"\[([^][]*)\]\([^()]*\)", r"\1", line.lstrip("#").strip()).lower()
            names.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
        names.update(re.findall(r'<a (?:name|id)="([^"]+)"', line))
    return names


def wrong_links(root, path, text):
    for number, line in enumerate(without_blocks(text), 1):
        for target in LINK.findall(line):
            file, _, anchor = target.partition("#")
            place = (root / path).parent / file if file else root / path
            if re.match(r"[a-z]+:", target):
                continue
            if not place.exists():
                yield f"{path}:{number}: link to {target}: there is no such file"
            elif anchor and anchor not in anchors(place.read_text(encoding="utf-8")):
                yield f"{path}:{number}: link to {target}: there is no such heading"


def is_there(root, files, word):
    """A path, or a pattern: `<kind>` and `...` stand for any name, {a,b} for both. Programs are named without `.c`."""
    pattern = re.sub(r"\\\{([^{}]*)\\\}", lambda choice: "(" + choice[1].replace(",", "|") + ")",
                     re.sub(r"<[^<>]*>|\\\.\\\.\\\.|\\\*", "[^/]*", re.escape(word.rstrip("/"))))
    return any(re.match(pattern + r"(\.c|\.cpp)?(/|$)", file) for file in files)


def wrong_paths(root, path, text, files):
    folders = {file.split("/")[0] for file in files if "/" in file}
    for number, line in enumerate(without_blocks(text), 1):
        for word in (word.rstrip(".,;:") for span in SPAN.findall(line) for word in span.split()):
            if word.split("/")[0] in folders and "/" in word and not is_there(root, files, word):
                yield f"{path}:{number}: `{word}` is not in the tree"


def wrong_options(documents, rows, code):
    """Options that no source knows, and rows of the plugin's table that its page lacks."""
    known = {"mat_compound_" + row for row in rows}.union(*(OPTION_OF_CODE.findall(text) for text in code.values()))
    for path, text in documents.items():
        for number, line in enumerate(text.splitlines(), 1):
            for option in OPTION.findall(line):
                if option not in known:
                    yield f"{path}:{number}: option -{option} is in no source of plugin/"
    for row in rows:
        if not re.search(rf"`-mat_compound_{row}\b", documents.get(OPTIONS_PAGE, "")):
            yield f"{OPTIONS_PAGE}: option -mat_compound_{row} of {OPTIONS} is missing"


def wrong_variables(documents, others):
    for path, text in documents.items():
        for number, line in enumerate(text.splitlines(), 1):
            for name in VARIABLE.findall(line):
                if name not in others:
                    yield f"{path}:{number}: variable {name} is in no file but documents"


def mistakes(root):
    files = files_of(root, untracked=False)
    documents = {path: read(root, path) for path in files if path.endswith(".md")}
    code = {path: read(root, path) for path in files if re.fullmatch(r"plugin/.*\.[ch]pp", path)}
    others = {name for path in files if not path.endswith((".md", ".png", ".xz", ".svg"))
              for name in VARIABLE.findall(read(root, path))}
    for path, text in documents.items():
        yield from wrong_links(root, path, text)
        yield from wrong_paths(root, path, text, files)
    yield from wrong_options(documents, ROW_OF_OPTIONS.findall(code.get(OPTIONS, "")), code)
    yield from wrong_variables(documents, others)


# A tree without a mistake, and for each kind of mistake: (file, text added to it, what the message says).
RIGHT = {
    "README.md": "# A plug-in, `fast`\n[more](docs/more.md#two-words) [up](#a-plug-in-fast) `src/a.cpp` `bash "
    "config/t.sh`"
                 " `src/<kind>.cpp` `src/{a,b}.cpp`\n\n    `src/made.cpp` [not](a link)\n\n"
                 "`-a_b_mat_compound_plan` `-ksp_compound_loop` | `COMPOUND_SEED`\n",
    "docs/more.md": "## Two words\n[back](../README.md)\n",
    OPTIONS_PAGE: "| `-mat_compound_plan` |\n",
    "src/a.cpp": 'getenv("COMPOUND_SEED")\n',
    "src/b.cpp": "",
    "config/t.sh": "",
    "plugin/ksp/loop.cpp": '"-ksp_compound_loop"\n',
    OPTIONS: '    {"plan", "help"},\n',
}
SELF_TEST = [
    ("README.md", "[x](docs/none.md)", "link to docs/none.md: there is no such file"),
    ("docs/more.md", "[x](../README.md#none)", "link to ../README.md#none: there is no such heading"),
    ("README.md", "[x](#none)", "link to #none: there is no such heading"),
    ("README.md", "`src/none.cpp`", "`src/none.cpp` is not in the tree"),
    ("docs/more.md", "`bash config/none.sh --all`", "`config/none.sh` is not in the tree"),
    ("docs/more.md", "`-mat_compound_none`", "option -mat_compound_none is in no source of plugin/"),
    ("README.md", "    -ksp_compound_none 1", "option -ksp_compound_none is in no source of plugin/"),
    (OPTIONS, '    {"layout", "help"},', f"option -mat_compound_layout of {OPTIONS} is missing"),
    ("README.md", "`COMPOUND_NONE`", "variable COMPOUND_NONE is in no file but documents"),
]


def mistakes_with(path, line):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in RIGHT.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + ("\n" + line + "\n" if name == path else ""), encoding="utf-8")
        subprocess.run("git init -q . && git add .", shell=True, cwd=root, check=True)
        return list(mistakes(root))


def self_test():
    wrong = [f"a right tree: found {found}" for found in [mistakes_with(None, "")] if found]
    for path, line, expected in SELF_TEST:
        found = mistakes_with(path, line)
        if len(found) != 1 or expected not in found[0]:
            wrong.append(f"{path}: {line}: expected '{expected}', found {found}")
    print(*wrong, f"self-test: {1 + len(SELF_TEST)} trees, {len(wrong)} wrong", sep="\n")
    return len(wrong)


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    root = pathlib.Path(arguments[0] if arguments else os.curdir)
    found = list(mistakes(root))
    print(*found, f"{len(found)} mistakes in documents", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
