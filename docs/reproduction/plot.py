#!/usr/bin/env python3
"""Draws what compound-bench and compound-tune have measured, from their JSON files (needs matplotlib).

    python3 docs/reproduction/plot.py KIND FILE... -o out.svg

Files are what `-json` of both programs and `compound-tune -study` write, and studies of many matrices
(docs/reproduction/tuning-study-h200.json.xz), compressed by xz or not; FILE:STEP is a step of what
docs/reproduction/reproduce.py has recorded, FILE:STEP:MATRIX one matrix of it. The picture's format is that of the name
behind -o: svg, png, pdf.
"""

import argparse
import collections
import sys

from experiments.layouts import papers_plan, tuned_plan
from plot_cases import Unfit, bench_times, cases_of, family, labels, middle, predictions, words_of
from plot_marks import (
    COLOURS,
    ROW,
    Style,
    bars,
    described,
    dots,
    legend_above,
    panels_of,
    paper_values,
    plain_log,
    rows_of_axes,
)

COMPARED = "o^sDvx+*1"  # markers of layouts that lie among each other

KINDS = {}  # by name: the function that draws it; its documentation is the help


def kind(function):
    KINDS[function.__name__] = function
    return function


# Pictures. Each makes a figure of `cases`; `paper`: values of a paper to compare with, and their names.

@kind
def speedup(plt, cases, paper=()):
    """how much faster the fastest plan of each matrix is than the default heuristic's (of compound-bench: than its
    baseline)"""
    best = []
    for case in cases:
        timed = [t for t in case.times() if t.speed is not None]
        if not timed:
            raise Unfit(f"{case.file}: matrix '{case.name}' has no speeds ('times_rule', 'times_baseline')")
        best.append((max(timed, key=lambda t: t.speed), case))
    best.sort(key=lambda b: -b[0].speed)
    what = "baseline" if all(case.of is bench_times for case in cases) else "default heuristic's plan"
    figure, axes = plt.subplots(figsize=(9, 1), layout="constrained")
    style, names = Style(), []
    for y, (t, _) in enumerate(best):
        name = family(t.name)
        axes.barh(y, t.speed, color=style(name)[0], label=None if name in names else name)
        axes.text(t.speed, y, f" {t.speed:.2f}", va="center", fontsize=8)
        names += [name] if name not in names else []
    rows_of_axes(axes, labels([case for _, case in best]))
    axes.set_xlabel(f"speed of the fastest plan over the {what}, by its layout")
    axes.margins(x=0.08)
    axes.axvline(1, color="black", linewidth=0.8)
    legend_above(figure, axes, names, 0.65 + ROW * len(best))
    return figure


@kind
def roofline(plt, cases, paper=()):
    """operations a second over operations a compulsory byte, below what reading allows: memory, or the last cache for
    matrices that fit there (hollow)"""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    style, names = Style(), []
    for case in cases:
        name = family(case.best().name)
        colour, marker = style(name)
        axes.plot(case.flops() / case.bytes(), case.flops() / case.best().seconds / 1e9, marker, color=colour,
                  markerfacecolor="none" if case.in_cache() else colour, label=None if name in names else name)
        names += [name] if name not in names else []
    at = [case.flops() / case.bytes() for case in cases]
    ends = 0.8 * min(at), 1.25 * max(at)
    # A device's plain read is of its memory, whatever the matrix; a host's is of the matrix: of memory for large ones.
    memory_gbs = [case.read_gbs() for case in cases if case.origin.get("cache_gbs") or not case.in_cache()]
    cache_gbs = [case.cache_gbs() for case in cases if case.in_cache() and case.cache_gbs()]
    for what, gbs, line in (("memory", memory_gbs, "-"), ("the last cache", cache_gbs, ":")):
        if gbs:
            names.append(f"reading {what}, {middle(gbs):.0f} GB/s")
            axes.plot(ends, [x * middle(gbs) for x in ends], line, color="black", label=names[-1])
    axes.set(xlabel="operations a byte", ylabel="10^9 operations a second")
    plain_log(axes, "xy")
    axes.grid(True, which="both", linewidth=0.3)
    legend_above(figure, axes, names)
    return figure


def tables_of_schedules(cases, what="", fits=lambda line: True):
    """(case, fastest seconds by (blocks, threads)) of plans that fit, which are called `what`."""
    found = []
    for case in cases:
        table = {}
        for t in case.times():
            n = words_of(t.name)[0]
            if {"threads", "blocks"} <= n.keys() and fits(t.name):
                at = n["blocks"], n["threads"]
                table[at] = min(t.seconds, table.get(at, float("inf")))
        if len(table) > 1:
            found.append((case, table))
    if not found:
        raise Unfit(f"{cases[0].file}: no matrix has {what + ' ' if what else ''}plans of several threads= and "
                    "blocks=; time them by compound-tune -device cuda -search exhaustive")
    return found


