"""What there is of our own numbers, and text of tables."""

import collections
import functools
import hashlib
import os
import re

import plot_cases

from experiments import matrices, printed
from experiments.steps import not_run

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDS = {"host": os.path.join(HERE, "reproduction-host.json.xz"),
           "cuda": os.path.join(HERE, "reproduction-h100.json.xz"),
           "second": os.path.join(HERE, "reproduction-h200.json.xz")}
STUDY = os.path.join(HERE, "tuning-study-h200.json.xz")
COMMAND = "python3 docs/reproduction/reproduce.py --folder build/reproduction"


# joint-2020 takes long: it was run on the second device alone.
JOINT = RECORDS["second"]

# By docs/reproduction/plot.py. `source`: FILE, FILE:STEP or FILE:STEP:MATRIX, or several; `shown`: what it shows, and
# the paper's figure; `paper`: a value of the paper for each panel.
Picture = collections.namedtuple("Picture", "kind source shown paper", defaults=[()])
PICTURES = {
    "rows": Picture("sparsity", RECORDS["host"] + ":memory-2020",
                    "Lengths of rows and bandwidths (2020, figures 3 and 4)"),
    "schedules": Picture("schedules", STUDY, "Time over threads and blocks, static and dynamic "
                         f"({printed.newest_figure_of('static and dynamic')})"),
    "coordinates-bytes": Picture("footprint", RECORDS["host"] + ":memory-coo",
                                 "Bytes over those of CSR (2020, figure 3)"),
    "cusparse-double": Picture("cusparse", RECORDS["cuda"] + ":cusparse-double",
                               "Speed over the fastest of cuSPARSE, double precision "
                               f"({printed.newest_figure_of('over cusparse, double')})"),
    "cusparse-single": Picture("cusparse", RECORDS["cuda"] + ":cusparse-single",
                               "Speed over the fastest of cuSPARSE, single precision "
                               f"({printed.newest_figure_of('over cusparse, single')})"),
    "cusparse-tuned": Picture("tuned", f"{JOINT}:joint-2020 {JOINT}:cusparse-double",
                              "Tuned plans over the fastest of cuSPARSE, double precision "
                              f"({printed.newest_figure_of('over cusparse, double')})"),
    "schedules-of-two": Picture("two_layouts", JOINT + ":joint-2020:NX_MotorH67k",
                                "Threads and blocks of two layouts, static (2020, figure 1)"),
    "formats": Picture("flops", RECORDS["cuda"] + ":formats-2015",
                       "GFLOPS of formats, 1x1 blocks, double precision (2015, tables 6 to 11)"),
    "coordinates": Picture("flops", RECORDS["cuda"] + ":coordinates-2020",
                           "GFLOPS of compressed coordinates, 1x1 blocks, double precision (2020, figure 4)"),
    "blocks": Picture("flops", RECORDS["cuda"] + ":blocks-2010",
                      "GFLOPS of block sizes, and the paper's best (2010, figures 2 and 5)",
                      [f"{best}:the paper's best (Tesla C1060)"
                       for best in printed.BELLPACK_GFLOPS]),
    "model-dense": Picture("model", RECORDS["cuda"] + ":model-2010",
                           "Predicted and measured times of dense matrices (2010, figures 10 to 12)"),
}


def has_picture(name):
    for source in PICTURES[name].source.split():
        file, _, step = source.partition(".xz:")
        if step and step.partition(":")[0] not in read_records(file + ".xz")["steps"]:
            return False
    return True


def picture(name):
    """Lines of the page: the picture, and what it is of."""
    if not has_picture(name):
        return []
    drawn = PICTURES[name]
    sources = drawn.source.split()
    origin = plot_cases.cases_of(sources[0])[0].origin
    file = os.path.basename(sources[0].partition(".xz:")[0]).removesuffix(".xz") + ".xz"
    steps = [f"`{step}`" for _, step, *_ in (s.rpartition(".xz")[2].split(":") for s in sources if ".xz:" in s)]
    data = f"`docs/reproduction/{file}`"
    if steps:
        data = f"step{'s' if len(steps) > 1 else ''} {' and '.join(steps)} of {data}"
    counted = drawn.kind in ("sparsity", "footprint")
    where = f"counted on the host, {origin['date']}" if counted else f"{origin['device']}, {origin['date']}"
    return ["", f"![{drawn.shown}](images/reproduction-{name}.svg)", "",
            f"*{drawn.shown}; {where}, {data}. Drawn by* `python3 docs/reproduction/reproduce.py --pictures`."]


RULE = ["default_plan.cpp", "device_rule.cpp", "device_policy.cpp", "device_tables.inc"]  # of src/planner


