"""Matrices by which plans are judged are in nothing that plans are made with; their files are the recorded ones."""

import hashlib
import lzma
import os
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
SET = TOP / "docs/reproduction/held-back.txt"
LEAST = 12
# The rule, the model, the searches and their calibration; tests of them; the study and its fit.
MADE_WITH = ["src", "plugin", "tests/src/planner", "tests/properties", "docs/reproduction/tuning-study.txt",
             "docs/reproduction/tuning-study-h200.json.xz", "docs/reproduction/tuning-check.json.xz"]
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def matrices():
    lines = [line.split() for line in SET.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    for line in lines:
        check(len(line) == 5 and re.fullmatch("[0-9a-f]{16}", line[-1]),
              f"{SET.name}: five words, the last a hash: {line}")
    return lines


def text_of(file):
    with (lzma.open if file.suffix == ".xz" else open)(file, "rb") as opened:
        return opened.read()


def files_below(path):
    return [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]


found = matrices()
check(len(found) >= LEAST, f"{SET.name}: {len(found)} matrices, and {LEAST} are wanted")
check(len({line[0] for line in found}) == len(found), f"{SET.name}: a matrix is there twice")
names = [re.escape(name.encode()) for line in found
         for name in {line[0], pathlib.PurePath(line[1].partition(":")[0]).stem}]
pattern = re.compile(b"|".join(names))
for place in MADE_WITH:
    path = TOP / place
    check(path.exists(), f"{place} is not there")
    for file in files_below(path):
        if match := pattern.search(text_of(file)):
            failures.append(f"{file.relative_to(TOP)}: is made with {match[0].decode()}, which {SET.name} holds back; "
                            "put another matrix there and say so in docs/tuning.md")

data = pathlib.Path(os.environ.get("COMPOUND_DATA") or TOP / "../shared/data")
if data.is_dir():
    for name, file, *_, wanted in found:
        xz = data / (file.partition(":")[0] + ".xz")
        there = xz if xz.exists() else xz.with_suffix("")
        check(there.exists(), f"{name}: {file} is not in the folder of data")
        if there.exists():
            found_hash = hashlib.sha256(text_of(there)).hexdigest()
            check(found_hash.startswith(wanted), f"{name}: {file} is another file than the recorded one")
else:
    print(f"hashes were not compared: there is no folder {data} (COMPOUND_DATA)")

print("\n".join(failures) or f"{len(found)} matrices are held back")
sys.exit(1 if failures else 0)
