#!/usr/bin/env python3
"""Whether results have the same bits: of each plan and operation in repeats, after a restart, on the host and on a
device, on a second device where there is one, on one process and on several. Writes docs/data/figures/bits.json.xz, of
which config/figures.py makes a table.

    python3 config/measure_bits.py --build build/host
    python3 config/measure_bits.py --build build/petsc-3.26.1-cuda-real --device

The matrix is a grid of 27 points with blocks of 3x3 (tests/plugin/same_bits.c). Distances are the largest of all
components: of products over eps times abs(A) abs(x), of solves after ten iterations over eps times the largest
component. A hash of each result's bits is kept, so that devices of several machines are compared. With --check nothing
is written; the status is 1 if a result changes from run to run, or if processes differ in a product by more than the
numbers in a row.
"""

import argparse
import array
import datetime
import hashlib
import json
import lzma
import os
import pathlib
import sys
import tempfile
import time

import measure_figures

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TOP / "tests/mutants"))
from builds import device_here, gpu_of_turn, gpus_here  # noqa: E402

RECORD = TOP / "docs/data/figures/bits.json.xz"
EPS = 2.0 ** -52
OPERATIONS = ["mult", "transpose", "add", "cg", "cgcompound", "bcgs", "bcgscompound"]
PRODUCTS = ["mult", "transpose", "add"]
ROW = 3 * 27  # numbers in a row of the matrix

# Layouts with traversals and schedules that add up in different orders.
ON_HOST = ["csr", "csr plain", "ellr", "bellpack:32", "sell:8", "sell:32:256", "hdia:32", "dia", "ccoo:128",
           "half=symmetric", "ellr width=auto + ccoo"]
ON_DEVICE = ["csr rows lanes=1", "csr rows lanes=16", "csr components lanes=16", "ellr rows", "ellr components",
             "bellpack:32 rows lanes=2", "bellpack:32 components", "sell:32:256 rows dynamic", "hdia:32 rows",
             "dia rows", "ccoo:128:2 slots", "half=symmetric", "ellr width=auto + ccoo",
             "ccoo:128:2 slots carries=atomic"]
VECTORS = {"host": ["-vec_type", "standard"], "device": ["-vec_type", "cuda", "-use_gpu_aware_mpi", "0"]}


def vectors_of(file):
    """PETSc's binary vectors: class and length, then numbers, big-endian."""
    content, found, at = file.read_bytes(), [], 0
    while at < len(content):
        length = int.from_bytes(content[at + 4:at + 8], "big")
        values = array.array("d", content[at + 8:at + 8 + 8 * length])
        values.byteswap()
        found.append(values)
        at += 8 + 8 * length
    return found


def run(build, where, plans, ranks, repeat, environment=()):
    """(abs(A) abs(x), {(plan, operation): (whether repeats were the same, values)})"""
    with tempfile.TemporaryDirectory() as folder:
        to = pathlib.Path(folder) / "bits.bin"
        command = [str(build / "tests/plugin/same_bits"), "-dll_append", str(build / "plugin/libpetsccompound.so"),
                   "-mat_type", "baijcompound", *VECTORS[where], "-plans", ";".join(plans), "-repeat", str(repeat),
                   "-to", str(to)]
        begin = time.monotonic()
        try:
            text, _ = measure_figures.run(["env", *environment, *measure_figures.by_mpi(ranks), *command])
        except measure_figures.Failed as why:
            sys.exit(f"measure_bits.py: {' '.join(command)}: {why}")
        of = f"{ranks} process{'es' * (ranks > 1)}, {repeat} repeats"
        print(f"{where}, {of}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
        bound, *results = vectors_of(to)
    found, plan = {}, None
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "plan":
            plan = rest
        elif word in OPERATIONS:
            found[plan, word] = (rest == "same", results[len(found)])
    return bound, found


def distance(operation, bound, a, b):
    """In eps."""
    if operation in PRODUCTS:
        return max(abs(v - w) / (EPS * s) for v, w, s in zip(a, b, bound))
    largest = max(abs(v) for v in a)
    return max(abs(v - w) for v, w in zip(a, b)) / (EPS * largest)


def rows_of(build, where, plans, repeat, ranks):
    bound, first = run(build, where, plans, 1, repeat)
    _, restarted = run(build, where, plans, 1, 1)
    _, shared = run(build, where, plans, ranks, repeat)
    on_host = second = None
    if where == "device":
        on_host = run(build, "host", ["csr"], 1, 1)[1]
        chosen = [f"{name}={value}" for name, value in gpu_of_turn(1).items()]
        if chosen and len(set(gpus_here())) == 1:  # another model is compared by its record
            second = run(build, where, plans, 1, 1, chosen)[1]
    rows = []
    for (plan, operation), (same, values) in first.items():
        row = {"plan": plan, "operation": operation, "repeats": same,
               "restart": restarted[plan, operation][1] == values, "processes_repeat": shared[plan, operation][0],
               "processes_eps": distance(operation, bound, values, shared[plan, operation][1]),
               "bits": hashlib.sha256(values.tobytes()).hexdigest()[:16]}
        if on_host:
            row["host_eps"] = distance(operation, bound, values, on_host["csr", operation][1])
        if second:
            row["second"] = second[plan, operation][1] == values
        rows.append({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()})
    return rows


def wrong(row):
    """What breaks a promise of docs/promises.md, in words."""
    if "carries=atomic" in row["plan"]:
        return []
    of = f"{row['plan']}: {row['operation']}: "
    found = [of + what for key, what in (("repeats", "repeats differ"), ("restart", "a restart differs"),
                                         ("processes_repeat", "repeats differ on several processes"),
                                         ("second", "a second device differs")) if not row.get(key, True)]
    if row["operation"] in PRODUCTS:
        found += [f"{of}{row[key]} eps between {what}, above {ROW}"
                  for key, what in (("processes_eps", "numbers of processes"), ("host_eps", "host and device"))
                  if row.get(key, 0) > ROW]
    return found


def name_of_host():
    with open("/proc/cpuinfo") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "host")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build folder with tests")
    parser.add_argument("--device", action="store_true", help="on a CUDA device")
    parser.add_argument("--repeat", type=int, default=100, help="of each operation (%(default)s)")
    parser.add_argument("--ranks", type=int, default=3, help="processes, beside one (%(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--commit", help="of the build, where this is no repository")
    parser.add_argument("--out", type=pathlib.Path, default=RECORD, help="the record (%(default)s)")
    args = parser.parse_args()
    where = "device" if args.device else "host"
    rows = rows_of(args.build.resolve(), where, ON_DEVICE if args.device else ON_HOST, args.repeat, args.ranks)
    mistakes = [mistake for row in rows for mistake in wrong(row)]
    print("\n".join(mistakes) or f"{len(rows)} results repeat")
    if not args.check:
        record = json.loads(lzma.open(args.out, "rt").read()) if args.out.exists() else {}
        name = device_here() if args.device else name_of_host()
        record.setdefault(where, {})[name] = {
            "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}",
            "commit": args.commit or measure_figures.commit(), "repeat": args.repeat, "ranks": args.ranks,
            "rows": rows}
        with lzma.open(args.out, "wt", preset=9) as out:
            json.dump(record, out)
    return int(bool(mistakes))


if __name__ == "__main__":
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    sys.exit(main())
