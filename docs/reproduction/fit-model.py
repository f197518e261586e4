#!/usr/bin/env python3
"""Fits the seconds of a device's table (src/planner/device_tables.inc) to a recorded study, and says how good the
plans are that they lead to.

    python3 docs/reproduction/fit-model.py docs/reproduction/tuning-study-h200.json.xz

Prints the line of the table, with what is not seconds as it was, and for each matrix the time over that of the fastest
plan: by rule, and by a model fitted to the other matrices. A study is what compound-tune -study writes for each matrix
(docs/compound-tune.md), of all matrices in one file; `rule` of a matrix is the present rule's plan, `tried` are the
plans that the model chooses among.
"""

import argparse
import collections
import functools
import json
import lzma
import math
import os
import re

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/planner/device_tables.inc")
WORDS = {"complex": 2, "quaternion": 4}
MOST_THREADS, SECTOR = 2048, 32
CACHES = {"cached": "kept", "stream": "streamed"}  # what numbers of a table begin with
PROMISES = 1.06  # that a plan is faster than the rule's to be taken
NAMES = "launch memory second_cache gather step diagonal_step longest shared_row chunk_entry rows_of_words".split()


def device_table(file, study):
    """Name and numbers of the table of the device that a study is of."""
    name = study["device"]
    with open(file) as tables:
        for found, numbers in re.findall(r'^device1 name="([^"]*)" (.*)$', tables.read(), re.M):
            if found == name:
                return name, {key: float(value) for key, value in (word.split("=") for word in numbers.split())}
    raise SystemExit(f"{file} has no table of '{name}', which the study is of; add a line with its multiprocessors, "
                     "caches and bandwidth")


@functools.cache
def parse(line):
    plan = {"layout": "", "traversal": "", "cache": "cached"}
    for word in line.split():
        name, equals, value = word.partition("=")
        if equals:
            plan[name] = int(value) if value.isdigit() else value
        elif word in ("rows", "components", "slots"):
            plan["traversal"] = word
        elif word in CACHES:
            plan["cache"] = word
        elif re.match("csr|sell|ellr|bellpack|hdia|dia|ccoo", word):
            plan["layout"] = word
    return {"lanes": 1, "unroll": 1, **plan}


# `sums`: what the seconds of each name in NAMES are multiplied by; `alone`: seconds after a launch of the worker with
# the longest row, which a product takes at least.
Work = collections.namedtuple("Work", "sums alone")


def layout_of(matrix, name):
    """What was counted of this layout, or of one that pads as much."""
    if name.startswith("bellpack") or name.count(":") > 1 and name.startswith("sell"):
        name = "bellpack:32"
    elif name.startswith("ccoo"):
        name = "ccoo:128"
    return next((row for row in matrix["analysis"]["layouts"] if row["layout"] == name and "bytes" in row), None)


def features(matrix, plan, device):
    """As work_of() in src/planner/model.cpp; None where nothing was counted of the layout."""
    a, layout = matrix["analysis"], layout_of(matrix, plan["layout"])
    if not layout:
        return None
    size = int(matrix["block"].split("x")[0])
    family = plan["layout"].split(":")[0]
    words = WORDS.get(plan["entry"], size * size)
    scalar_rows = size if plan["traversal"] == "components" and family != "csr" else 1
    bytes_ = layout["bytes"] + 8 * size * (a["block_rows"] + a["block_columns"])
    all_, none = (device[f"{CACHES[plan['cache']]}_{bound}"] for bound in ("all", "none"))
    held = min(1, max(0, (none - bytes_) / (none - all_)))
    chunks, diagonals = family == "ccoo", family in ("dia", "hdia")
    workers = a["blocks"] if chunks else a["block_rows"] * plan["lanes"] * scalar_rows
    waves = max(1, workers / (device["multiprocessors"] * min(MOST_THREADS, plan["threads"] * plan["blocks"])))
    entries = 2 if chunks else a["mean_row"] / plan["lanes"] * (layout["padding"] if diagonals else 1)
    steps = waves * math.ceil(entries / plan["unroll"]) * math.sqrt(words / scalar_rows)
    f = dict.fromkeys(NAMES, 0)
    f["launch"] = 1
    f["memory"] = (1 - held) * bytes_
    f["second_cache"] = held * bytes_
    f["gather"] = a["blocks"] * a["scattered"] * math.ceil(size * 8 / SECTOR) * SECTOR
    f["diagonal_step" if diagonals else "step"] = steps
    f["longest"] = 0 if chunks or diagonals else a["row_lengths"]["most"] / plan["lanes"]
    f["shared_row"] = a["block_rows"] * plan["lanes"] * scalar_rows if plan["lanes"] > 1 else 0
    f["chunk_entry"] = a["blocks"] if chunks else 0
    f["rows_of_words"] = bytes_ if plan["words"].endswith(":row") else 0
    rows_of_block, columns = (int(n) for n in matrix["block"].split("x"))
    components = plan["traversal"] == "components"
    lanes = plan["lanes"] / (rows_of_block if components and family == "csr" else 1)
    row_words = WORDS.get(plan["entry"], rows_of_block * columns) / (rows_of_block if components else 1)
    alone = (
        0 if chunks else a["row_lengths"]["most"] * (layout["padding"] if diagonals else 1) / lanes
        * math.sqrt(row_words)
    )
    return Work([f[name] for name in NAMES], alone * device["alone"])


