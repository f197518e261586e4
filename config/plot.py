#!/usr/bin/env python3
"""Draws what compound-bench and compound-tune have measured, from their JSON files (needs matplotlib).

    python3 config/plot.py KIND FILE... -o out.svg

Files are what `-json` of both programs and `compound-tune -study` write, and studies of many matrices (config/tuning-study-h200.json.xz),
compressed by xz or not. The picture's format is that of the name behind -o: svg, png, pdf.
"""

import argparse
import collections
import importlib.util
import json
import lzma
import os
import re
import sys

KINDS = {}  # by name: the function that draws it; its documentation is the help


class Unfit(Exception):
    """What is wrong with a file, in words."""


def kind(function):
    KINDS[function.__name__] = function
    return function


# Cases: one form for all files.

Timed = collections.namedtuple("Timed", "name seconds speed bytes")  # speed: relative to the case's yardstick; bytes: of its copy
Timed.__new__.__defaults__ = (None, None)


class Case:
    """A matrix of a file. `data` is as the program wrote it, `of` how products of its plans are found there; `study` is the file's, of many matrices."""

    def __init__(self, file, data, of, study=None):
        self.file, self.data, self.of, self.study = file, data, of, study
        self.name = "%s, %s" % (self.get("description"), self.block())

    def get(self, *path):
        value = self.data
        for member in path:
            if not isinstance(value, dict) or member not in value:
                name = self.data.get("description", "of no description") if isinstance(self.data, dict) else "of no description"
                raise Unfit(f"{self.file}: matrix '{name}' has no member '{'.'.join(path)}'")
            value = value[member]
        return value

    def block(self):
        return "%dx%d" % tuple(self.get("block_shape")) if self.of is bench_times else self.get("block")

    def entries(self):
        return self.get("blocks") if self.of is bench_times else self.get("analysis", "blocks")

    def bytes(self):
        return self.get("candidates")[0]["compulsory_bytes"] if self.of is bench_times else self.get("compulsory_bytes")

    def read_gbs(self):
        return self.data["read_gbs"] if "read_gbs" in self.data else self.get("read", "gbs")

    def flops(self):
        rows, cols = self.block().split("x")
        return 2.0 * self.entries() * int(rows) * int(cols)

    def times(self):
        times = self.of(self)
        if not times:
            raise Unfit(f"{self.file}: matrix '{self.name}' has no plan with a time")
        return times

    def best(self):
        return min(self.times(), key=lambda t: t.seconds)


def bench_times(case):
    return [
        Timed(c["plan"] or c["name"], c["median_s"], c.get("times_baseline"), c.get("packed_bytes"))
        for c in case.get("candidates")
        if c.get("median_s", 0) > 0
    ]


def tune_times(case):
    return [Timed(p["plan"], p["median_s"], p.get("times_rule"), p.get("copy_bytes")) for p in case.get("plans")]


def middle(values):
    return sorted(values)[len(values) // 2]


def study_times(case):
    """Of the last round that a plan was in; screened plans are known relative to the rule's."""
    rule = case.get("tested")[0]["plan"]
    finals = {x["plan"]: x for x in case.get("finals")}
    if rule not in finals:
        raise Unfit(f"{case.file}: matrix '{case.name}': the rule's plan has no time among 'finals'")
    rule_s = finals[rule]["seconds"]
    ratios = {line: ratio for line, ratio, _ in case.get("screened")}
    for round_ in (case.get("again"), case.get("finals")):
        ratios.update({x["plan"]: middle(x["ratios"]) for x in round_ if x["ratios"]})
    ratios[rule] = 1.0
    return [Timed(line, rule_s * r, 1 / r, finals.get(line, {}).get("bytes")) for line, r in ratios.items()]


def cases_of(file):
    opened = lzma.open if file.endswith(".xz") else open
    try:
        with opened(file, "rt", encoding="utf-8") as content:
            data = json.load(content)
    except OSError as e:
        raise Unfit(f"{file}: cannot be read: {e.strerror or e}")
    except (ValueError, lzma.LZMAError, EOFError) as e:
        raise Unfit(f"{file}: is no JSON: {e}")
    if not isinstance(data, dict):
        data = {}
    if "matrices" in data or str(data.get("schema", "")).startswith("study"):
        cases = [Case(file, matrix, study_times, data) for matrix in data.get("matrices", [data])]
    elif data.get("program") in ("compound-bench", "compound-tune"):
        of = bench_times if data["program"] == "compound-bench" else tune_times
        cases = [Case(file, case, of) for case in data.get("cases", [])]
    else:
        raise Unfit(f"{file}: is not of compound-bench, compound-tune or a study; give what their -json or -study writes")
    if not cases:
        raise Unfit(f"{file}: has no matrices")
    return cases


def words_of(plan):
    """The numbers of a plan line, and its layout."""
    numbers = {name: int(value) for name, value in re.findall(r"\b(threads|blocks|lanes|unroll)=(\d+)", plan)}
    layout = next((w for w in plan.split() if re.match("(csr|sell|ellr|bellpack|hdia|dia|ccoo)(:|$)", w)), None)
    return numbers, layout


def family(plan):
    layout = words_of(plan)[1]
    return layout.split(":")[0] if layout else plan.split(":")[0]


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
    figure, axes = bars(plt, [case.name for _, case in best], f"speed of the fastest plan over the {what}, by its layout")
    colour = Colours()
    for y, (t, _) in enumerate(best):
        name = family(t.name)
        axes.barh(y, t.speed, color=colour(name), label=None if name in axes.get_legend_handles_labels()[1] else name)
        axes.text(t.speed, y, " %.2f" % t.speed, va="center", fontsize=8)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.legend(loc="lower right")
    return figure


@kind
def roofline(plt, cases):
    """operations a second over operations a compulsory byte, below what reading memory allows"""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    colour = Colours()
    points = [(case.flops() / case.bytes(), case.flops() / case.best().seconds / 1e9, family(case.best().name)) for case in cases]
    for x, y, name in points:
        axes.plot(x, y, "o", color=colour(name), markersize=5, label=None if name in axes.get_legend_handles_labels()[1] else name)
    ends = 0.8 * min(x for x, _, _ in points), 1.25 * max(x for x, _, _ in points)
    read = middle([case.read_gbs() for case in cases])
    axes.plot(ends, [x * read for x in ends], color="black", label="reading %.0f GB/s" % read)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="10^9 operations a second")
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend()
    return figure


