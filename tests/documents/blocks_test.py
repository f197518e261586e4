#!/usr/bin/env python3
"""Every block of commands or code in documents is run by a test, or is named with its reason in blocks_not_run.txt.

A block is run if a comment `<!-- block ... -->` stands above it in a document that a test reads, if all of its commands
are of our programs (commands_test.py runs these), or if blocks_run.txt names its test. A block without a command is
text or output.
"""

import os
import re
import sys

import commands

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_REASONS = 15
COMMAND = re.compile(r"^(\(?cd |(bash|sh|cmake|ctest|cpack|pip|python3?|mpirun|mpiexec|mpicc|apt-get|cp|mv|rm|patch|"
                     r"make|git|spack|rattler-build|export|source|cat|sed|echo|printf|\.) |\./|build/|[A-Z_]+=\S* ?|"
                     r"[a-z]+=\$|property_runner|compound-|-(mat|ksp|pc|dll|grid|n|vec|dm)(_\w+)? |"
                     r"(elasticity|helmholtz|spin_transformation|lattice_dirac|custom_entry) )")
CODE = re.compile(r"^(#include |template |import |from \w+ import |\w+ = \w.*\(|@)")
LANGUAGES = ("sh", "bash", "console", "c", "cpp", "c++", "cmake", "python", "fortran")


def has_commands(language, lines):
    return language.split(" ")[0].lower() in LANGUAGES or any(COMMAND.match(line) or CODE.match(line) for line in lines)


def rows(name):
    """(pattern of documents, pattern of blocks, what follows the bar) of each line of a list."""
    with open(os.path.join(HERE, name)) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                place, what = line.rsplit(" | ", 1)
                document, block = place.split(" : ", 1)
                yield document.strip(), block.strip(), what.strip()


def tests_that_read():
    """The text of all tests, to see which documents they read."""
    text = {}
    for folder, _, files in os.walk(os.path.join(commands.TOP, "tests")):
        for name in files:
            if name.endswith("_test.py") and name != "blocks_test.py":
                with open(os.path.join(folder, name)) as file:
                    text[name] = file.read()
    return text


def fits(row, path, block):
    return re.fullmatch(row[0], path) and re.search(row[1], block, re.M)


def mistakes(pages, run, not_run):
    """Blocks of pages (path: text) that nothing runs, and rows of the lists that no block needs."""
    read, used = "\n".join(tests_that_read().values()), set()
    for path, text in pages.items():
        for number, language, lines, above in commands.blocks(text):
            block = "\n".join(lines)
            if above.startswith("<!-- block "):
                if os.path.basename(path) not in read:
                    yield f"{path}:{number}: has the comment of a tested block, and no test reads {path}"
                continue
            if language == "json" or not has_commands(language, lines):
                continue
            row = next((row for row in [*run, *not_run] if fits(row, path, block)), None)
            if row:
                used.add(row)
            elif language not in ("", "sh") or not all(map(commands.is_run, commands.commands(lines))):
                yield f"{path}:{number}: nothing runs this block, and it is in no list: {lines[0][:100]}"
    for row in [*run, *not_run]:
        if row not in used:
            yield f"a row of the lists fits no block: {' : '.join(row[:2])}"
    reasons = sorted({row[2] for row in not_run})
    if len(not_run) > MOST_REASONS:
        yield f"blocks_not_run.txt has {len(not_run)} entries ({len(reasons)} reasons); {MOST_REASONS} are allowed"
    for row in run:
        if not os.path.exists(os.path.join(commands.TOP, row[2])):
            yield f"blocks_run.txt names {row[2]}, which is not there"


def self_test(pages, run, not_run):
    made_up = {
        "nothing runs this block": "# New\n\n    bash config/none.sh\n",
        "no test reads": '<!-- block made-up: prints "" -->\n```sh\nls\n```\n',
    }
    for message, text in made_up.items():
        if not any(message in mistake for mistake in mistakes({**pages, "docs/made-up.md": text}, run, not_run)):
            yield f"self-test: '{message}' is not found"
    harmless = "# New\n\n    unknowns 64347, blocks 281229\n\nThen:\n\n    compound-bench -grid 27 -n 4\n"
    if any("made-up" in mistake for mistake in mistakes({**pages, "docs/made-up.md": harmless}, run, not_run)):
        yield "self-test: a harmless page has a mistake"


def main():
    pages = {}
    for path in commands.documents():
        with open(os.path.join(commands.TOP, path)) as file:
            pages[path] = file.read()
    run, not_run = list(rows("blocks_run.txt")), list(rows("blocks_not_run.txt"))
    found = [*mistakes(pages, run, not_run), *self_test(pages, run, not_run)]
    count = sum(1 for text in pages.values() for _ in commands.blocks(text))
    print(*found, f"{count} blocks in {len(pages)} documents, {len(found)} mistakes", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
