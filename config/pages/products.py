"""Products, assembly and right-hand sides on a GPU."""

from .host import EXPLORED, assembly_table, by_name, formats_table, most_spread, of_explorer, over
from .records import block_of, figure, ms, record_of, short, source, step_of, table, us

H100 = "nvidia-h100-80gb-hbm3"


@figure("products-explored")
def products_explored(top):
    """Beside aijcusparse, by the explorer's records."""
    found = {name: of_explorer(record_of(top, f"docs/data/{H100}-{name}.json")) for name in ("15", "27", "surface")}
    rows = []
    for case in found["15"]["cases"]:
        others = {name: next((c for c in record["cases"] if block_of(c) == block_of(case)), None)
                  for name, record in found.items()}
        of = by_name(case)
        rows.append([block_of(case), us(of["aijcusparse"]["median_s"]), us(of["baijcompound"]["median_s"]),
                     f"{100 * of['baijcompound']['share_of_copy']:.0f}",
                     *(f"{over(other, 'baijcompound', 'aijcusparse'):.2f}" if other else ""
                       for other in others.values()),
                     f"{over(case, 'values=float', 'aijcusparse'):.2f}"])
    return [*table(["blocks", "aijcusparse us", "baijcompound us", "% of copy",
                    *(f"x aijcusparse: {EXPLORED[name]}" for name in found),
                    "15 points, `values=float`"], rows), "",
            *source(list(found.values()), max(map(most_spread, found.values())), before="400 MB of values, one ")]


def best_of_cusparse(case):
    return min((c for c in case["candidates"] if c["kind"] == "cusparse"), key=lambda c: c["median_s"])


def beside_cusparse(case, name="auto"):
    ours, theirs = by_name(case)[name], best_of_cusparse(case)
    return [us(ours["median_s"]), f"{100 * ours['share_of_copy']:.0f}", f"{us(theirs['median_s'])} ({theirs['name']})",
            f"{theirs['median_s'] / ours['median_s']:.2f}"]


BESIDE = ["us", "% of copy", "best of cuSPARSE us", "x best"]


@figure("products-sizes")
def products_sizes(top):
    run = step_of(top, "device", "products-sizes")
    rows = [[block_of(case), *beside_cusparse(case), f"{over(case, 'auto', 'csr'):.2f}"] for case in run["cases"]]
    return [*table(["blocks", *BESIDE, "x CSR"], rows), "", *source(run, most_spread(run))]


@figure("products-large")
def products_large(top):
    run = step_of(top, "device", "products-large")
    case = run["cases"][0]
    rows = [[what, *beside_cusparse(case, name), f"{over(case, name, 'aijcusparse'):.2f}"]
            for what, name in (("doubles", "auto"), ("`values=float`, vectors in doubles", "values=float"))]
    return [*table([f"{case['description']}, {block_of(case)}", *BESIDE, "x aijcusparse"], rows), "",
            *source(run, most_spread(run))]


@figure("products-small")
def products_small(top):
    run = step_of(top, "device", "products-small")
    rows = []
    for case in run["cases"]:
        ours, theirs = by_name(case)["auto"], best_of_cusparse(case)
        ways = ("median_s", "graph_median_s", "cold_median_s")
        mine, other = ([us(of[way]) if way in of else "-" for way in ways] for of in (ours, theirs))
        rows.append([f"{case['block_rows']:,}", *mine, f"{other[0]} ({other[1]}, {other[2]}) {theirs['name']}",
                     f"{theirs['median_s'] / ours['median_s']:.2f}"])
    return [*table(["nodes", "us", "replay us", "cold us", "best of cuSPARSE us (replay, cold)", "x best"], rows), "",
            *source(run, most_spread(run))]


@figure("formats-on-device")
def formats_on_device(top):
    def cells(case):
        check, dense = case["entry_check"]["median_s"], by_name(case)["entry=dense"]["median_s"]
        return [f"{case['block_rows']:,}", *beside_cusparse(case), f"{over(case, 'auto', 'entry=dense'):.2f}",
                f"{us(check)} ({check / dense:.2f})"]
    return formats_table(top, "device", ["rows", *BESIDE, "x dense", "finding it, us (in dense products)"], cells)


@figure("solves-of-formats")
def solves_of_formats(top):
    rows, runs = [], []
    for name, what in (("solve-quaternion", "quaternions"), ("solve-complex", "complex numbers")):
        run = step_of(top, "device", name)
        runs.append(run)
        first = next(iter(run["variants"].values()))  # aijcusparse
        key, text = (("iteration_us", lambda v: f"{short(v)} us an iteration") if "iteration_us" in first else
                     ("first_solve_s", lambda v: f"{ms(v)} ms a solve"))
        rows += [[f"`{run['command_line']}`, {what}", variant, text(of[key]["median"]),
                  f"{first[key]['median'] / of[key]['median']:.2f}"] for variant, of in run["variants"].items()]
    return [*table(["program", "type", "time", "x aijcusparse"], rows), "", *source(runs, command=False)]


