#!/usr/bin/env python3
"""Writes measured numbers into pages, from the records in docs/data/figures.

    python3 config/figures.py            writes the pages
    python3 config/figures.py --check    compares them; status 1 where a page is not what the records give

In a page a table stands between <!-- figures: NAME --> and <!-- end of figures -->; NAME is a function of this file.
What is between is never edited by hand. A record has for each run: program, date, commit, device, number of GPUs,
versions, command line, rounds, and the results.
"""

import argparse
import json
import lzma
import math
import pathlib
import re
import statistics
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[1]
PAGES = ["docs/performance-gpu.md", "docs/performance-host.md", "docs/solvers.md", "docs/tuning.md"]
MARK = re.compile(r"(<!-- figures: ([\w-]+) -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)

FIGURES = {}


def figure(name):
    def keep(function):
        FIGURES[name] = function
        return function
    return keep


class Wrong(Exception):
    """What is wrong with a page or a record, in words."""


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]


def record_of(top, file, *members):
    try:
        with lzma.open(top / file, "rt", encoding="utf-8") as opened:
            found = json.load(opened)
        for member in members:
            found = found[member]
        return found
    except (OSError, ValueError, KeyError, lzma.LZMAError) as e:
        raise Wrong(f"{top / file}: is no record of {' of '.join(reversed(members))}: {e}") from e


def runs_of(top, name):
    return record_of(top, f"docs/data/figures/{name}.json.xz", "runs")


