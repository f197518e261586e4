"""The seconds of the table in src/planner/device_tables.inc are those that docs/reproduction/fit-model.py fits to the
recorded study, and are as good as docs/tuning.md says."""

import os
import re
import subprocess
import sys

top = sys.argv[1]
fit = subprocess.run(
    [sys.executable, os.path.join(top, "docs/reproduction/fit-model.py"),
     os.path.join(top, "docs/reproduction/tuning-study-h200.json.xz")],
    capture_output=True, text=True, check=True)
def numbers_of(text):
    (line,) = re.findall(r'^device1 name="NVIDIA H200" (.*)$', text, re.M)
    return dict(word.split("=") for word in line.split())


with open(os.path.join(top, "src/planner/device_tables.inc")) as file:
    row = numbers_of(file.read())
fitted = numbers_of(fit.stdout)
assert len(fitted) == 18, fit.stdout
for name, value in fitted.items():
    assert name in row and float(row[name]) == float(value), (
        f"{name}: {row.get(name)} in src/planner/device_tables.inc, {value} by the fit"
    )
with open(os.path.join(top, "docs/tuning.md")) as file:
    document = file.read()
for title, *numbers in re.findall(r"^  (default plan at the time of the study|present default plan|"
                                  r"model, others fitted) +([\d.]+) ([\d.]+) ([\d.]+)$", fit.stdout, re.M):
    line = f"| {title} | {' | '.join(numbers)} |"
    assert line in document, f"docs/tuning.md does not say: {line}"
print(f"{len(fitted)} numbers are those of the fit")
