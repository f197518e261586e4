#!/usr/bin/env python3
"""Keeps a row of config/soak.sh in which nothing grew in tests/soak/record.json, for config/soak.sh --record.

    record.py [--device] LOG       what the program printed, with a row `cg 2 4150 ... steady`
    record.py --self-test

By machine (with --device the GPU), scenario and processes: how many rounds, date and commit of the last run.
"""

import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutants"))
from builds import device_here, machine, read_record, stamp, write_record  # noqa: E402

RECORD = "tests/soak/record.json"
STEADY = re.compile(r"^(\w+) +(\d+) +(\d+) .* steady$", re.MULTILINE)


def keep(log, where, file):
    if not (said := STEADY.search(log)):
        sys.exit("record.py: the log has no row that ends with 'steady'; nothing is recorded")
    scenario, processes, rounds = said.groups()
    record = read_record(file)
    record.setdefault(where, {}).setdefault(scenario, {})[processes] = {"rounds": int(rounds), **stamp(ROOT)}
    write_record(file, record, sort_keys=True)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "record.json"
        for rounds in (90, 120):
            keep(f"cg               2      {rounds}   10.00   10.05     0.40  0.41  steady\n", "here", file)
        if (rounds := json.loads(file.read_text())["here"]["cg"]["2"]["rounds"]) != 120:
            sys.exit(f"self-test: {rounds} rounds, not 120")
        before = file.read_text()
        for row in ("cg 2 150 10.00 12.00 0.40 0.41  grew: RSS by 20.0 %\n", "cg: no such type\n"):
            try:
                keep(row, "here", file)
            except SystemExit:
                pass
            else:
                sys.exit(f"self-test: '{row.strip()}' is recorded")
        if file.read_text() != before:
            sys.exit("self-test: what grew changes the record")
    print("self-test: 4 rows, 0 wrong")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 2 or sys.argv[1:-1] == ["--device"]:
        log = pathlib.Path(sys.argv[-1]).read_text(errors="replace")
        keep(log, device_here() if "--device" in sys.argv else machine(), ROOT / RECORD)
    else:
        sys.exit(__doc__)
