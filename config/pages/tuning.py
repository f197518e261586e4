"""Plans beside the fastest of all, by studies of compound-tune."""

import importlib.util
import math
import pathlib
import statistics

from .host import by_name, most_spread
from .records import block_of, figure, origin, record_of, reproduced, source, step_of, table, us

BY = {"rule": "default plan", "measure": "`measure`", "model": "`model`"}


def study_of(top, step):
    """(matrix, run, times over the fastest) of each run of a step."""
    runs = reproduced(top, step)[0]
    return [(name, run, {t["by"]: t["of_best"] for t in run["cases"][0]["tested"]}) for name, run in runs.items()]


def rows_over_fastest(times, ways):
    """Median, 90 % and largest of each way to choose."""
    rows = []
    for by, name in ways.items():
        sorted_ = sorted(of[by] for of in times)
        rows.append([name, f"{statistics.median(sorted_):.3f}", f"{sorted_[math.ceil(0.9 * len(sorted_)) - 1]:.3f}",
                     f"{sorted_[-1]:.3f}"])
    return rows


def over_fastest(times, ways=None):
    return table(["plan", "median", "90 %", "largest"], rows_over_fastest(times, ways or BY))


def of_runs(runs):
    return origin([{"device": {"name": run["device"]}, "date": run["date"][:10]} for run in runs])


