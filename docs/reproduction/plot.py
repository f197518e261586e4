#!/usr/bin/env python3
"""Draws what compound-bench and compound-tune have measured, from their JSON files (needs matplotlib).

    python3 docs/reproduction/plot.py KIND FILE... -o out.svg

Files are what `-json` of both programs and `compound-tune -study` write, and studies of many matrices
(docs/reproduction/tuning-study-h200.json.xz), compressed by xz or not; FILE:STEP is a step of what
docs/reproduction/reproduce.py has recorded. The picture's format is that of the name behind -o: svg, png, pdf.
"""

import argparse
import sys

from experiments.layouts import papers_plan
from plot_cases import Unfit, bench_times, cases_of, family, middle, predictions, words_of

KINDS = {}  # by name: the function that draws it; its documentation is the help


def kind(function):
    KINDS[function.__name__] = function
    return function


def short(text, most=58):
    return text if len(text) <= most else text[: most - 3] + "..."


class Colours:
    """One for each name, in the order in which they are first asked for."""

    def __init__(self):
        self.of = {}

    def __call__(self, name):
        return self.of.setdefault(name, f"C{len(self.of) % 10}")


# Pictures. Each makes a figure of `cases`.

def bars(plt, names, title):
    figure, axes = plt.subplots(figsize=(9, 1.1 + 0.24 * len(names)), layout="constrained")
    axes.set_yticks(range(len(names)), [short(name) for name in names], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(title)
    return figure, axes


@kind
def speedup(plt, cases):
    """how much faster the fastest plan of each matrix is than the rule's (of compound-bench: than its baseline)"""
    best = []
    for case in cases:
        timed = [t for t in case.times() if t.speed is not None]
        if not timed:
            raise Unfit(f"{case.file}: matrix '{case.name}' has no speeds ('times_rule', 'times_baseline')")
        best.append((max(timed, key=lambda t: t.speed), case))
    best.sort(key=lambda b: -b[0].speed)
    what = "baseline" if all(case.of is bench_times for case in cases) else "rule's plan"
    figure, axes = bars(plt, [case.name for _, case in best],
                        f"speed of the fastest plan over the {what}, by its layout")
    colour = Colours()
    for y, (t, _) in enumerate(best):
        name = family(t.name)
        axes.barh(y, t.speed, color=colour(name), label=None if name in axes.get_legend_handles_labels()[1] else name)
        axes.text(t.speed, y, f" {t.speed:.2f}", va="center", fontsize=8)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.legend(loc="lower right")
    return figure


@kind
def roofline(plt, cases):
    """operations a second over operations a compulsory byte, below what reading memory allows"""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    colour = Colours()
    points = [(case.flops() / case.bytes(), case.flops() / case.best().seconds / 1e9, family(case.best().name))
              for case in cases]
    for x, y, name in points:
        axes.plot(x, y, "o", color=colour(name), markersize=5,
                  label=None if name in axes.get_legend_handles_labels()[1] else name)
    ends = 0.8 * min(x for x, _, _ in points), 1.25 * max(x for x, _, _ in points)
    read = middle([case.read_gbs() for case in cases])
    axes.plot(ends, [x * read for x in ends], color="black", label=f"reading {read:.0f} GB/s")
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="10^9 operations a second")
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend()
    return figure


