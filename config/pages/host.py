"""The host: products, dense matrices, assembly, block formats, layouts."""

from .records import block_of, figure, ms, record_of, short, source, step_of, table, us

EXPLORED = {"27": "27 points", "15": "15 points", "surface": "surface, 7 a row"}


def by_name(case, rows="candidates", key="name"):
    return {row[key]: row for row in case[rows]}


def over(case, name, *others):
    """Times as fast as the fastest of the others."""
    of = by_name(case)
    return min(of[other]["median_s"] for other in others) / of[name]["median_s"]


def most_spread(run, names=None):
    return max(c["spread"] for case in run["cases"] for c in case["candidates"]
               if c.get("spread") is not None and (names is None or c["name"] in names))


def of_explorer(record):
    """As a run of measure_figures.py."""
    return {**record, "device": record.get("device", {"name": record["machine"]["processor"]})}


@figure("products-host-explored")
def products_host_explored(top):
    """One core of an AMD EPYC, by the explorer's records: block sizes below each other, grids beside each other."""
    found = {name: of_explorer(record_of(top, f"docs/data/amd-epyc-{name}.json")) for name in EXPLORED}
    rows = []
    for cases in zip(*(record["cases"] for record in found.values())):
        of = by_name(cases[0])
        rows.append([block_of(cases[0]), *(ms(of[name]["median_s"]) for name in ("aij", "baij", "baijcompound")),
                     short(of["baijcompound"]["gbs"]),
                     *(f"{over(case, 'baijcompound', 'aij', 'baij'):.2f}" for case in cases),
                     f"{over(cases[0], 'values=float', 'aij', 'baij'):.2f}"])
    return [*table(["blocks", "aij ms", "baij ms", "baijcompound ms", "GB/s",
                    *(f"x the better: {name}" for name in EXPLORED.values()), "27 points, `values=float`"], rows), "",
            *source(list(found.values()), max(map(most_spread, found.values())),
                    before="200 MB of values, one core of an ")]


def products_beside(run):
    rows = []
    for case in run["cases"]:
        of = by_name(case)
        rows.append([block_of(case), *(us(of[name]["median_s"]) for name in ("aij", "baij", "baijcompound")),
                     f"{over(case, 'baijcompound', 'aij', 'baij'):.2f}",
                     *([f"{over(case, 'values=float', 'aij', 'baij'):.2f}"] if "values=float" in of else [])])
    more = ["`values=float`"] if "values=float" in by_name(run["cases"][0]) else []
    return [*table(["blocks", "aij us", "baij us", "baijcompound us", "x the better", *more], rows), "",
            *source(run, most_spread(run))]


@figure("products-host")
def products_host(top):
    return products_beside(step_of(top, "host", "products-sizes"))


@figure("products-host-small")
def products_host_small(top):
    return products_beside(step_of(top, "host", "products-small"))


@figure("aij-arrays")
def aij_arrays(top):
    run = step_of(top, "host", "aij-arrays")
    rows = []
    for case in run["cases"]:
        of = by_name(case)
        rows.append([case["description"].split(", ")[1], block_of(case), us(of["aij"]["median_s"]),
                     *(f"{over(case, name, 'aij'):.2f}" for name in ("baij", "csr words=rows", "csr"))])
    return [*table(["27 points", "blocks", "aij us", "baij x aij", "`csr words=rows` x aij",
                    "`csr`, a second copy, x aij"], rows), "", *source(run, most_spread(run))]


@figure("half-on-host")
def half_on_host(top):
    run = step_of(top, "host", "half")
    rows = []
    for case in run["cases"]:
        whole, half = (by_name(case)[name] for name in ("csr", "csr half=symmetric"))
        rows.append([block_of(case), ms(whole["median_s"]), ms(half["median_s"]),
                     f"{whole['median_s'] / half['median_s']:.2f}",
                     f"{half['packed_bytes'] / whole['parent_bytes']:.2f}",
                     f"{half['first_pack_s'] / half['median_s']:.0f}",
                     f"{half['new_values_s'] / half['median_s']:.0f}"])
    return [*table(["blocks", "`csr` ms", "half ms", "times as fast", "packed bytes, of PETSc's arrays",
                    "packing of the pattern, in products", "of values"], rows), "", *source(run, most_spread(run))]


def spread_of(run, key):
    """Of the samples of an example's variants, beside the median."""
    return max((of[key]["most"] - of[key]["least"]) / of[key]["median"] for of in run["variants"].values() if key in of)


@figure("half-solves-on-host")
def half_solves_on_host(top):
    run = step_of(top, "host", "half-solves")
    rows = [[f"`{name.split(' ')[0]}`" + (f", `{name.split(' ')[1]}`" if " " in name else ""),
             f"{of['iterations']['median']:.0f}", short(of["iteration_us"]["median"] / 1000),
             short(of["whole_s"]["median"])] for name, of in run["variants"].items()]
    return [*table(["type", "iterations", "ms an iteration", "run with assembly, s"], rows), "",
            *source(run, spread_of(run, "iteration_us"))]


