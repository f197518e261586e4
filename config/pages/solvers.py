"""Krylov methods on one device, and on the host."""

from .records import figure, nodes_text, source, step_if_any, step_of, table, times, us

METHODS = {"cg": "cgcompound", "bcgs": "bcgscompound"}


def solves_of(case):
    return {(row["type"], row["ksp"]): row for row in case["ksp"]}


def most_spread(run):
    return max(row["iteration_spread"] for case in run["cases"] for row in case["ksp"])


def gains(case):
    """Of the fused methods on baijcompound over PETSc's on aijcusparse."""
    of = solves_of(case)
    return {ksp: of["aijcusparse", ksp]["iteration_median_s"] / of["baijcompound", fused]["iteration_median_s"]
            for ksp, fused in METHODS.items()}


def table_of_solves(run):
    sizes = [nodes_text(case["block_rows"]) for case in run["cases"]]
    all_of = [solves_of(case) for case in run["cases"]]
    rows = []
    for ksp, fused in METHODS.items():
        for name, method in (("aijcusparse", ksp), ("baijcompound", ksp), ("baijcompound", fused)):
            cells = []
            for case, of in zip(run["cases"], all_of):
                text = us(of[name, method]["iteration_median_s"])
                cells.append(f"**{text}** ({times(gains(case)[ksp])})" if method == fused else text)
            rows.append([f"{name}, {method}", *cells])
    return table(["nodes", *sizes], rows)


@figure("krylov-on-device")
def krylov_on_device(top):
    lines = []
    for name in ("ksp-jacobi", "ksp-pbjacobi"):
        run = step_of(top, "device", name)
        lines += [*table_of_solves(run), "", *source(run, most_spread(run), before="Microseconds an iteration; "), ""]
    return lines[:-1]


@figure("loops")
def loops(top):
    names = {"scalars-7": "scalars, 7-point", "4x4-15": "4x4, 15-point", "3x3-27": "3x3, 27-point"}
    ways = ("graphs", "persistent", "persistent2")
    rows, runs = [], {}
    for name, text in names.items():
        runs = {way: step_of(top, "device", f"loops-{name}-{way}") for way in ways}
        for number, case in enumerate(runs["graphs"]["cases"]):
            cells = []
            for method in ("cgcompound", "bcgscompound"):
                found = [solves_of(runs[way]["cases"][number])["baijcompound", method]["iteration_median_s"]
                         for way in (ways if method == "cgcompound" else ways[:2])]
                cells += [f"**{us(value)}**" if value == min(found) else us(value) for value in found]
            rows.append([f"{text}, {case['description'].split(', ')[1].removesuffix(' nodes')} "
                         f"({case['value_bytes'] / 1e6:.1f} MB)", *cells])
    last = runs["graphs"]
    return [*table(["matrix", "cg: graphs", "persistent", "persistent2", "bcgs: graphs", "persistent"], rows), "",
            *source(last, most_spread(last), before="Microseconds an iteration; ")]


@figure("krylov-on-host")
def krylov_on_host(top):
    run = step_of(top, "host", "ksp")
    rows = []
    for case in run["cases"]:
        of = {key: row["iteration_median_s"] for key, row in solves_of(case).items()}
        rows.append([f"{case['block_rows']:,}", us(of["baij", "cg"]),
                     *(f"{of[t, ksp] / of[t, fused]:.2f}" for ksp, fused in METHODS.items()
                       for t in ("baijcompound", "aijcompound")),
                     *(f"{of['baij', ksp] / of['baijcompound', fused]:.2f}" for ksp, fused in METHODS.items())])
    return [*table(["nodes of 3x3 blocks", "baij, `cg`, us",
                    *(f"`{fused}` over `{ksp}`, {t}" for ksp, fused in METHODS.items()
                      for t in ("baijcompound", "aijcompound")),
                    *(f"`{fused}` on baijcompound over `{ksp}` on baij" for ksp, fused in METHODS.items())], rows), "",
            *source(run, most_spread(run))]


def all_gains(top):
    """Of records in ksp-*."""
    runs = [step_if_any(top, "device", name) for name in ("ksp-jacobi", "ksp-pbjacobi")]
    return [gain for run in runs if run for case in run["cases"] for gain in gains(case).values()]


