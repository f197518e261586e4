"""Headlines: README.md and the summary of docs/performance.md."""

import statistics

from . import host, multigrid, products, solvers, tuning
from .host import by_name, over, spread_of
from .records import (
    ends,
    figure,
    least_median_most,
    record_of,
    reproduced,
    runs_of,
    short,
    source,
    step_if_any,
    step_of,
    table,
    times,
    wrapped,
)


def beside_aijcusparse(top):
    """Iterations of cgcompound and bcgscompound, default plan, over KSPCG and KSPBCGS on aijcusparse; in all records:
    elasticity, matrices without blocks, grids of 3x3 blocks."""
    latest = {run["solved"]: run["solves"] for run in runs_of(top, "half-device") if "solved" in run}
    gains = [of["aijcusparse"]["iteration_us"] / of["whole"]["iteration_us"] for of in latest.values()]
    for run in (run for runs in reproduced(top, "bicgstab-2020") for run in runs.values()):
        of = {(s["type"], s["ksp"]): s["iteration_median_s"] for s in run["cases"][0]["ksp"]}
        gains.append(of["aijcusparse", "bcgs"] / of["baijcompound", "bcgscompound"])
    return gains + solvers.all_gains(top)


@figure("beside-aijcusparse")
def beside_aijcusparse_text(top):
    gains = beside_aijcusparse(top)
    least, median, most = least_median_most(gains)
    return wrapped("Products run where the vectors are. The iterations of `cgcompound` and `bcgscompound` run on the "
                   f"GPU by themselves: {least:.1f} to {most:.1f} times as fast as KSPCG and KSPBCGS on `aijcusparse`, "
                   f"{median:.1f} at the median of {len(gains)} solves on an H100 and an H200: "
                   "[elasticity](docs/performance-gpu.md#half-of-a-symmetric-matrix-on-the-gpu), "
                   "[grids](docs/solvers.md#how-fast), and "
                   "[matrices without blocks](docs/reproduction.md#bicgstab-with-it-2020-figure-5).")


@figure("default-on-host")
def default_on_host(top):
    run = step_of(top, "host", "tuning")
    rows = tuning.rows_over_fastest([{t["by"]: t["of_best"] for t in case["tested"]} for case in run["cases"]],
                                    {"rule": "", "measure": ""})
    (_, median, late, _), (_, median_measured, late_measured, _) = rows
    return wrapped("On the host the default plan makes no second copy of the values: over "
                   f"{len(run['cases'])} matrices it took {float(median):.2f} times as long as the fastest plan at the "
                   f"median and {float(late):.2f} times at the 90 % point, and what `-mat_compound_tune measure` chose "
                   f"{float(median_measured):.2f} and {float(late_measured):.2f} times.")


@figure("first-look")
def first_look(top):
    run = step_of(top, "host", "elasticity")
    base = run["variants"]["baij"]
    rows = []
    for name, of in run["variants"].items():
        gamg = "gamg" in name
        solve = of["repeat_solve_s"]["median"]
        rows.append([f"`{name.split(', ')[0]}`" + (f", {name.split(', ')[1]}" if ", " in name else ""),
                     f"{of['iterations']['median']:.0f}",
                     "" if gamg else short(of["repeat_products_s"]["median"]), short(solve),
                     "" if gamg else times(base["repeat_products_s"]["median"] / of["repeat_products_s"]["median"]),
                     times(base["repeat_solve_s"]["median"] / solve)])
    return [*table(["type", "iterations", "MatMult s", "KSPSolve s", "MatMult x baij", "KSPSolve x baij"], rows), "",
            *source(run, spread_of(run, "repeat_solve_s"), command=False,
                    before=f"{base['unknowns']['median']:,.0f} unknowns, {base['blocks']['median']:,.0f} blocks of 3 x "
                    "3, second solve; one process, ")]


def of_steps(top, where, steps, gains):
    runs = [step_if_any(top, where, step) for step in steps]
    return [gain for run in runs if run for gain in gains(run)]


def device_products(top):
    cases = [case for name in host.EXPLORED
             for case in record_of(top, f"docs/data/{products.H100}-{name}.json")["cases"]]
    return [over(case, "baijcompound", "aijcusparse") for case in cases]


def best_of_cusparse(run):
    return [products.best_of_cusparse(case)["median_s"] / by_name(case)["auto"]["median_s"] for case in run["cases"]]


def of_variants(base, name, value):
    """The gain of a variant of an example over another one, where both ended."""
    def gains(run):
        of = run["variants"]
        return [value(of[base]) / value(of[name])] if base in of and name in of else []
    return gains


