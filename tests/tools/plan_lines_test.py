#!/usr/bin/env python3
"""Every plan line that a record of docs/reproduction has is read as a plan, and says the same when it is printed.

usage: plan_lines_test.py READER FOLDER    READER: reads lines and says what it thinks of each (plan_lines.cpp)
"""

import json
import lzma
import pathlib
import re
import subprocess
import sys

LAYOUT = re.compile(r"(?:entry=\w+ )?(?:csr|ellr|sell|bellpack|dia|hdia|ccoo)(?![-\w])[^;]*")
# What was printed of plans that name threads alone, which no device takes: today nothing is.
OF_NO_BLOCKS = " blocks=0"


def texts(value):
    if isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def plan_lines(folder):
    lines = set()
    for file in sorted(pathlib.Path(folder).glob("*.json.xz")):
        with lzma.open(file, "rt") as record:
            found = {t for t in texts(json.load(record)) if LAYOUT.fullmatch(t) and OF_NO_BLOCKS not in t}
        assert found, f"{file} has no plan line"
        lines |= found
    return sorted(lines)


def main(reader, folder):
    lines = plan_lines(folder)
    assert len(lines) > 5000, f"only {len(lines)} lines"
    result = subprocess.run([reader], input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    sys.stdout.write(result.stdout[:4000])
    assert result.returncode == 0, f"{reader}: status {result.returncode}: {result.stderr}"
    wrong = subprocess.run([reader], input="csr lengths\n", text=True, capture_output=True, check=False)
    assert wrong.returncode == 1 and "lengths is not for layout csr" in wrong.stdout, wrong
    print(f"{len(lines)} plan lines are read")


if __name__ == "__main__":
    main(*sys.argv[1:])
