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
sys.path.insert(0, str(SCRIPT.parent))
import figures  # noqa: E402

MOST_BYTES = 3e6  # of all records
TRIED = 20
MARKED = re.compile(r"<!-- figures: [\w-]+ -->(.*?)<!-- end of figures -->", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?")
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def run(top, *options):
    return subprocess.run([sys.executable, SCRIPT, "--top", top, *options], capture_output=True, text=True)


def marked_numbers(text):
    """Where they are."""
    return [(m.start(1) + n.start(), m.start(1) + n.end()) for m in MARKED.finditer(text)
            for n in NUMBER.finditer(m[1])]


def records(top):
    return [*top.glob("docs/data/*.json"), *top.glob("docs/data/figures/*.json.xz"), top / "docs/figures/columns.json",
            *(top / file for file in figures.trust.RECORDS)]


def copy_of(folder):
    top = pathlib.Path(folder)
    shutil.copytree(TOP / "docs/data", top / "docs/data")
    (top / "docs/reproduction").mkdir()
    (top / "docs/figures").mkdir()
    for file in figures.trust.RECORDS:
        (top / file).parent.mkdir(parents=True, exist_ok=True)
    for file in [*figures.PAGES, "docs/figures/columns.json", *figures.trust.RECORDS,
                 *(f"docs/reproduction/{file.name}" for file in TOP.glob("docs/reproduction/*.json.xz"))]:
        shutil.copy(TOP / file, top / file)
    return top


def another(value, chosen):
    """The same JSON with one number that is another."""
    places = []

    def find(of, path):
        for key, member in of.items() if isinstance(of, dict) else enumerate(of):
            if isinstance(member, (dict, list)):
                find(member, [*path, key])
            elif isinstance(member, (int, float)) and not isinstance(member, bool):
                places.append([*path, key])
    find(value, [])
    *path, last = chosen.choice(places)
    for key in path:
        value = value[key]
    value[last] = value[last] * 2 + 1


def number_of_a_page(chosen):
    """A number between marks is another one."""
    texts = {page: (TOP / page).read_text(encoding="utf-8") for page in figures.PAGES}
    page = chosen.choice([page for page, text in texts.items() if marked_numbers(text)])
    right = texts[page]
    begin, end = chosen.choice(marked_numbers(right))
    wrong = right[:begin] + "9" + right[begin:end] + right[end:]
    line = right.count("\n", 0, begin) + 1
    difference = figures.first_difference(wrong, figures.filled(TOP, page, wrong))
    check(difference and difference[0] == line, f"{page}:{line}: 9{right[begin:end]} is not found: {difference}")


def number_of_a_record(top, chosen):
    """A number of a record is another one: by the sums, whether a page shows it or not."""
    file = chosen.choice(records(top))
    there = file.read_bytes()
    content = json.loads(lzma.decompress(there) if file.suffix == ".xz" else there)
    another(content, chosen)
    text = json.dumps(content).encode()
    file.write_bytes(lzma.compress(text, preset=0) if file.suffix == ".xz" else text)
    sums = (TOP / figures.SUMS).read_text(encoding="utf-8")
    check(figures.first_difference(sums, figures.sums_of(top)), f"another number in {file.name} is not found")
    file.write_bytes(there)


chosen = random.Random(7)
done = run(TOP, "--check")
check(done.returncode == 0, f"the pages are those of the records: {done.stdout}{done.stderr}")
size = sum(file.stat().st_size for file in [*records(TOP), *TOP.glob("docs/reproduction/*.json.xz")])
check(size <= MOST_BYTES, f"all records together have {size} bytes")
for _ in range(TRIED):
    number_of_a_page(chosen)

with tempfile.TemporaryDirectory() as folder:
    top = copy_of(folder)
    for _ in range(TRIED):
        number_of_a_record(top, chosen)
    check(figures.sums_of(top) == (TOP / figures.SUMS).read_text(encoding="utf-8"), "the records are as they were")

    # A page is another one where its record is, and is written again.
    record = top / "docs/data/figures/several-gpus.json.xz"
    content = json.loads(lzma.decompress(record.read_bytes()))
    next(r for r in reversed(content["runs"]) if r["ksp"] == "cg")["iteration_us"] *= 1.5
    record.write_bytes(lzma.compress(json.dumps(content).encode()))
    done = run(top, "--check")
    check(done.returncode == 1 and "docs/solvers.md:" in done.stdout and "records.sha256:" in done.stdout,
          f"another number in the record of several GPUs: {done}")
    changed = [page for page in figures.PAGES if page in done.stdout]
    run(top)
    written = [page for page in figures.PAGES
               if (top / page).read_text(encoding="utf-8") != (TOP / page).read_text(encoding="utf-8")]
    check(changed == written == ["docs/solvers.md"], f"the page is written again: {changed}, {written}")
    record.write_bytes(b"no record")
    done = run(top, "--check")
    check(done.returncode == 1 and "several-gpus.json.xz: is no record of runs" in done.stderr, f"no record: {done}")

for text, said in (("<!-- figures: no-such -->\n<!-- end of figures -->\n", "there is no figure 'no-such'; choose "),
                   ("<!-- figures: several-gpus-cg -->\n", "has no end, or no name")):
    try:
        figures.filled(TOP, "docs/solvers.md", text)
        check(False, f"{text}: is taken")
    except figures.Wrong as e:
        check(said in str(e), f"{text}: {e}")

print("\n".join([f"{len(failures)} failures", *failures]))
sys.exit(bool(failures))
