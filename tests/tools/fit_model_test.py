"""The numbers of src/model.cpp are those that config/fit-model.py fits to the recorded study, and are as good as docs/tuning.md says."""

import os
import re
import subprocess
import sys

top = sys.argv[1]
fit = subprocess.run(
    [sys.executable, os.path.join(top, "config/fit-model.py"), os.path.join(top, "config/tuning-study-h200.json.xz")],
    capture_output=True, text=True, check=True)
with open(os.path.join(top, "src/model.cpp")) as file:
    row = dict(re.findall(r"\.(\w+_s) = ([\d.e+-]+)", file.read()))
fitted = dict(re.findall(r"\.(\w+_s) = ([\d.e+-]+)", fit.stdout))
assert len(fitted) == 10, fit.stdout
for name, value in fitted.items():
    assert name in row and float(row[name]) == float(value), f"{name}: {row.get(name)} in src/model.cpp, {value} by the fit"
with open(os.path.join(top, "docs/tuning.md")) as file:
    document = file.read()
for title, *numbers in re.findall(r"^  (rule of the study|present rule|model, others fitted) +([\d.]+) ([\d.]+) ([\d.]+)$", fit.stdout, re.M):
    line = f"| {title} | {' | '.join(numbers)} |"
    assert line in document, f"docs/tuning.md does not say: {line}"
print(f"{len(fitted)} numbers are those of the fit")