def axes_of_schedules(axes, found):
    """Heat map; the image."""
    rows = sorted({b for _, table in found for b, _ in table})
    cols = sorted({t for _, table in found for _, t in table})
    best = {id(table): min(table.values()) for _, table in found}
    cells = [[middle([table[b, t] / best[id(table)] for _, table in found if (b, t) in table] or [float("nan")])
              for t in cols] for b in rows]
    image = axes.pcolormesh(cells, cmap="viridis_r", vmin=1, vmax=2)
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            if value == value:
                axes.text(x + 0.5, y + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=7,
                          color="white" if value > 1.5 else "black")
    axes.set_xticks([x + 0.5 for x in range(len(cols))], cols)
    axes.set_yticks([y + 0.5 for y in range(len(rows))], rows)
    axes.set(xlabel="threads of a block", ylabel="blocks on a multiprocessor")
    return image


def size_of_schedules(found):
    rows, cols = ({at[i] for _, table in found for at in table} for i in (0, 1))
    return 1.5 + 0.6 * len(cols), 1.2 + 0.45 * len(rows)


@kind
def schedule(plt, cases, paper=()):
    """heat map of threads and blocks of them on a multiprocessor: the fastest plan of each pair over the fastest of
    all"""
    found = tables_of_schedules(cases)
    figure, axes = plt.subplots(figsize=size_of_schedules(found), layout="constrained")
    image = axes_of_schedules(axes, found)
    axes.set_title(found[0][0].name if len(found) == 1 else f"median of {len(found)} matrices", fontsize=9)
    figure.colorbar(image, label="time over that of the fastest plan")
    return figure


@kind
def schedules(plt, cases, paper=()):
    """the same of static and of dynamic schedules, each over the fastest of its own"""
    return two_tables(plt, {word: tables_of_schedules(cases, word, lambda line, word=word: word in line.split())
                            for word in ("static", "dynamic")})


@kind
def two_layouts(plt, cases, paper=()):
    """the same of two layouts in static schedules, CSR-AoS-AoS and ELL-SoA-AoS, each over the fastest of its own"""
    return two_tables(plt, {
        layout: tables_of_schedules(cases, layout,
                                    lambda line, layout=layout: (tuned_plan(line) or ())[:2] == (layout, "static"))
        for layout in ("CSR-AoS-AoS", "ELL-SoA-AoS")})


def two_tables(plt, found):
    """Heat maps beside each other, by their names."""
    width, height = size_of_schedules(next(iter(found.values())))
    figure, both = plt.subplots(1, 2, figsize=(2 * width, height), layout="constrained")
    for axes, (word, tables) in zip(both, found.items()):
        image = axes_of_schedules(axes, tables)
        axes.set_title(f"{word}, " + (tables[0][0].name if len(tables) == 1 else f"median of {len(tables)} matrices"),
                       fontsize=9)
    figure.colorbar(image, ax=both, label="time over that of the fastest plan")
    return figure


@kind
def memory(plt, cases, paper=()):
    """time of each plan over the bytes of its packed storage, both over those of the fastest plan of its matrix"""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    style, names = Style(), []
    for case in cases:
        timed = [t for t in case.times() if t.bytes]
        if not timed:
            continue
        best = min(timed, key=lambda t: t.seconds)
        for t in timed:
            name = family(t.name)
            colour, marker = style(name)
            axes.plot(t.bytes / best.bytes, t.seconds / best.seconds, marker, color=colour, markersize=4,
                      label=None if name in names else name)
            names += [name] if name not in names else []
    if not names:
        raise Unfit(f"{cases[0].file}: no plan has bytes of packed storage ('copy_bytes', 'packed_bytes')")
    axes.set(xlabel="bytes of the packed storage over the fastest plan's", ylabel="time over the fastest plan's")
    plain_log(axes, "xy")
    axes.grid(True, which="both", linewidth=0.3)
    legend_above(figure, axes, names)
    return figure