def tables_of_schedules(cases, word=""):
    """(case, fastest seconds by (blocks, threads)) of plans that have the word."""
    found = []
    for case in cases:
        table = {}
        for t in case.times():
            n = words_of(t.name)[0]
            if {"threads", "blocks"} <= n.keys() and (not word or word in t.name.split()):
                at = n["blocks"], n["threads"]
                table[at] = min(t.seconds, table.get(at, float("inf")))
        if len(table) > 1:
            found.append((case, table))
    if not found:
        raise Unfit(f"{cases[0].file}: no matrix has {word + ' ' if word else ''}plans of several threads= and "
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
def schedule(plt, cases):
    """heat map of threads and blocks of them on a multiprocessor: the fastest plan of each pair over the fastest of
    all"""
    found = tables_of_schedules(cases)
    figure, axes = plt.subplots(figsize=size_of_schedules(found), layout="constrained")
    image = axes_of_schedules(axes, found)
    axes.set_title(found[0][0].name if len(found) == 1 else f"median of {len(found)} matrices", fontsize=9)
    figure.colorbar(image, label="time over that of the fastest plan")
    return figure


@kind
def schedules(plt, cases):
    """the same of static and of dynamic schedules, each over the fastest of its own"""
    found = {word: tables_of_schedules(cases, word) for word in ("static", "dynamic")}
    width, height = size_of_schedules(found["static"])
    figure, both = plt.subplots(1, 2, figsize=(2 * width, height), layout="constrained")
    for axes, (word, tables) in zip(both, found.items()):
        image = axes_of_schedules(axes, tables)
        axes.set_title(f"{word}, " + (tables[0][0].name if len(tables) == 1 else f"median of {len(tables)} matrices"),
                       fontsize=9)
    figure.colorbar(image, ax=both, label="time over that of the fastest plan")
    return figure


@kind
def memory(plt, cases):
    """time of each plan over the bytes that its packed copy owns, both over those of the fastest plan of its matrix"""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    colour, any_ = Colours(), False
    for case in cases:
        timed = [t for t in case.times() if t.bytes]
        if not timed:
            continue
        any_ = True
        best = min(timed, key=lambda t: t.seconds)
        for t in timed:
            name = family(t.name)
            label = None if name in axes.get_legend_handles_labels()[1] else name
            axes.plot(t.bytes / best.bytes, t.seconds / best.seconds, ".", color=colour(name), label=label)
    if not any_:
        raise Unfit(f"{cases[0].file}: no plan has bytes of a packed copy ('copy_bytes', 'packed_bytes')")
    axes.set(xscale="log", yscale="log", xlabel="bytes of the packed copy over the fastest plan's",
             ylabel="time over the fastest plan's")
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend()
    return figure


@kind
def model(plt, cases):
    """predicted times over measured ones"""
    found = predictions(cases)
    figure, axes = plt.subplots(figsize=(6.5, 6), layout="constrained")
    for name in dict.fromkeys(name for name, _, _ in found):
        these = [(1e6 * m, 1e6 * p) for n, m, p in found if n == name]
        axes.plot(*zip(*these), ".", markersize=4, label=name)
    ends = [1e6 * f(x for _, *both in found for x in both) for f in (min, max)]
    for factor, style in ((1, "-"), (1.2, ":"), (1 / 1.2, ":")):
        axes.plot(ends, [factor * e for e in ends], style, color="black", linewidth=0.8,
                  label="20 % off" if factor == 1.2 else None)
    axes.set(xscale="log", yscale="log", xlabel="measured, microseconds", ylabel="predicted, microseconds")
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend()
    return figure


@kind
def padding(plt, cases):
    """slots of each layout over the entries of the matrix"""
    rows = [(case, [row for row in case.get("analysis", "layouts") if "padding" in row]) for case in cases]
    names = list(dict.fromkeys(row["layout"] for _, layouts in rows for row in layouts))
    if not names:
        raise Unfit(f"{cases[0].file}: no layout has a 'padding'")
    figure, axes = bars(plt, [case.name for case, _ in rows], "slots an entry")
    tall = 0.8 / len(names)
    for i, name in enumerate(names):
        at = [(y + i * tall - 0.4, row["padding"]) for y, (_, layouts) in enumerate(rows) for row in layouts
              if row["layout"] == name]
        axes.barh(*zip(*at), height=tall, align="edge", label=name)
    axes.set_xscale("log")
    axes.legend(fontsize=8)
    figure.set_figheight(1.1 + 0.1 * len(names) * len(rows))
    return figure


def grouped(plt, rows, title):
    """Bars of rows (name, {series: value}), a colour for each series."""
    names = list(dict.fromkeys(name for _, values in rows for name in values))
    figure, axes = bars(plt, [name for name, _ in rows], title)
    tall = 0.8 / len(names)
    for i, name in enumerate(names):
        at = [(y + i * tall - 0.4, values[name]) for y, (_, values) in enumerate(rows) if name in values]
        axes.barh(*zip(*at), height=tall, align="edge", label=name,
                  color=f"C{i % 10}" if i < 10 else str(0.07 * (i - 9)))
    axes.legend(fontsize=7)
    figure.set_figheight(1.1 + 0.09 * len(names) * len(rows) + 0.1 * len(rows))
    return figure, axes


@kind
def footprint(plt, cases):
    """what plans of `compound-tune -bytes` take, over the first of them"""
    rows = []
    for case in cases:
        counted = [c for c in case.get("counted") if "bytes" in c]
        entry = counted[0]["asked"].split()[0]  # said once is enough
        rows.append((case.name, {c["asked"].removeprefix(entry + " "): c["bytes"] / counted[0]["bytes"]
                                 for c in counted}))
    figure, axes = grouped(plt, rows, "bytes over those of the first plan")
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    return figure


def of_bench(case):
    if case.of is not bench_times:
        raise Unfit(f"{case.file}: matrix '{case.name}' is not of compound-bench")
    return [c for c in case.get("candidates") + case.data.get("layouts", []) if c.get("median_s", 0) > 0]


@kind
def flops(plt, cases):
    """operations a second of every candidate and layout of compound-bench"""
    rows = [(case.name, {c["name"]: case.flops() / c["median_s"] / 1e9 for c in of_bench(case)}) for case in cases]
    return grouped(plt, rows, "10^9 operations a second")[0]


@kind
def cusparse(plt, cases):
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
        rows.append((case.name, {name: vendor / s for name, s in fastest.items()}))
    figure, axes = grouped(plt, rows, "speed over the fastest of cuSPARSE")
    axes.axvline(1, color="black", linewidth=0.8)
    return figure


@kind
def sparsity(plt, cases):
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
    pair[0].set_yticks(range(len(cases)), [short(case.name) for case in cases], fontsize=8)
    pair[0].invert_yaxis()
    return figure


def main():
    lines = "\n".join(f"  {name:9}  {function.__doc__}" for name, function in KINDS.items())
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="kinds:\n" + lines, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help="one of those below")
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON files")
    parser.add_argument("-o", "--out", required=True, help="the picture: .svg, .png or .pdf")
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
        figure = KINDS[args.kind](plt, cases)
        figure.savefig(args.out, metadata={"Date": None} if args.out.endswith(".svg") else None)
    except (OSError, ValueError, Unfit) as e:
        sys.exit(f"plot.py: {args.kind}: {e}")
    except (KeyError, TypeError, IndexError) as e:
        sys.exit(f"plot.py: {args.kind}: {', '.join(args.files)}: a member is missing or not what the programs write: "
                 f"{e!r}")


if __name__ == "__main__":
    main()
