#!/usr/bin/env python3
"""The README's table of options has the rows, and the words, that -help prints."""

import argparse
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "plugin", "readme"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    command = [args.program, "-box", "2,2,2", "-dll_append", args.plugin, "-mat_type", "baijcompound", "-help"]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    helped = dict(re.findall(r"^ *(-mat_compound_\w+)\s*:? <[^>]*>:? (.*) \(MatSetFromOptions\)$", output, re.M))
    with open(args.readme) as readme:
        table = dict(re.findall(r"^\| `(-mat_compound_\w+)` \| (.*) \|$", readme.read(), re.M))
    print(f"{len(helped)} options in -help, {len(table)} in the table")
    for option in sorted(helped.keys() | table.keys()):
        if helped.get(option) != table.get(option):
            print(f"{option}:\n  -help:  {helped.get(option)}\n  README: {table.get(option)}")
    return 0 if helped and helped == table else 1


if __name__ == "__main__":
    sys.exit(main())
