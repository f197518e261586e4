"""Several GPUs: 27-point grids of 3x3 blocks."""

import textwrap

from .records import figure, microseconds, nodes_text, origin, runs_of, table

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
