"""Measured numbers of pages are those of their records, and config/figures.py tells where one is not."""

import json
import lzma
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "config/figures.py"
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def run(top, *options):
    return subprocess.run([sys.executable, SCRIPT, "--top", top, *options], capture_output=True, text=True)


def numbers_between_marks(text):
    """Where they are."""
    marked = [(m.start(), m.end()) for m in re.finditer(r"<!-- figures:.*?<!-- end of figures -->", text, re.DOTALL)]
    return [m for m in re.finditer(r"(?<![\w.-])\d+\.\d+(?![\w.-]*-->)", text)
            if any(a < m.start() < b for a, b in marked)]


def copy_of(folder):
    top = pathlib.Path(folder)
    shutil.copytree(TOP / "docs/data/figures", top / "docs/data/figures")
    (top / "docs/reproduction").mkdir()
    for record in ("reproduction-h200", "tuning-check"):
        shutil.copy(TOP / f"docs/reproduction/{record}.json.xz", top / "docs/reproduction")
    for page in ("docs/performance-gpu.md", "docs/performance-host.md", "docs/solvers.md", "docs/tuning.md"):
        shutil.copy(TOP / page, top / "docs")
    return top


done = run(TOP, "--check")
check(done.returncode == 0, f"the pages are those of the records: {done.stdout}{done.stderr}")

with tempfile.TemporaryDirectory() as folder:
    top = copy_of(folder)
    page = top / "docs/solvers.md"
    right = page.read_text(encoding="utf-8")
    check(run(top, "--check").returncode == 0, "a copy is right")
    chosen = random.Random(7)
    for match in chosen.sample(numbers_between_marks(right), 10):
        wrong = right[:match.start()] + "9" + match.group() + right[match.end():]
        page.write_text(wrong, encoding="utf-8")
        done = run(top, "--check")
        line = right.count("\n", 0, match.start()) + 1
        check(done.returncode == 1 and f"docs/solvers.md:{line}: " in done.stdout, f"{match.group()}: {done}")
    check(run(top).returncode == 0 and page.read_text(encoding="utf-8") == right, "the page is written again")

    record = top / "docs/data/figures/several-gpus.json.xz"
    with lzma.open(record, "rt") as file:
        content = json.load(file)
    for name in ("cgcompound", "cg"):
        changed = json.loads(json.dumps(content))
        run_ = [r for r in changed["runs"] if r["ksp"] == name][-1]
        run_["iteration_us"] *= 1.5
        with lzma.open(record, "wt") as file:
            json.dump(changed, file)
        check(run(top, "--check").returncode == 1, f"another number in a record of {name}")
    record.write_bytes(b"no record")
    done = run(top, "--check")
    check(done.returncode == 1 and "several-gpus.json.xz: is no record of runs" in done.stderr, f"no record: {done}")

for text, said in (("<!-- figures: no-such -->\n<!-- end of figures -->\n", "there is no figure 'no-such'; choose "),
                   ("<!-- figures: several-gpus-cg -->\n", "has no end, or no name")):
    with tempfile.TemporaryDirectory() as folder:
        top = copy_of(folder)
        (top / "docs/solvers.md").write_text(text, encoding="utf-8")
        done = run(top)
        check(done.returncode == 1 and said in done.stderr, f"{text}: {done}")

print("\n".join([f"{len(failures)} failures", *failures]))
sys.exit(bool(failures))