def spread(ratios):
    """From the first quartile to the third, over the median."""
    ratios = sorted(ratios)
    first, middle, third = (ratios[part * len(ratios) // 4] for part in (1, 2, 3))
    return (third - first) / middle


@figure("held-back")
def held_back(top):
    found = study_of(top, "held-back")
    fastest = {name: min(run["cases"][0]["finals"], key=lambda p: p["seconds"]) for name, run, _ in found}
    return [
        *over_fastest([times for *_, times in found]),
        "",
        *table(["matrix", "blocks", "rows", "a row", "fastest plan, us", "spread %", *BY.values()],
               [[name, ("complex" if "entry=complex" in fastest[name]["plan"] else run["cases"][0]["block"]),
                 f"{run['cases'][0]['analysis']['block_rows']:,}", f"{run['cases'][0]['analysis']['mean_row']:.1f}",
                 f"{1e6 * fastest[name]['seconds']:.2f}", f"{100 * spread(fastest[name]['ratios']):.1f}",
                 *(f"{times[by]:.3f}" for by in BY)]
                for name, run, times in found]),
        "",
        f"*{of_runs([run for _, run, _ in found])}. Spread: between quartiles of the fastest plan's times over the "
        "default plan's.*",
    ]


@figure("default-plans-of-papers")
def default_plans_of_papers(top):
    found = study_of(top, "joint-2020")
    return [*over_fastest([times for *_, times in found]), "", f"*{of_runs([run for _, run, _ in found])}.*"]


CHECKED = {"5-point grid, 272 x 273 nodes, complex blocks, 4 rows of 260": "RFdevice", "NX_MotorH67k.mtx": "crankshaft"}


@figure("tuning-check")
def tuning_check(top):
    matrices = record_of(top, "docs/reproduction/tuning-check.json.xz", "matrices")
    rows = []
    for m in matrices:
        times = {t["by"]: t["of_best"] for t in m["tested"]}
        name = CHECKED.get(m["description"], m["description"].split(",")[0].removesuffix(".mtx"))
        if "surface grid" in m["description"]:
            name = m["description"].removesuffix(" blocks")
        rows.append([name, m["device"].removeprefix("NVIDIA "), *(f"{times[by]:.3f}" for by in BY)])
    return table(["matrix", "device", *BY.values()], rows)


# The study, by the fits of docs/reproduction/fit-model.py.

FIT = pathlib.Path(__file__).resolve().parents[2] / "docs/reproduction/fit-model.py"
STUDY = "docs/reproduction/tuning-study-h200.json.xz"


def fitting():
    spec = importlib.util.spec_from_file_location("fit_model", FIT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FITS = {}  # two tables are of one fit


def study_fitted(top):
    """The script, the study, and of each matrix what models of the other matrices predict."""
    if top not in FITS:
        fit, study = fitting(), record_of(top, STUDY)
        _, device = fit.device_table(fit.TABLES, study)
        FITS[top] = fit, study, list(fit.by_the_others([fit.Matrix(data, device) for data in study["matrices"]]))
    return FITS[top]


def of_study(study):
    return f"*{study['device']}, {study['date']}; {len(study['matrices'])} matrices.*"


def study_ways(fit):
    """By the name of a plan: what it takes over the fastest, of a matrix and predicted times."""
    def chosen(m, times):
        best = min(times, key=times.get)
        return best if times[best] * fit.PROMISES < times[m.rule] else m.rule

    def layout(line):  # the second word
        return line.split(" ", 2)[1]

    def tested(m, by):
        return next(t["of_best"] for t in m.data["tested"] if t["by"] == by)
    return {
        "default plan at the time of the study": lambda m, _: tested(m, "rule"),
        "present default plan": lambda m, _: m.of_best(m.rule),
        "model, others fitted": lambda m, times: m.of_best(chosen(m, times)),
        "`measure` of the study": lambda m, _: tested(m, "measure"),
        "fastest of those that the model goes through": lambda m, times: min(map(m.of_best, times)),
        "fastest schedule of the layout of the default heuristic of the study": lambda m, _: min(
            m.of_best(line) for line in m.seconds if layout(line) == layout(m.data["tested"][0]["plan"])),
    }


@figure("study")
def study_table(top):
    fit, study, found = study_fitted(top)
    rows = []
    for name, way in study_ways(fit).items():
        values = [way(m, times) for m, times in found]
        rows.append([name, *(f"{value:.3f}" for value in (fit.middle(values), fit.late(values), max(values)))])
    return [*table(["plan", "median", "90 %", "largest"], rows), "", of_study(study)]


@figure("model-errors")
def model_errors(top):
    fit, study, found = study_fitted(top)
    errors = {}
    for m, times in found:
        for line, seconds in times.items():
            errors.setdefault(fit.parse(line)["layout"].split(":")[0], []).append(abs(seconds / m.seconds[line] - 1))
    rows = [[f"`{name}`", str(len(of)), *(f"{v:.2f}" for v in (sum(of) / len(of), fit.middle(of), max(of)))]
            for name, of in sorted(errors.items())]
    return [*table(["layout", "plans", "mean", "median", "largest"], rows), "", of_study(study)]


@figure("library-plans")
def library_plans(top):
    """Plans of cuSPARSE beside the default plan."""
    runs = [step_of(top, "device", f"library-{name}") for name in ("3x3", "scalars", "complex")]
    cases = [run["cases"][0] for run in runs]
    found = [{name.split("cusparse:")[-1]: c for name, c in by_name(case).items()} for case in cases]
    names = list(dict.fromkeys(name for of in found for name in of))
    rows = [[f"{case['description']}, {block_of(case)}", *(us(of[name]["median_s"]) if name in of else ""
                                                           for name in names)] for case, of in zip(cases, found)]
    return [*table(["case, us", *("default plan" if name == "auto" else name for name in names)], rows), "",
            *source(runs, max(map(most_spread, runs)))]


@figure("tuned-on-host")
def tuned_on_host(top):
    run = step_of(top, "host", "tuning")
    found = [(case, {t["by"]: t["of_best"] for t in case["tested"]}) for case in run["cases"]]
    ways = {by: name for by, name in BY.items() if by in found[0][1]}
    rows = [[case["description"], case["block"], f"{case['compulsory_bytes'] / 1e6:.1f}",
             f"`{next(word for word in case['fastest'].split() if '=' not in word)}`",
             *(f"{of[by]:.2f}" for by in ways)] for case, of in found]
    return [*over_fastest([of for _, of in found], ways), "",
            *table(["matrix", "blocks", "MB", "fastest layout", *ways.values()], rows), "",
            *source(run, before=f"{len(found)} matrices, up to {max(case['plans'] for case, _ in found)} plans; ")]


@figure("goals")
def goals(top):
    """What was aimed at, and what the records have."""
    fit, study, found = study_fitted(top)
    ways = study_ways(fit)

    def in_study(name):
        values = [ways[name](m, times) for m, times in found]
        return f"{fit.middle(values):.3f}, {fit.late(values):.3f}"

    def in_step(step, by, last):
        rows = {row[0]: row[1:] for row in rows_over_fastest([times for *_, times in study_of(top, step)], BY)}
        return f"{rows[BY[by]][0]}, {rows[BY[by]][2 if last else 1]}"
    held = "[held-back set](#the-held-back-set), median and largest"
    schedule = [ways["fastest schedule of the layout of the default heuristic of the study"](m, t) for m, t in found]
    return table(["goal", "wanted", "reached"], [
        ["`model` over the fastest, median and 90 %", "1.05, 1.15",
         f"{in_study('model, others fitted')}, each matrix by a model fitted to the others; "
         f"{in_step('joint-2020', 'model', False)} on the 13 matrices"],
        ["`measure` over the fastest, median and 90 %", "1.01, 1.05",
         f"{in_study('`measure` of the study')} in the study; {in_step('joint-2020', 'measure', False)} on the 13 "
         "matrices, since its plans and samples were improved"],
        [f"default plan over the fastest, {held}", "1.10, 1.5", in_step("held-back", "rule", True)],
        [f"`measure` over the fastest, {held}", "1.03, 1.15", in_step("held-back", "measure", True)],
        ["layout and schedule over the schedule alone, median", "1.3",
         f"{fit.middle(schedule):.3f} over schedules of the default plan's layout, which find most; over those of "
         "compressed rows with blocks as arrays, the papers' baseline, [more](reproduction.md#what-holds-on-an-h100)"],
        ["host, default plan and `measure`", "", "[below](#the-host)"]])