@figure("assembly-on-device")
def assembly_on_device(top):
    return assembly_table(step_of(top, "device", "assembly"), lambda _: "aijcusparse", "x aijcusparse")


@figure("programs-on-device")
def programs_on_device(top):
    sizes = (41, 61)
    runs = [step_of(top, "device", f"programs-{n}") for n in sizes]
    rows = [[name, *(f"{ms(of['whole_s']['least'])} ({ms(of['assembly_s']['least'])})" if of else "fails"
                     for of in (run["variants"].get(name) for run in runs))]
            for name in runs[0]["command_lines"]]
    return [*table(["type, preconditioner, assembly", *(f"{n}^3 nodes" for n in sizes)], rows), "",
            *source(runs, before="Milliseconds from start to exit (of these assembly); ",
                    statistic="least")]


@figure("coordinates-on-device")
def coordinates_on_device(top):
    run = step_of(top, "device", "coo")
    rows = []
    for case in run["cases"]:
        of = {(row["type"], row["coordinates"], row["values_on"]): row for row in case["coo"]}
        first = of["aijcusparse", "scalars", "device"], of["aijcusparse", "scalars", "host"]
        for number, (name, coordinates) in enumerate(dict.fromkeys((t, c) for t, c, _ in of)):
            there, host = of[name, coordinates, "device"], of[name, coordinates, "host"]
            rows.append(["" if number else f"{case['block_rows']:,}", name, coordinates, ms(host["preallocation_s"]),
                         *(ms(row[key]) for row in (host, there)
                           for key in ("median_s", "with_product_median_s", "with_solve_median_s")),
                         ", ".join(f"{a['with_solve_median_s'] / b['with_solve_median_s']:.1f}"
                                   for a, b in zip(first, (there, host)))])
    spread = max(row["spread"] for case in run["cases"] for row in case["coo"])
    with_more = ["with a product", "with a solve"]
    return [*table(["nodes", "type", "coordinates of", "setting them", "values on the host", *with_more,
                    "values on the device", *with_more, "x"], rows), "", *source(run, spread, before="Milliseconds; ")]


@figure("dense-on-device")
def dense_on_device(top):
    record = record_of(top, "docs/figures/columns.json")
    of = {(row["type"], row["columns"]): row for row in record["dense"]}
    rows = []
    for columns in sorted({c for _, c in of}):
        theirs, ours = of["aijcusparse", columns], of["baijcompound", columns]
        rows.append([str(columns), *(f"{us(row['median_s'])} ({row['products']:.2f})" for row in (theirs, ours)),
                     f"{theirs['median_s'] / ours['median_s']:.1f}"])
    return [*table(["columns", "aijcusparse", "baijcompound", "x aijcusparse"], rows), "",
            *source({**record, "rounds": 5}, max(row["spread"] for row in record["dense"]),
                    before="Microseconds, in brackets products; 216,000 nodes, 3x3 blocks; ")]


@figure("columns-on-device")
def columns_on_device(top):
    run = step_of(top, "device", "columns")
    rows = []
    for case in run["cases"]:
        of = {(row["type"], row["columns"]): row for row in case["columns"]}
        for number, columns in enumerate(sorted({c for _, c in of})):
            theirs, ours = of["aijcusparse", columns], of["baijcompound", columns]
            rows.append(["" if number else f"{case['block_rows']:,}", str(columns),
                         *(f"{us(row['iteration_s'])} ({row['solves']:.2f})" for row in (theirs, ours)),
                         f"{theirs['iteration_s'] / ours['iteration_s']:.1f}"])
    spread = max(row["spread"] for case in run["cases"] for row in case["columns"])
    return [*table(["nodes", "columns", "aijcusparse, `cg`", "baijcompound, `cgcompound`", "x aijcusparse"], rows), "",
            *source(run, spread, before="Microseconds an iteration of all columns, in brackets solves of one; ")]


LAYOUTS = {"scalars-7": "scalars, 7-point, 150^3", "3x3-27": "3x3, 27-point, 60^3",
           "complex-27": "complex, 27-point, 70^3"}


@figure("layouts-on-device")
def layouts_on_device(top):
    runs = {name: step_of(top, "device", f"layouts-{name}") for name in LAYOUTS}
    found = {name: {c["name"]: c for c in run["cases"][0]["candidates"] if c["kind"] == "core"}
             for name, run in runs.items()}
    best = {name: best_of_cusparse(run["cases"][0]) for name, run in runs.items()}
    plans = list(dict.fromkeys(plan for of in found.values() for plan in of))

    def cell(of, plan):
        return f"{us(of[plan]['median_s'])}, {of[plan]['packed_bytes'] / 1e6:.0f}" if plan in of else ""
    rows = [["fastest of cuSPARSE", *(f"{us(c['median_s'])}, {c['packed_bytes'] / 1e6:.0f} ({c['name']})"
                                      for c in best.values())],
            *(["the default plan" if plan == "auto" else f"`{plan}`", *(cell(of, plan) for of in found.values())]
              for plan in plans)]
    return [*table(["us, MB", *LAYOUTS.values()], rows), "",
            *source(list(runs.values()), max(map(most_spread, runs.values())))]
