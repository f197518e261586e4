#!/usr/bin/env python3
"""Adds a fuzzer's runs that found nothing to tests/fuzz/record.json, for config/fuzz.sh --record.

    record.py TARGET LOG       LOG is what libFuzzer printed, in each process: `Done N runs in S second(s)`
    record.py --found TARGET   it has found something: what ran before no longer counts
    record.py --self-test

For each target, since it has last found something: all runs and seconds, the date of the first run, and date, commit
and machine of the last.
"""

import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutants"))
from builds import machine, read_record, stamp, write_record  # noqa: E402

RECORD = "tests/fuzz/record.json"
DONE = re.compile(r"^Done (\d+) runs in (\d+) second", re.MULTILINE)


def add(target, log, file):
    if not (done := DONE.findall(log)):
        sys.exit(f"record.py: the log of {target} has no line 'Done N runs in S second(s)'; nothing is recorded")
    record = read_record(file)
    now = stamp(ROOT)
    known = record.get(target, {"runs": 0, "seconds": 0, "since": now["date"]})
    record[target] = {"runs": known["runs"] + sum(int(runs) for runs, _ in done),
                      "seconds": known["seconds"] + sum(int(seconds) for _, seconds in done),
                      "since": known["since"], **now, "machine": machine()}
    write_record(file, record, sort_keys=True)


def forget(target, file):
    record = read_record(file)
    record.pop(target, None)
    write_record(file, record, sort_keys=True)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "record.json"
        for runs in (10, 5):
            add("plan", f"#{runs} DONE\nDone {runs} runs in 2 second(s)\nDone 2 runs in 1 second(s)\n", file)
        plan = json.loads(file.read_text())["plan"]
        if (plan["runs"], plan["seconds"]) != (19, 6):
            sys.exit(f"self-test: {plan}")
        before = file.read_text()
        try:
            add("plan", "ERROR: AddressSanitizer\n", file)
        except SystemExit:
            pass
        else:
            sys.exit("self-test: a log without an end is recorded")
        if file.read_text() != before:
            sys.exit("self-test: a log without an end changes the record")
        add("wisdom", "Done 1 runs in 1 second(s)\n", file)
        forget("plan", file)
        if list(json.loads(file.read_text())) != ["wisdom"]:
            sys.exit(f"self-test: {file.read_text()} after a finding of 'plan'")
    print("self-test: 4 runs, 0 wrong")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 3 and sys.argv[1] == "--found":
        forget(sys.argv[2], ROOT / RECORD)
    elif len(sys.argv) == 3:
        add(sys.argv[1], pathlib.Path(sys.argv[2]).read_text(errors="replace"), ROOT / RECORD)
    else:
        sys.exit(__doc__)