def summary_rows(top):
    """(what, beside, gains, where it is shown)."""
    explored = [record_of(top, f"docs/data/amd-epyc-{name}.json") for name in host.EXPLORED]
    gamg = ["gamg-41", "gamg-61", "gamg-bracket", "gamg-91"]
    formats = [f"format-{name}" for name in host.FORMATS]
    yield ("product, host (AMD), 1x1 to 8x8 blocks, 200 MB", "the better of `aij` and `baij`",
           [over(case, "baijcompound", "aij", "baij") for of in explored for case in of["cases"]],
           "[host](performance-host.md#matrix-vector-products-on-the-host)")
    yield ("the same, AVX-512 (Intel)", "the better of `aij` and `baij`",
           of_steps(top, "host", ["products-sizes"],
                    lambda run: [over(case, "baijcompound", "aij", "baij") for case in run["cases"]]),
           "[host](performance-host.md#avx-512-intel)")
    yield ("product, host, block formats of real matrices", "`baij`",
           of_steps(top, "host", formats, lambda run: [over(run["cases"][0], "auto", "baij")]),
           "[host](performance-host.md#block-formats-on-the-host)")
    yield ("product, H100, 1x1 to 5x5 blocks, 400 MB", "`aijcusparse`", device_products(top),
           "[GPU](performance-gpu.md#matrix-vector-products-on-the-gpu)")
    yield ("product, GPU, 1x1 to 8x8 blocks, 400 MB", "the fastest call of cuSPARSE",
           of_steps(top, "device", ["products-sizes"], best_of_cusparse),
           "[GPU](performance-gpu.md#matrix-vector-products-on-the-gpu)")
    yield ("product, GPU, block formats", "the fastest call of cuSPARSE",
           of_steps(top, "device", formats, best_of_cusparse),
           "[GPU](performance-gpu.md#block-formats-on-the-gpu)")
    yield ("iterations of `cgcompound` and `bcgscompound`, GPU", "`aijcusparse` with `cg` and `bcgs`",
           beside_aijcusparse(top), "[solvers](solvers.md#how-fast)")
    yield ("GAMG solve, GPU, cycles on the device", "PETSc's cycle of `aijcompound`",
           of_steps(top, "device", gamg, of_variants("cg, by PETSc", "cgcompound", multigrid.solve_ms)),
           "[multigrid](multigrid.md#figures)")
    yield ("the same in single precision", "PETSc's cycle of `aijcompound`",
           of_steps(top, "device", gamg, of_variants("cg, by PETSc", "cgcompound, single", multigrid.solve_ms)),
           "[multigrid](multigrid.md#figures)")
    yield ("GAMG solve, host, 1 and 2 processes", "`aij`",
           of_steps(top, "host", ["gamg-1", "gamg-2"], of_variants("aij", "aijcompound", multigrid.solve_ms)),
           "[multigrid](multigrid.md#figures)")


def text_of(gains):
    return ends(gains) + (f", {statistics.median(gains):.2f}x at the median of {len(gains)}" if len(gains) > 2 else "")


def summary_table(rows):
    return table(["what", "beside", "speed", "details"],
                 [[what, beside, text_of(gains), where] for what, beside, gains, where in rows if gains])


@figure("summary")
def summary(top):
    return summary_table(summary_rows(top))


@figure("beside-aij")
def beside_aij(top):
    """aijcompound beside aij and aijcusparse."""
    gamg = ["gamg-41", "gamg-61", "gamg-bracket"]
    def set_up(of):
        return multigrid.least_ms(of, "first_set_up_s")

    def of_dense(run):
        for case in run["cases"]:
            of = {(row["type"], row["columns"]): row["median_s"] for row in case["dense"]}
            yield from (of["aij", c] / of["aijcompound", c] for t, c in of if t == "aij")

    def of_assembly(base):
        def gains(run):
            for case in run["cases"]:
                of = by_name(case, "assembly", "type")
                yield of[base]["whole_s"] / of["aijcompound"]["whole_s"]
        return gains

    def of_values(run):
        for case in run["cases"]:
            of = {(r["type"], r["coordinates"], r["values_on"]): r["with_product_median_s"] for r in case["coo"]}
            yield of["aijcusparse", "scalars", "device"] / of["aijcompound", "blocks", "device"]
    return summary_table([
        ("GAMG solve, host, 1 and 2 processes", "`aij`",
         of_steps(top, "host", ["gamg-1", "gamg-2"], of_variants("aij", "aijcompound", multigrid.solve_ms)),
         "[multigrid](multigrid.md#figures)"),
        ("GAMG set-up, host, 1 and 2 processes", "`aij`",
         of_steps(top, "host", ["gamg-1", "gamg-2"], of_variants("aij", "aijcompound", set_up)),
         "[multigrid](multigrid.md#figures)"),
        ("MatMatMult, host, 4 to 16 columns", "`aij`", of_steps(top, "host", ["dense"], of_dense),
         "[host](performance-host.md#products-with-dense-matrices-host)"),
        ("assembly, two solves, new values, host", "`aij`", of_steps(top, "host", ["assembly"], of_assembly("aij")),
         "[host](performance-host.md#from-blocks-to-solutions-host)"),
        ("GAMG solve, GPU, PETSc's cycle", "`aijcusparse`",
         of_steps(top, "device", gamg, of_variants("aijcusparse", "cg, by PETSc", multigrid.solve_ms)),
         "[multigrid](multigrid.md#figures)"),
        ("GAMG solve, GPU, cycle on the device", "`aijcusparse`",
         of_steps(top, "device", gamg, of_variants("aijcusparse", "cg", multigrid.solve_ms)),
         "[multigrid](multigrid.md#figures)"),
        ("GAMG set-up, GPU", "`aijcusparse`", of_steps(top, "device", gamg, of_variants("aijcusparse", "cg", set_up)),
         "[multigrid](multigrid.md#figures)"),
        ("assembly, two solves, new values, GPU", "`aijcusparse`",
         of_steps(top, "device", ["assembly"], of_assembly("aijcusparse")),
         "[GPU](performance-gpu.md#from-blocks-to-solutions-gpu)"),
        ("new values by coordinates on the device, with a product", "`aijcusparse`",
         of_steps(top, "device", ["coo"], of_values), "[GPU](performance-gpu.md#assembly-by-coordinates)")])