@kind
def schedule(plt, cases):
    """heat map of threads and blocks of them on a multiprocessor: the fastest plan of each pair over the fastest of all"""
    found = []
    for case in cases:
        table = {}
        for t in case.times():
            n = words_of(t.name)[0]
            if {"threads", "blocks"} <= n.keys():
                at = n["blocks"], n["threads"]
                table[at] = min(t.seconds, table.get(at, float("inf")))
        if len(table) > 1:
            found.append((case, table))
    if not found:
        raise Unfit(f"{cases[0].file}: no matrix has plans of several threads= and blocks=; time them by compound-tune -device cuda -search all")
    rows = sorted({b for _, table in found for b, _ in table})
    cols = sorted({t for _, table in found for _, t in table})
    best = {id(table): min(table.values()) for _, table in found}
    cells = [[middle([table[b, t] / best[id(table)] for _, table in found if (b, t) in table] or [float("nan")]) for t in cols] for b in rows]
    figure, axes = plt.subplots(figsize=(1.5 + 0.6 * len(cols), 1.2 + 0.45 * len(rows)), layout="constrained")
    image = axes.pcolormesh(cells, cmap="viridis_r", vmin=1, vmax=2)
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            if value == value:
                axes.text(x + 0.5, y + 0.5, "%.2f" % value, ha="center", va="center", fontsize=7, color="white" if value > 1.5 else "black")
    axes.set_xticks([x + 0.5 for x in range(len(cols))], cols)
    axes.set_yticks([y + 0.5 for y in range(len(rows))], rows)
    axes.set(xlabel="threads of a block", ylabel="blocks on a multiprocessor")
    axes.set_title(found[0][0].name if len(found) == 1 else f"median of {len(found)} matrices", fontsize=9)
    figure.colorbar(image, label="time over that of the fastest plan")
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
    axes.set(xscale="log", yscale="log", xlabel="bytes of the packed copy over the fastest plan's", ylabel="time over the fastest plan's")
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend()
    return figure


def fit_model():
    spec = importlib.util.spec_from_file_location("fit_model", os.path.join(os.path.dirname(os.path.abspath(__file__)), "fit-model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predictions(cases):
    """(layout, measured, predicted): of compound-tune what it predicted, of a study by models that are fitted to the other matrices."""
    found = [
        (family(p["plan"]), p["median_s"], p["predicted_s"]) for case in cases if case.of is tune_times for p in case.get("plans") if "predicted_s" in p
    ]
    studied = [case for case in cases if case.of is study_times and {"rule", "tried"} <= case.data.keys()]
    if len(studied) > 1:
        fit = fit_model()
        for m, times in fit.by_the_others([fit.Matrix(case.data, fit.device_table(fit.TABLES, case.study)[1]) for case in studied]):
            found += [(family(line), m.seconds[line], s) for line, s in times.items()]
    if not found:
        raise Unfit(f"{cases[0].file}: has no predicted times; give what compound-tune -device cuda -json writes ('predicted_s'), or a study of several matrices with 'rule' and 'tried'")
    return found


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
        axes.plot(ends, [factor * e for e in ends], style, color="black", linewidth=0.8, label="20 % off" if factor == 1.2 else None)
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
        at = [(y + i * tall - 0.4, row["padding"]) for y, (_, layouts) in enumerate(rows) for row in layouts if row["layout"] == name]
        axes.barh(*zip(*at), height=tall, align="edge", label=name)
    axes.set_xscale("log")
    axes.legend(fontsize=8)
    figure.set_figheight(1.1 + 0.1 * len(names) * len(rows))
    return figure


@kind
def sparsity(plt, cases):
    """how long rows are, and how far apart their columns: quartiles of each matrix, from the shortest to the longest"""
    figure, pair = plt.subplots(1, 2, figsize=(11, 1.2 + 0.24 * len(cases)), sharey=True, layout="constrained")
    for axes, member, title in zip(pair, ("row_lengths", "row_bandwidths"), ("entries of a row", "columns from a row's first entry to its last")):
        for y, case in enumerate(cases):
            q = case.get(member) if case.of is bench_times else case.get("analysis", member)
            try:
                least, lower, median, upper, most = (q[m] for m in ("least", "lower", "median", "upper", "most"))
            except (KeyError, TypeError):
                raise Unfit(f"{case.file}: matrix '{case.name}': '{member}' has not all of least, lower, median, upper, most")
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
        sys.exit(f"plot.py: {args.kind}: {', '.join(args.files)}: a member is missing or not what the programs write: {e!r}")


if __name__ == "__main__":
    main()