def hash_of_rule():
    """Of the sources that say which plan is taken by default, without what is no code."""
    digest = hashlib.sha256()
    for name in RULE:
        with open(os.path.join(HERE, "../../src/planner", name), encoding="utf-8") as opened:
            digest.update("".join(line.partition("//")[0].strip() for line in opened).encode())
    return digest.hexdigest()[:16]


def younger_predictions(records):
    """Cases whose predictions were made after their times, in words: such a record proves nothing."""
    return [f"{step}: {run}: {case['block']}: predictions of {case['predicted_at']} are younger than the times of "
            f"{case['timed_at']}"
            for step, runs in records["steps"].items() for run, record in runs.items() for case in record["cases"]
            if case.get("timed_at") and case["predicted_at"] > case["timed_at"]]


def older_steps(records):
    """Steps with runs from before the present default heuristic, and how many."""
    rule, found = hash_of_rule(), []
    for step, runs in records["steps"].items():
        older = [run for run, record in runs.items() if "device" in record and record.get("rule") != rule]
        if older:
            found.append(f"{step} ({len(older)} of {len(runs)} runs)")
    return found


def read_records(file):
    return plot_cases.content_of(file) if os.path.exists(file) else {"steps": {}}


class Source:
    """What there is of our own numbers."""

    def __init__(self, gpu="cuda"):
        """`gpu`: whose records come first, of RECORDS."""
        self.gpu = gpu
        self.records = {device: read_records(file) for device, file in RECORDS.items()}
        self.study = plot_cases.cases_of(STUDY)

    def device(self, number):
        """Of the table of its device (src/planner/device_tables.inc)."""
        fit = plot_cases.sibling("fit-model")
        return int(fit.device_table(fit.TABLES, {"device": self.device_name()})[1][number])

    def device_name(self):
        """Of the runs; where there are none, of the study."""
        return next((run["device"] for runs in self.records[self.gpu]["steps"].values() for run in runs.values()
                     if "device" in run), self.study[0].study["device"])

    def short_name(self):
        return re.search(r"[A-Z]+\d+", self.device_name())[0]

    def file_of(self, step):
        """The file of RECORDS that has it: where the device's own has not, the other's."""
        keys = ["host", self.gpu, *(k for k in RECORDS if k not in ("host", self.gpu))]
        return next((key for key in keys if step in self.records[key]["steps"]), None)

    def runs(self, step):
        """By matrix."""
        key = self.file_of(step)
        return self.records[key]["steps"][step] if key else {}

    def case(self, step, name):
        run = self.runs(step).get(name)
        return run["cases"][0] if run else None

    def joint(self, step):
        """(matrix, case) of a search for layout and schedule."""
        file = RECORDS[self.file_of(step) or self.gpu]
        return [(m, plot_cases.Case(file, run["cases"][0], plot_cases.study_times)) for m in matrices.COMPOUND
                if (run := self.runs(step).get(m.name))]


@functools.cache
def source_of(gpu):
    return Source(gpu)


# Text.


def table(head, rows):
    lines = ["| " + " | ".join(str(c) for c in row) + " |" for row in [head, *rows]]
    lines.insert(1, "|" + "---|" * len(head))
    return lines


def figures(value, digits=3):
    """"-" for None; so many digits, never in powers of ten."""
    if value is None:
        return "-"
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e" in text or abs(value) >= 10**digits else text


def spread_of(values, text="{:.2f}"):
    found = [text.format(v) for v in sorted(v for v in values if v)]
    return " to ".join(dict.fromkeys([found[0], found[-1]])) if found else "not known yet"


def over_range(values):
    """Of speeds over another."""
    return f"{min(values):.2f} to {max(values):.2f}, {plot_cases.middle(values):.2f} at the median"


def ratio(value):
    return "-" if value is None else f"{value:.2f}"


def origin(source, step, device="host"):
    """Where a table's numbers are from, or how to get them."""
    file = os.path.basename(RECORDS[source.file_of(step) or device])
    command = f"{COMMAND}{' --device cuda' if device == 'cuda' else ''} --steps {step}"
    runs = source.runs(step)
    if not runs:
        return [f"*Not run yet:* `{command}`."]
    any_ = next(iter(runs.values()))
    where = any_.get("device", "counted, on the host alone")
    missing = not_run(step, runs)
    return [f"`{step}` of `docs/reproduction/{file}`; {where}, {any_['date'][:10]}: `{command}`."
            + (f" Not run: {', '.join(missing)}." if missing else "")]


def is_exact(m, case):
    from_file = case["description"].startswith(m.name + ".mtx")
    return m.exact and (from_file or not m.files)


def kind_of_pattern(m, case):
    if is_exact(m, case):
        return m.about if m.about and not m.files else "exact"
    of_file = case["description"].startswith(m.name + ".mtx")
    return "stand-in: " + (m.about if of_file or not m.files else case["description"])


def quartiles(q):
    return "{least} {lower} {median} {upper} {most}".format(**q)