@kind
def model(plt, cases, paper=()):
    """predicted times over measured ones"""
    found = predictions(cases)
    figure, axes = plt.subplots(figsize=(6.5, 6), layout="constrained")
    style, names = Style(), list(dict.fromkeys(name for name, _, _ in found))
    for name in names:
        these = [(1e6 * m, 1e6 * p) for n, m, p in found if n == name]
        colour, marker = style(name)
        axes.plot(*zip(*these), COMPARED[list(COLOURS).index(name) % len(COMPARED)] if name in COLOURS else marker,
                  markersize=3.5, label=name, color=colour)
    ends = [1e6 * f(x for _, *both in found for x in both) for f in (min, max)]
    for factor, style in ((1, "-"), (1.2, ":"), (1 / 1.2, ":")):
        axes.plot(ends, [factor * e for e in ends], style, color="black", linewidth=0.8,
                  label="20 % off" if factor == 1.2 else None)
    axes.set(xlabel="measured, microseconds", ylabel="predicted, microseconds")
    plain_log(axes, "xy")
    axes.grid(True, which="both", linewidth=0.3)
    legend_above(figure, axes, [*names, "20 % off"])
    return figure


@kind
def padding(plt, cases, paper=()):
    """slots of each layout over the entries of the matrix"""
    rows = [{row["layout"]: row["padding"] for row in case.get("analysis", "layouts") if "padding" in row}
            for case in cases]
    if not any(rows):
        raise Unfit(f"{cases[0].file}: no layout has a 'padding'")
    return dots(plt, [("", list(zip(labels(cases), rows)))], "slots an entry", log=True)[0]


@kind
def footprint(plt, cases, paper=()):
    """what plans of `compound-tune -bytes` take, over the first of them"""
    rows = []
    for case in cases:
        counted = [c for c in case.get("counted") if "bytes" in c]
        entry = counted[0]["asked"].split()[0]  # said once is enough
        rows.append({c["asked"].removeprefix(entry + " "): c["bytes"] / counted[0]["bytes"] for c in counted})
    figure, (axes,) = dots(plt, [("", list(zip(labels(cases), rows)))], "bytes over those of the first plan")
    axes.axvline(1, color="black", linewidth=0.8, zorder=0.5)
    return figure


def of_bench(case):
    if case.of is not bench_times:
        raise Unfit(f"{case.file}: matrix '{case.name}' is not of compound-bench")
    return [c for c in case.get("candidates") + case.data.get("layouts", []) if c.get("median_s", 0) > 0]


@kind
def flops(plt, cases, paper=()):
    """operations a second of every candidate and layout of compound-bench"""
    def values(case):
        return {("cuSPARSE " if c.get("kind") == "cusparse" else "") + c["name"]: case.flops() / c["median_s"] / 1e9
                for c in of_bench(case)}

    return dots(plt, panels_of(cases, values), "10^9 operations a second", log=True, paper=paper)[0]


@kind
def cusparse(plt, cases, paper=()):
    """speed over the fastest of cuSPARSE: with schedules alone, with the papers' layouts, by default"""
    rows = []
    for case in cases:
        fastest = {}
        for c in of_bench(case):
            theirs = papers_plan(c["plan"]) if c["plan"] else None
            for name, fits in (("cusparse", c["kind"] == "cusparse"),
                               ("schedule alone (CSR-AoS-AoS)", theirs and theirs[0] == "CSR-AoS-AoS"),
                               ("the papers' layouts", theirs), ("all that was timed", c["kind"] in ("core", "plan"))):
                if fits:
                    fastest[name] = min(c["median_s"], fastest.get(name, float("inf")))
        if "cusparse" not in fastest:
            raise Unfit(f"{case.file}: matrix '{case.name}' has no products of cuSPARSE; time them by -device cuda "
                        "-cusparse all")
        vendor = fastest.pop("cusparse")
        rows.append({name: vendor / s for name, s in fastest.items()})
    figure, axes = bars(plt, list(zip(labels(cases), rows)), "speed over the fastest of cuSPARSE")
    axes.axvline(1, color="black", linewidth=0.8)
    return figure


@kind
def tuned(plt, cases, paper=()):
    """speed over the fastest of cuSPARSE, with tuned schedules: of compressed rows, of the papers' layouts, of all
    plans. Files of tuning, and then of compound-bench with cuSPARSE on the same matrices"""
    vendors = {}
    for case in cases:
        if case.of is bench_times:
            times = [c["median_s"] for c in of_bench(case) if c["kind"] == "cusparse"]
            vendors.update({case.get("description"): min(times)} if times else {})
    rows, names = [], []
    for case in cases:
        vendor = vendors.get(case.get("description"))
        if case.of is bench_times or not vendor:
            continue
        fastest = {}
        for t in case.times():
            theirs = tuned_plan(t.name)
            for name, fits in (("a tuned schedule alone (CSR-AoS-AoS)", theirs and theirs[0] == "CSR-AoS-AoS"),
                               ("the papers' layouts, tuned", theirs), ("all plans, tuned", True)):
                if fits:
                    fastest[name] = min(t.seconds, fastest.get(name, float("inf")))
        rows.append({name: vendor / s for name, s in fastest.items()})
        names.append(case)
    if not rows:
        raise Unfit(f"{cases[0].file}: no matrix has products of cuSPARSE as well; give a file of compound-bench "
                    "-device cuda -cusparse all on the same matrices, too")
    figure, axes = bars(plt, list(zip(labels(names), rows)), "speed over the fastest of cuSPARSE")
    axes.axvline(1, color="black", linewidth=0.8)
    return figure