def middle(values):
    return sorted(values)[len(values) // 2]


def late(values):
    return sorted(values)[int(0.9 * len(values))]


class Matrix:
    def __init__(self, data, device):
        self.name = f"{data['description']}, {data['block']}, {data['precision']}"
        before = data["tested"][0]["plan"]
        rule_s = next(x["seconds"] for x in data["finals"] if x["plan"] == before)
        ratio = {line: ratio for line, ratio, _ in data["screened"]}
        for later in (data["again"], data["finals"]):
            ratio.update({x["plan"]: middle(x["ratios"]) for x in later if x["ratios"]})
        ratio[before] = 1.0
        self.best_s = rule_s * min(ratio[x["plan"]] for x in data["finals"])
        self.data = data
        self.seconds = {line: rule_s * r for line, r in ratio.items()}
        self.rule = self.measured(data["rule"])
        self.plans = {self.rule: None, **dict.fromkeys(data["tried"])}
        for line in self.plans:
            self.plans[line] = features(data, parse(line), device)
        self.plans = {line: f for line, f in self.plans.items() if f}

    def measured(self, line):
        """This plan, or where it has no time one that differs in how words are read, or in blocks, too."""
        wanted = parse(line)
        for may_differ in ([], ["cache"], ["cache", "words", "blocks"]):
            for other in self.seconds:
                if other == line or {**parse(other), **{k: wanted[k] for k in may_differ}} == wanted:
                    return other
        raise SystemExit(f"{self.name}: the rule's plan has no time: {line}")

    def of_best(self, line):
        return self.seconds[line] / self.best_s

    def equations(self):
        """Of least squares of the relative errors: those of slow plans count little."""
        return normal_equations((f.sums, self.seconds[line],
                                 self.of_best(line) ** -4 / self.seconds[line] ** 2 / len(self.plans))
                                for line, f in self.plans.items() if self.of_best(line) <= 2)


def normal_equations(products):
    """Of (sums, seconds, weight) of each product."""
    n = len(NAMES)
    a, b = [[0.0] * n for _ in range(n)], [0.0] * n
    for sums, seconds, weight in products:
        for i in range(n):
            b[i] += weight * sums[i] * seconds
            for j in range(n):
                a[i][j] += weight * sums[i] * sums[j]
    return a, b


def solved(a, b):
    n = len(b)
    scale = [math.sqrt(a[i][i]) or 1 for i in range(n)]
    m = [[a[i][j] / scale[i] / scale[j] + (1e-9 if i == j else 0) for j in range(n)] + [b[i] / scale[i]]
         for i in range(n)]
    for i in range(n):
        k = max(range(i, n), key=lambda row: abs(m[row][i]))
        m[i], m[k] = m[k], m[i]
        for row in range(n):
            if row != i:
                factor = m[row][i] / m[i][i]
                m[row] = [x - factor * y for x, y in zip(m[row], m[i])]
    return [m[i][n] / m[i][i] / scale[i] for i in range(n)]


def fitted(equations):
    """Seconds of each name, none below 0."""
    n = len(NAMES)
    a = [[sum(e[0][i][j] for e in equations) for j in range(n)] for i in range(n)]
    b = [sum(e[1][i] for e in equations) for i in range(n)]
    used = [i for i in range(n) if a[i][i] > 0]  # no product says anything of the others
    while True:
        values = solved([[a[i][j] for j in used] for i in used], [b[i] for i in used])
        if min(values) >= 0:
            break
        del used[values.index(min(values))]
    all_ = [0.0] * n
    for i, value in zip(used, values):
        all_[i] = value
    return all_


def predicted(seconds, f):
    return max(sum(s * x for s, x in zip(seconds, f.sums)), seconds[0] + f.alone)


def by_the_others(matrices):
    """Of each matrix the times of its plans that a model fitted to the other matrices predicts."""
    equations = [m.equations() for m in matrices]
    for i, m in enumerate(matrices):
        seconds = fitted(equations[:i] + equations[i + 1 :])
        yield m, {line: predicted(seconds, f) for line, f in m.plans.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", help="file of studies, compressed by xz")
    parser.add_argument("--tables", default=TABLES, help="tables of devices, the study's among them (%(default)s)")
    args = parser.parse_args()
    with lzma.open(args.study) as file:
        study = json.load(file)
    table_name, device = device_table(args.tables, study)
    matrices = [Matrix(data, device) for data in study["matrices"]]
    table, errors = [], {}
    for m, times in by_the_others(matrices):
        best = min(times, key=times.get)
        taken = best if times[best] * PROMISES < times[m.rule] else m.rule
        table.append((m.data["tested"][0]["of_best"], m.of_best(m.rule), m.of_best(taken)))
        for line, s in times.items():
            family = parse(line)["layout"].split(":")[0]
            errors.setdefault(family, []).append(abs(s / m.seconds[line] - 1))
        print("{:6.3f} {:6.3f} {:6.3f}  {}: {}".format(*table[-1], m.name, "default" if taken == m.rule else taken))
    print(f"times over the fastest plan's, of {len(matrices)} matrices: median, 90 %, largest")
    titles = ("default plan at the time of the study", "present default plan", "model, others fitted")
    for title, values in zip(titles, zip(*table)):
        print(f"  {title:38} {middle(values):.3f} {late(values):.3f} {max(values):.3f}")
    print("errors of predictions of other matrices: plans, mean, median, largest")
    for family, all_ in sorted(errors.items()):
        print(f"  {family:10} {len(all_):4} {sum(all_) / len(all_):5.2f} {middle(all_):5.2f} {max(all_):5.2f}")
    print("of all matrices, for src/planner/device_tables.inc:")
    seconds = dict(zip(NAMES, fitted([m.equations() for m in matrices])))
    print(f'device1 name="{table_name}"', *(f"{name}={seconds[name]:.3g}" if name in seconds else f"{name}={value:.9g}"
                                            for name, value in device.items()))


if __name__ == "__main__":
    main()