def microseconds(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def origin(runs):
    """Device and dates, as the line below a table."""
    devices = " and ".join(sorted({run["device"]["name"] for run in runs}))
    dates = sorted({run["date"] for run in runs})
    return f"{devices}, {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "")


# Several GPUs: 27-point grids of 3x3 blocks.

SECOND_CACHE = 50 * 2**20  # bytes, of an H100
CACHES = {"cgcompound": 8, "bcgscompound": 4}  # of a matrix that one kernel is for (src/cuda/krylov_whole.cpp)


def loop_by_default(run):
    side = round(run["nodes"] ** (1 / 3))
    of_process = (3 * side - 2) ** 3 * (9 * 8 + 4) / run["gpus"]
    caches = CACHES.get(run["ksp"], 0)
    return "persistent" if of_process <= caches * SECOND_CACHE else "graphs"


def solves(runs, **wanted):
    """Of the loop that is taken by default, where devices have one: the last one recorded."""
    found = [run for run in runs if run["program"] == "compound-bench"
             and all(run[key] == value for key, value in wanted.items())
             and (run["exchange"] == "petsc" or run["ksp"] not in CACHES or
                  run["loop"] in ("auto", loop_by_default(run)))]
    return found[-1] if found else None


def nodes_text(nodes):
    return f"{nodes / 1000:.1f}k" if nodes < 10000 else f"{nodes / 1000:.0f}k"


def rows_of_solves(runs, ksp, pc, columns, sizes):
    """A row for each size, a cell for each of the columns (number of GPUs, exchange), with the gain over one GPU."""
    rows = []
    for nodes in sizes:
        cells = [solves(runs, nodes=nodes, ksp=ksp, pc=pc, gpus=gpus, exchange=exchange) for gpus, exchange in columns]
        row = [nodes_text(nodes)]
        for (gpus, _), run in zip(columns, cells):
            text = microseconds(run["iteration_us"]) if run else ""
            if run and gpus > 1 and cells[0]:
                text += f" ({cells[0]['iteration_us'] / run['iteration_us']:.2f}x)"
            row.append(text)
        rows.append(row)
    return rows


def spread(runs, exchange):
    return max(run["spread_per_cent"] for run in runs if run.get("exchange") == exchange)


def table_of_solves(runs, ksp, pc, columns, names):
    sizes = sorted({run["nodes"] for run in runs if run.get("nodes") and run["ksp"] == ksp and run["pc"] == pc
                    and run["gpus"] == 1})
    return table(["nodes", *names], rows_of_solves(runs, ksp, pc, columns, sizes))


@figure("several-gpus-cg")
def several_gpus_cg(top):
    runs = runs_of(top, "several-gpus")
    return [
        *table_of_solves(runs, "cgcompound", "jacobi", [(1, "auto"), (2, "auto"), (4, "auto"), (4, "petsc")],
                         ["`cgcompound`, one GPU", "two", "four", "four, by MPI"]),
        "",
        *textwrap.wrap(f"*Microseconds an iteration, and the speed over one GPU; {origin(runs)}. Spread up to "
                       f"{spread(runs, 'auto'):.0f} %, by MPI up to {spread(runs, 'petsc'):.0f} %.*", 120),
    ]


@figure("several-gpus-others")
def several_gpus_others(top):
    runs = runs_of(top, "several-gpus")
    lines = []
    for ksp, pc, name in (("bcgscompound", "jacobi", "`bcgscompound`"), ("cgcompound", "pbjacobi",
                                                                         "`cgcompound`, pbjacobi"),
                          ("cg", "jacobi", "`cg`")):
        lines += [*table_of_solves(runs, ksp, pc, [(1, "auto"), (2, "auto"), (4, "auto")],
                                   [f"{name}, one GPU", "two", "four"]), ""]
    return lines[:-1]


@figure("several-gpus-nccl")
def several_gpus_nccl(top):
    runs = runs_of(top, "several-gpus")
    ways = ["peers", "nccl", "petsc"]
    rows = []
    for ksp in ("cgcompound", "bcgscompound", "cg"):
        for nodes in sorted({run["nodes"] for run in runs if run.get("exchange") == "nccl"}):
            found = [solves(runs, nodes=nodes, ksp=ksp, pc="jacobi", gpus=2, exchange=way) for way in ways]
            rows.append([f"`{ksp}`", nodes_text(nodes), *(microseconds(run["iteration_us"]) for run in found)])
    by_nccl = [run for run in runs if run.get("exchange") == "nccl"]
    return [*table(["solver", "nodes", "by devices", "by NCCL", "by MPI"], rows), "",
            f"*Microseconds an iteration; {origin(by_nccl)}. Spread up to {spread(by_nccl, 'nccl'):.0f} %.*"]


@figure("several-gpus-multigrid")
def several_gpus_multigrid(top):
    runs = [run for run in runs_of(top, "several-gpus") if run["program"] == "elasticity"]

    def of(box, gpus, cycle, ksp="cg"):
        return next((run for run in reversed(runs) if (run["box"], run["gpus"], run["cycle"], run["ksp"])
                     == (box, gpus, cycle, ksp)), None)

    one = of("60,60,60", 1, "graph")
    rows = []
    for box, gpus in sorted({(run["box"], run["gpus"]) for run in runs}, key=lambda x: (x[1], len(x[0]), x[0])):
        by_graph = of(box, gpus, "graph")
        size = by_graph["unknowns"] / gpus / one["unknowns"]  # of a GPU's part
        speed = size * one["iteration_us"] / by_graph["iteration_us"]
        cells = [of(box, gpus, "petsc"), by_graph, of(box, gpus, "graph", "cgcompound")]
        rows.append([str(gpus), f"{by_graph['unknowns'] / 1e6:.2f}M",
                     *("" if run is None else f"{run['iteration_us'] / 1000:.2f}" for run in cells),
                     f"{100 * speed:.0f} %" if size > 0.9 else ""])
    return [
        *table(["GPUs", "unknowns", "`cg`, cycle by PETSc", "`cg`, as a graph", "`cgcompound`, as a graph",
                "speed of each GPU, as a graph"], rows),
        "",
        f"*Milliseconds an iteration; {origin(runs)}.*",
    ]


# One triangle of symmetric matrices, on the graphs of meshes.

TRIANGLES = {"baij": "`baij`", "sbaij": "`sbaij`", "sbaijcompound": "`sbaijcompound`", "csr": "`baijcompound`",
             "csr half=symmetric": "`half=symmetric`"}


@figure("half-of-meshes")
def half_of_meshes(top):
    latest = {(run["mesh"], run["order"], run["block_size"]): run for run in runs_of(top, "half")}
    rows, gains = [], []
    for (mesh, order, size), run in latest.items():
        times = [run["candidates"][name]["product_us"] for name in TRIANGLES]
        _, of_petsc, of_type, whole, half = times
        gains.append([whole / half, of_petsc / of_type])
        name = pathlib.Path(mesh).stem + (", quadratic" if order == 2 else "")
        rows.append([name, f"{size}x{size}", f"{run['blocks'] / run['block_rows']:.1f}",
                     *(microseconds(t) for t in times), *(f"{gain:.2f}" for gain in gains[-1])])
    spreads = [c["spread_per_cent"] for run in latest.values() for c in run["candidates"].values()]
    middle = [statistics.median(column) for column in zip(*gains)]
    return [
        *table(["mesh", "blocks", "a row", *TRIANGLES.values(), "half beside whole", "`sbaijcompound` beside `sbaij`"],
               rows),
        "",
        *textwrap.wrap(f"*Microseconds of a product; the last columns are how many times as fast, {middle[0]:.2f} and "
                       f"{middle[1]:.2f} at the median. {origin(latest.values())}, one core; spread "
                       f"{statistics.median(spreads):.0f} % at the median, up to {max(spreads):.0f} %.*", 120),
    ]


def matrix_name(run):
    if "mesh" in run:
        return pathlib.Path(run["mesh"]).stem + (", quadratic" if run["order"] == 2 else "")
    return f"{run['grid']}-point, {run['nodes']}^3" + (", in no order" if run["shuffled"] else "")


@figure("half-on-device")
def half_on_device(top):
    runs = [run for run in runs_of(top, "half-device") if run["program"] == "compound-bench"]
    latest = {(matrix_name(run), run["block_size"]): run for run in runs}
    rows, spreads = [], []
    for (name, size), run in latest.items():
        whole, half = (run["candidates"][c] for c in ("baijcompound", "half=symmetric"))
        spreads += [whole["spread_per_cent"], half["spread_per_cent"]]
        rows.append([name, f"{size}x{size}", f"{run['blocks'] / run['block_rows']:.1f}",
                     f"{run['blocks'] * size * size * 8 / 1e6:.0f}", microseconds(whole["product_us"]),
                     microseconds(half["product_us"]), f"{whole['product_us'] / half['product_us']:.2f}",
                     f"{half['packed_bytes'] / whole['packed_bytes']:.2f}"])
    return [
        *table(["matrix", "blocks", "a row", "MB of values", "default plan, us", "`half=symmetric`, us", "as fast",
                "memory of it, beside the default plan's"], rows),
        "",
        *textwrap.wrap(f"*{origin(latest.values())}; spread {statistics.median(spreads):.1f} % at the median, up to "
                       f"{max(spreads):.1f} %.*", 120),
    ]


def of_all(solves, key, form, types):
    return ", ".join(format(solves[t][key], form) for t in types)


@figure("half-solves-on-device")
def half_solves_on_device(top):
    latest = {run["solved"]: run for run in runs_of(top, "half-device") if "solved" in run}
    types = ("aijcusparse", "whole", "half")
    rows, spreads = [], []
    for name, run in latest.items():
        of = run["solves"]
        spreads += [s["spread_per_cent"] for s in of.values()]
        times = [of[t]["iteration_us"] for t in types]

        rows.append([name, f"{of['half']['unknowns']:,.0f}", *(microseconds(t) for t in times),
                     f"{times[1] / times[2]:.2f}", f"{times[0] / times[2]:.2f}", of_all(of, "iterations", ".0f", types),
                     of_all(of, "relative_residual", ".1e", types), of_all(of, "first_solve_s", ".2f", types[1:]),
                     of_all(of, "peak_host_mb", ".0f", types)])
    return [
        *table(["body", "unknowns", "`cg`, `aijcusparse`", "`cgcompound`, whole", "half", "beside whole",
                "beside `aijcusparse`", "iterations", "relative residuals", "first solve, s: whole, half",
                "peak host memory, MB"], rows),
        "",
        *textwrap.wrap(f"*Microseconds an iteration, by Jacobi to 1e-8 in the preconditioned norm; residuals are true "
                       f"ones. {origin(latest.values())}; spread up to {max(spreads):.0f} %.*", 120),
    ]


# Plans beside the fastest of all, by studies of compound-tune.

BY = {"rule": "default plan", "measure": "`measure`", "model": "`model`"}


def study_of(top, step):
    """(matrix, run, times over the fastest) of each run of a step."""
    runs = record_of(top, "docs/reproduction/reproduction-h200.json.xz", "steps", step)
    return [(name, run, {t["by"]: t["of_best"] for t in run["cases"][0]["tested"]}) for name, run in runs.items()]


def over_fastest(times):
    """Median, 90 % and largest of each way to choose."""
    rows = []
    for by, name in BY.items():
        sorted_ = sorted(of[by] for of in times)
        rows.append([name, f"{statistics.median(sorted_):.3f}", f"{sorted_[math.ceil(0.9 * len(sorted_)) - 1]:.3f}",
                     f"{sorted_[-1]:.3f}"])
    return table(["plan", "median", "90 %", "largest"], rows)


def of_runs(runs):
    return origin([{"device": {"name": run["device"]}, "date": run["date"][:10]} for run in runs])


@figure("held-back")
def held_back(top):
    found = study_of(top, "held-back")
    fastest = {name: min(run["cases"][0]["finals"], key=lambda p: p["seconds"]) for name, run, _ in found}
    return [
        *over_fastest([times for *_, times in found]),
        "",
        *table(["matrix", "blocks", "rows", "a row", "fastest plan, us", *BY.values()],
               [[name, ("complex" if "entry=complex" in fastest[name]["plan"] else run["cases"][0]["block"]),
                 f"{run['cases'][0]['analysis']['block_rows']:,}", f"{run['cases'][0]['analysis']['mean_row']:.1f}",
                 f"{1e6 * fastest[name]['seconds']:.2f}", *(f"{times[by]:.3f}" for by in BY)]
                for name, run, times in found]),
        "",
        f"*{of_runs([run for _, run, _ in found])}.*",
    ]


@figure("default-plans-of-papers")
def default_plans_of_papers(top):
    found = study_of(top, "joint-2020")
    return [*over_fastest([times for *_, times in found]), "", f"*{of_runs([run for _, run, _ in found])}.*"]


CHECKED = {"5-point grid, 272 x 273 nodes, complex blocks, 4 rows of 260": "RFdevice", "NX_MotorH67k.mtx": "crankshaft"}


@figure("tuning-check")
def tuning_check(top):
    matrices = record_of(top, "docs/reproduction/tuning-check.json.xz", "matrices")
    rows = []
    for m in matrices:
        times = {t["by"]: t["of_best"] for t in m["tested"]}
        name = CHECKED.get(m["description"], m["description"].split(",")[0].removesuffix(".mtx"))
        if "surface grid" in m["description"]:
            name = m["description"].removesuffix(" blocks")
        rows.append([name, m["device"].removeprefix("NVIDIA "), *(f"{times[by]:.3f}" for by in BY)])
    return table(["matrix", "device", *BY.values()], rows)


def filled(top, page, text):
    def fill(match):
        name = match[2]
        if name not in FIGURES:
            raise Wrong(f"{page}: there is no figure '{name}'; choose {', '.join(sorted(FIGURES))}")
        return match[1] + "\n" + "\n".join(FIGURES[name](top)) + "\n\n" + match[4]
    if text.count("<!-- figures:") != len(MARK.findall(text)):
        raise Wrong(f"{page}: a mark of figures has no end, or no name")
    return MARK.sub(fill, text)


def first_difference(there, given):
    for number, (a, b) in enumerate(zip(there.split("\n"), given.split("\n")), 1):
        if a != b:
            return number, a, b
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare; status 1 where a page is another one")
    parser.add_argument("--top", type=pathlib.Path, default=TOP, help="the folder of pages and records (the project's)")
    args = parser.parse_args()
    wrong = 0
    for page in PAGES:
        file = args.top / page
        there = file.read_text(encoding="utf-8")
        try:
            given = filled(args.top, page, there)
        except Wrong as e:
            sys.exit(f"figures.py: {e}")
        if not args.check:
            file.write_text(given, encoding="utf-8")
        elif difference := first_difference(there, given):
            number, a, b = difference
            print(f"{page}:{number}: is not what the records give; python3 config/figures.py\n  there: {a}\n"
                  f"  given: {b}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