@kind
def sparsity(plt, cases, paper=()):
    """how long rows are, and how far apart their columns: quartiles of each matrix, from the shortest to the longest"""
    figure, pair = plt.subplots(1, 2, figsize=(11, 1.2 + 0.24 * len(cases)), sharey=True, layout="constrained")
    for axes, member, title in zip(pair, ("row_lengths", "row_bandwidths"),
                                   ("entries of a row", "columns from a row's first entry to its last")):
        for y, case in enumerate(cases):
            q = case.get(member) if case.of is bench_times else case.get("analysis", member)
            try:
                least, lower, median, upper, most = (q[m] for m in ("least", "lower", "median", "upper", "most"))
            except (KeyError, TypeError):
                raise Unfit(f"{case.file}: matrix '{case.name}': '{member}' has not all of least, lower, median, "
                            "upper, most") from None
            axes.plot([least, most], [y, y], color="C0", linewidth=1)
            axes.plot([lower, upper], [y, y], color="C0", linewidth=6)
            axes.plot(median, y, "|", color="black", markersize=9)
        axes.set_xscale("symlog")
        axes.set_xlabel(title)
    pair[0].set_yticks(range(len(cases)), labels(cases), fontsize=8)
    pair[0].invert_yaxis()
    return figure


def describe(file, title, cases):
    """Writes title, device, date and command into the SVG."""
    origins = [case.origin for case in cases if case.origin.get("device")]
    facts = [", ".join(dict.fromkeys(o["device"] for o in origins)), min((o["date"] for o in origins), default=""),
             next((o["command"] for o in origins if o["command"]), "")]
    # A matrix of several files is one; a file may have two of one name.
    runs = collections.Counter(o["command"] for o in origins)
    count = max([len({case.name for case in cases}), *runs.values()])
    text = f"{count} matrices" if count > 1 else cases[0].name
    text = "; ".join([text, *(fact for fact in facts if fact), "drawn by docs/reproduction/plot.py"])
    with open(file, encoding="utf-8") as picture:
        svg = picture.read()
    with open(file, "w", encoding="utf-8") as picture:
        picture.write(described(svg, title[0].upper() + title[1:], text))


def main():
    lines = "\n".join(f"  {name:9}  {function.__doc__}" for name, function in KINDS.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="kinds:\n" + lines, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help="one of those below")
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON files")
    parser.add_argument("-o", "--out", required=True, help="the picture: .svg, .png or .pdf")
    parser.add_argument("--title", help="of an SVG, for readers who do not see it (default: what KIND is)")
    parser.add_argument("--paper", action="append", default=[], metavar="VALUE:NAME",
                        help="a paper's value to compare with, for each panel of `flops` one")
    args = parser.parse_args()
    try:
        import matplotlib

        matplotlib.use("Agg")
        # The same file gives the same picture, byte by byte; text as text makes it small.
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "compound", "font.family": "sans-serif"})
        import matplotlib.pyplot as plt
    except ImportError:
        sys.exit("plot.py: needs matplotlib (Debian: python3-matplotlib)")
    try:
        cases = [case for file in args.files for case in cases_of(file)]
        figure = KINDS[args.kind](plt, cases, paper=paper_values(args.paper))
        figure.savefig(args.out, metadata={"Date": None} if args.out.endswith(".svg") else None)
        if args.out.endswith(".svg"):
            describe(args.out, args.title or " ".join(KINDS[args.kind].__doc__.split()), cases)
    except (OSError, ValueError, Unfit) as e:
        sys.exit(f"plot.py: {args.kind}: {e}")
    except (KeyError, TypeError, IndexError) as e:
        sys.exit(f"plot.py: {args.kind}: {', '.join(args.files)}: a member is missing or not what the programs write: "
                 f"{e!r}")


if __name__ == "__main__":
    main()
