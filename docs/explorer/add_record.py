#!/usr/bin/env python3
"""Takes what `compound-bench -json` wrote into docs/data, for the performance explorer.

    python3 docs/explorer/add_record.py [--commit COMMIT] [--data FOLDER] FILE...

The record stays as it is, but for what no reader needs: single samples (their statistics stay), PETSc's configure line,
the machine's network name, and the folders of the command line. The commit is added: that of this tree's HEAD, or
--commit, if the program was built from another one. The file's name is made from the device and the pattern, so a new
measurement of the same device and pattern replaces the old one.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys

from records import DATA, Unfit, device_of, grid_of, key_of, rows_of

TREE = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["include", "src", "plugin"]


def git(*arguments):
    asked = subprocess.run(["git", "-C", TREE, *arguments], capture_output=True, text=True)
    if asked.returncode != 0:
        raise Unfit(f"git {arguments[0]}: {asked.stderr.strip()}; name the commit by --commit")
    return asked.stdout.strip()


def commit_of(given):
    if not given and git("status", "--porcelain", "--untracked-files=no", "--", *SOURCES):
        print("add_record.py: sources differ from HEAD; give --commit if the program was built from another commit",
              file=sys.stderr)
    return git("rev-parse", "--verify", (given or "HEAD") + "^{commit}")


def without_samples(value):
    if isinstance(value, dict):
        return {name: without_samples(member) for name, member in value.items() if not name.endswith("samples_s")}
    return [without_samples(member) for member in value] if isinstance(value, list) else value


def short_command(line):
    """Without the folders of the program and of the output file."""
    words = shlex.split(line)
    for i, word in enumerate(words):
        if i == 0 or words[i - 1] in ("-json", "-csv"):
            words[i] = word.rpartition("/")[2]
    return shlex.join(words)


def stripped(record, commit):
    record = without_samples(record)
    record["command_line"] = short_command(record["command_line"])
    record.get("machine", {}).pop("host", None)
    record.get("versions", {}).pop("petsc_configuration", None)
    head = {name: record.pop(name) for name in ("program", "date", "command_line")}
    return {**head, "commit": commit, **record}


def file_name(record):
    name = f"{key_of(device_of(record))}-{grid_of(record)}.json"
    return re.sub(r"[^a-z0-9.-]", "-", name.lower())


def add(file, commit, folder):
    try:
        record = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise Unfit(f"{file}: cannot be read as JSON: {e}; give what `compound-bench -json FILE` writes") from e
    if not isinstance(record, dict) or record.get("program") != "compound-bench":
        raise Unfit(f"{file}: is not of compound-bench; give what `compound-bench -json FILE` writes")
    try:
        record = stripped(record, commit)
        rows_of(record, file)
    except (KeyError, TypeError) as e:
        raise Unfit(f"{file}: lacks a member that compound-bench writes: {e}; measure again with the program of this "
                    "tree") from e
    target = folder / file_name(record)
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="what compound-bench -json wrote")
    parser.add_argument("--commit", help="that the program was built from (default: HEAD)")
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="the folder of records (default: docs/data)")
    args = parser.parse_args()
    try:
        commit = commit_of(args.commit)
        args.data.mkdir(parents=True, exist_ok=True)
        for file in args.files:
            print(add(file, commit, args.data))
    except Unfit as e:
        sys.exit(f"add_record.py: {e}")
    print("now: python3 docs/explorer/make_explorer.py --page && python3 docs/explorer/first_look.py")


if __name__ == "__main__":
    main()
