"""One triangle of symmetric matrices."""

import pathlib
import statistics
import textwrap

from .records import ends, figure, microseconds, origin, runs_of, table, times, wrapped

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


SECOND_CACHE_MB = 50  # of an H100


@figure("half-gains")
def half_gains(top):
    latest = {(matrix_name(run), run["block_size"]): run for run in runs_of(top, "half-device")
              if run["program"] == "compound-bench"}
    gains = [run["candidates"]["baijcompound"]["product_us"] / run["candidates"]["half=symmetric"]["product_us"]
             for (_, size), run in latest.items() if size > 1 and run["blocks"] > 7 * run["block_rows"] and
             run["blocks"] * size * size * 8 > SECOND_CACHE_MB * 1e6]
    return wrapped(f"It gains {ends(gains)}, {times(statistics.median(gains))} at the median of these {len(gains)}, "
                   f"where the matrix is larger than the second cache ({SECOND_CACHE_MB} MB), has blocks from 2x2 on "
                   "and more than 7 entries a row; 12x12 blocks and crankshaft_66k gain least.")


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
