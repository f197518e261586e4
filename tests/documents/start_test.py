#!/usr/bin/env python3
# release: no
"""docs/start.md: its tab of petsc4py needs no other page: its script is saved, run as the page says, and prints what
the page shows. Blocks of the other tabs are lines of blocks of docs/clients.md, which tests/clients/document_test.py
runs.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "packages"))

from support import arguments, environment, package, record, run  # noqa: E402

FENCE = r"^```\w+\n([\s\S]*?)^```$"


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def block(text, name):
    """What stands in the block below the comment of that name."""
    found = re.search(rf"^<!-- block {name} -->\n(?:{FENCE}|\n((?:    .*\n)+))", text, re.M)
    if not found:
        sys.exit(f"docs/start.md: no block below the comment '<!-- block {name} -->'")
    return found[1] or re.sub("^    ", "", found[2], flags=re.M)


def not_of_clients(start, clients):
    """Lines of blocks that the block of that name in docs/clients.md does not have, in that order."""
    blocks = re.findall(rf"^<!-- block ([\w-]+): lines of docs/clients\.md -->\n{FENCE}", start, re.M)
    for name, text in blocks:
        there = re.search(rf"^<!-- block {name}: [^\n]*-->\n{FENCE}", clients, re.M)
        lines = iter(there[1].split("\n") if there else [])
        for line in text.split("\n"):
            if line not in lines:  # takes the lines up to that one
                yield f"docs/start.md, block {name}: docs/clients.md does not have, at that place, '{line}'"
                break
    if len(blocks) < 5:
        yield f"docs/start.md: {len(blocks)} blocks are lines of docs/clients.md; five are expected"


def main():
    args = arguments(__doc__)
    start = read("docs/start.md")
    wrong = list(not_of_clients(start, read("docs/clients.md")))
    if wrong:
        sys.exit("\n".join(wrong))
    petsc = record(args.build)["petsc"]
    if (petsc["scalar"], petsc["version"][:4]) != ("real", "3.18"):
        print(f"skipped: the page shows what real PETSc 3.18 prints, this build is for {petsc['version']}, "
              f"{petsc['scalar']}")
        return 77
    python = f"{args.scratch}/bin/python3"
    os.makedirs(os.path.dirname(python))
    os.symlink(args.python, python)
    with open(f"{args.scratch}/solve.py", "w", encoding="utf-8") as file:
        file.write(block(start, "first-petsc4py"))
    env = environment(PYTHONPATH=package(args.build, f"{args.scratch}/package"),
                      PATH=f"{args.scratch}/bin:{os.environ['PATH']}")
    if run([python, "-c", "import petsc4py"], env)[0] != 0:
        print(f"skipped: {args.python} has no petsc4py")
        return 77
    code, said, errors = run(["bash", "-eu", "-c", block(start, "first-petsc4py-run")], env, cwd=args.scratch)
    if code != 0 or said.strip() != block(start, "first-petsc4py-output").strip():
        sys.exit(f"the script of docs/start.md ended with status {code} and printed\n{said}{errors}\n"
                 "not what the page shows")
    print("the script of docs/start.md prints what the page shows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