@figure("dense-on-host")
def dense_on_host(top):
    run = step_of(top, "host", "dense")
    types = ("baij", "baijcompound", "aij", "aijcompound")
    rows = []
    for case in run["cases"]:
        of = {(row["type"], row["columns"]): row for row in case["dense"]}
        for columns in sorted({c for _, c in of}):
            found = {t: of[t, columns] for t in types}
            rows.append([block_of(case), str(columns),
                         *(f"{ms(found[t]['median_s'])} ({found[t]['products']:.1f})" for t in types),
                         f"{found['baij']['median_s'] / found['baijcompound']['median_s']:.1f}",
                         f"{found['aij']['median_s'] / found['aijcompound']['median_s']:.1f}"])
    spread = max(row["spread"] for case in run["cases"] for row in case["dense"])
    return [*table(["blocks", "columns", *types, "x baij", "x aij"], rows), "", *source(run, spread)]


@figure("columns-on-host")
def columns_on_host(top):
    run = step_of(top, "host", "columns")
    rows = []
    for case in run["cases"]:
        of = {(row["type"], row["ksp"], row["columns"]): row for row in case["columns"]}
        solvers = list(dict.fromkeys((t, k) for t, k, _ in of))
        for columns in sorted({c for *_, c in of}):
            found = [of[t, k, columns] for t, k in solvers]
            rows.append([str(columns), *(f"{ms(row['iteration_s'])} ({row['solves']:.1f})" for row in found),
                         f"{found[0]['iteration_s'] / found[-1]['iteration_s']:.1f}"])
    spread = max(row["spread"] for case in run["cases"] for row in case["columns"])
    return [*table(["columns", *(f"{t}, `{k}`" for t, k in solvers), "x baij"], rows), "", *source(run, spread)]


STAGES = {"insertion": "insert_s", "first solve": "first_solve_s", "second solve": "second_solve_s",
          "new values": "new_values_s", "solve after": "solve_after_s", "whole": "whole_s"}


def assembly_table(run, base_of, of_base):
    """base_of: the type beside which a type is."""
    rows = []
    for case in run["cases"]:
        of = by_name(case, "assembly", "type")
        for number, (name, row) in enumerate(of.items()):
            rows.append(["" if number else f"{case['block_rows']:,}", name, *(ms(row[key]) for key in STAGES.values()),
                         f"{of[base_of(name)]['whole_s'] / row['whole_s']:.2f}", f"{row['host_peak_bytes'] / 1e6:.0f}",
                         *([f"{row['device_bytes'] / 1e6:.0f}"] if "device_bytes" in row else [])])
    more = ["device MB"] if "device_bytes" in run["cases"][0]["assembly"][0] else []
    spread = max(row["whole_spread"] for case in run["cases"] for row in case["assembly"])
    return [*table(["nodes", "type", *STAGES, of_base, "host MB", *more], rows), "",
            *source(run, spread, before="Milliseconds; ")]


@figure("assembly-on-host")
def assembly_on_host(top):
    return assembly_table(step_of(top, "host", "assembly"), lambda name: name.removesuffix("compound"), "x base type")


FORMATS = {"quaternion": "quaternion", "dual-quaternion": "dual quaternion", "complex": "complex in a real matrix",
           "scaled-identity": "scalar x identity 3x3", "diagonal": "diagonal 3x3"}


def formats_table(top, where, columns, cells):
    """cells: of a case."""
    runs = {name: step_of(top, where, f"format-{name}") for name in FORMATS}
    cases = {name: run["cases"][0] for name, run in runs.items()}
    rows = [[f"{FORMATS[name]}, {case['blocks'] / case['block_rows']:.0f} a row", *cells(case)]
            for name, case in cases.items()]
    return [*table(["block format", *columns], rows), "",
            *source(list(runs.values()), max(map(most_spread, runs.values())))]


@figure("formats-on-host")
def formats_on_host(top):
    def cells(case):
        of = by_name(case)
        single = next(name for name in of if name.endswith("values=float"))
        return [f"{case['value_bytes'] / 1e6:.0f}", us(of["auto"]["median_s"]),
                *(f"{over(case, name, beside):.1f}"
                  for name, beside in (("auto", "baij"), ("auto", "csr"), (single, "baij"))),
                f"{case['entry_check']['median_s'] / of['baij']['median_s']:.2f}"]
    return formats_table(top, "host", ["MB of whole blocks", "us", "x baij", "x dense", "in single precision: x baij",
                                       "finding it, in products of `baij`"], cells)


GRIDS = {"scalars-7": "scalars, 7-point", "scalars-27": "scalars, 27-point", "3x3-27": "3x3, 27-point"}


@figure("layouts-on-host")
def layouts_on_host(top):
    runs = {name: step_of(top, "host", f"layouts-{name}") for name in GRIDS}
    names = [c["name"] for c in runs["scalars-7"]["cases"][0]["candidates"]]
    rows = []
    for name, run in runs.items():
        case = run["cases"][0]
        of = by_name(case)
        rows.append([f"{GRIDS[name]}, {case['description'].split(', ')[1]}", us(of["csr"]["median_s"]),
                     *(f"{over(case, layout, 'csr'):.2f}" if layout in of else "" for layout in names[1:])])
    return [*table(["matrix", "`csr` us", *(f"`{name}`" for name in names[1:])], rows), "",
            *source(list(runs.values()), max(map(most_spread, runs.values())), before="Speed over `csr`; ")]


