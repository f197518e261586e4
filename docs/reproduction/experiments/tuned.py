"""Blocks tuned for a matrix, and two models that choose them (2010, figures 2, 5 and 10 to 13)."""

import math
import re

import plot_cases

from experiments import matrices
from experiments.records import figures, kind_of_pattern, origin, picture, ratio, table
from experiments.steps import SCALARS

STEP = "tuned-2010"
WORDS = {"float": "single", "double": "double"}


class Choice:
    """A block size with a plan: what two models say, and what it takes."""

    def __init__(self, case, plan, is_default):
        self.block, self.is_default, self.seconds = case["block"], is_default, plan["median_s"]
        self.bytes, self.ours, self.choi, self.work = (plan.get(m) for m in ("copy_bytes", "predicted_s", "choi_s",
                                                                            "work"))
        self.height = int(found[1]) if (found := re.search(r"bellpack:(\d+)", plan["plan"])) else 0
        a = case["analysis"]
        self.thread_blocks = math.ceil(a["block_rows"] / self.height) if self.height else 0
        self.blocks_of_thread = (plan["padding"] * a["blocks"] / (self.thread_blocks * self.height)
                                 if self.thread_blocks else 0)
        self.kernel = f"{self.block} {plan['plan']}"

    def name(self):
        return f"{self.block}, {self.height}" if self.height and not self.is_default else self.block


def choices(run):
    """Those of Choi's kernels, and those by default, of all block sizes of one run."""
    found = []
    for case in run["cases"]:
        for plan in case["plans"]:
            is_default = plan["plan"] == case["analysis"]["rule"]
            if "choi_s" in plan or is_default:
                found.append(Choice(case, plan, is_default and "choi_s" not in plan))
    return found


class Tuned:
    """One matrix in one precision."""

    def __init__(self, m, scalar, run, library):
        self.m, self.scalar, self.run = m, scalar, run
        all_ = choices(run)
        self.theirs = [c for c in all_ if c.choi is not None]
        self.default = [c for c in all_ if c.is_default]
        self.best = min(self.theirs, key=lambda c: c.seconds)
        self.best_of_all = min(all_, key=lambda c: c.seconds)
        self.by_choi = min(self.theirs, key=lambda c: c.choi)
        self.by_ours = min(self.theirs, key=lambda c: c.ours)
        self.least_bytes = min(self.theirs, key=lambda c: (c.bytes, -c.height))
        case = library["cases"][0] if library else None
        self.entries = case["blocks"] if case else None
        self.library = min((c["median_s"] for c in case["candidates"] if c["kind"] == "cusparse"), default=None) \
            if case else None

    def of_best(self, choice):
        return self.best.seconds / choice.seconds

    def found(self, key):
        """The default plan of a block size, chosen by -mat_compound_block_size find with what follows it."""
        return min(self.default, key=key)

    def gflops(self):
        return None if self.entries is None else 2e-9 * self.entries / self.best.seconds


def tuned(source):
    runs = source.runs(STEP)
    return [Tuned(m, scalar, runs[name], runs.get(f"{name}-cusparse")) for scalar in SCALARS for m in matrices.FEM
            if (name := f"{m.name}-{scalar}") in runs]


def dense_runs(source):
    return {scalar: run for scalar, run in source.runs("model-2010").items() if scalar in SCALARS}


def mean(values):
    return sum(values) / len(values)


def errors_in_words(errors):
    """Mean, median, 90 % and largest, per cent."""
    ordered = sorted(errors)
    return [f"{100 * v:.1f}" for v in (mean(ordered), plot_cases.middle(ordered),
                                       ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], ordered[-1])]


def seconds_by_choi(parameters, choice):
    """As ChoiKernel::seconds() in plugin/tools/tune/choi.cpp, equations 1, 3 and 18 to 21; None of another kernel."""
    k = parameters["kernels"].get(choice.kernel)
    if not k:
        return None
    m, n, wave = parameters["multiprocessors"], choice.blocks_of_thread, k["at_once"] * parameters["multiprocessors"]
    first, rounds = k["first_s"] + k["first_block_s"] * n, math.ceil(choice.thread_blocks / wave)
    if rounds <= 1:
        return first + k["held_s"] * n * (math.ceil(choice.thread_blocks / m) - 1)
    held, following = k["held_s"] * n * (k["at_once"] - 1), k["next_block_s"] * n
    rest = choice.thread_blocks % wave or wave
    return first + held + (rounds - 2) * (following + held) + following + k["held_s"] * n * ((rest - 1) // m)


def fitted_to(some):
    """Seconds of the sums of this plugin's model, by least squares of the relative errors, none below 0."""
    fit = plot_cases.sibling("fit-model")
    return fit.fitted([fit.normal_equations((c.work, c.seconds, c.seconds**-2) for c in some)])


def predicted_by(seconds, choice):
    return sum(s * w for s, w in zip(seconds, choice.work))


def of_other_device(source):
    """Which one it is, and when its parameters were measured."""
    other = source.records["second"].get("choi")
    if not other:
        return ""
    days = sorted(k["date"][:10] for k in other["kernels"].values())
    return (f"The other device is an {other['device']}, with parameters of {days[-1]} of {len(other['kernels'])} "
            "kernels: the rows of that device have the plans of these kernels. ")


def error_rows(source):
    """Of both models on the same products of Choi's kernels: dense matrices, then those of finite elements."""
    other = source.records["second"].get("choi")
    rows = []
    fem = {scalar: [c for t in tuned(source) if t.scalar == scalar for c in t.theirs] for scalar in SCALARS}
    for scalar, run in dense_runs(source).items():
        small, large = split_by_size(run)
        ours = fitted_to(small)
        for words, some in ((f"dense, 32 MB, {WORDS[scalar]}", large), (f"8 matrices, {WORDS[scalar]}", fem[scalar])):
            if not some:
                continue
            of = {"Choi's, of this device": [c.choi for c in some],
                  "Choi's, of the other device": [seconds_by_choi(other, c) for c in some] if other else [],
                  "this plugin's, as it is built in": [c.ours for c in some],
                  "this plugin's, fitted to dense ones of 8 MB": [predicted_by(ours, c) for c in some]}
            for model, seconds in of.items():
                errors = [abs(s / c.seconds - 1) for s, c in zip(seconds, some) if s is not None]
                if errors:
                    rows.append([words, model, len(errors), *errors_in_words(errors)])
    return rows


def split_by_size(run):
    """The kernels' times on the smaller and on the larger dense matrices of a run."""
    of_block = {}
    for case in run["cases"]:
        of_block.setdefault(case["block"], []).append(case)
    small, large = [], []
    for cases in of_block.values():
        ordered = sorted(cases, key=lambda c: c["analysis"]["blocks"])
        for part, case in ((small, ordered[0]), (large, ordered[-1])):
            part += [c for c in choices({"cases": [case]}) if c.choi is not None]
    return small, large


def rows_of_tuned(source, scalar):
    rows = []
    for t in tuned(source):
        if t.scalar != scalar:
            continue
        rows.append([t.m.name, kind_of_pattern(t.m, t.run["cases"][0]), t.best.name(), figures(t.gflops()),
                     ratio(t.library / t.best.seconds if t.library else None), t.by_choi.name(),
                     ratio(t.of_best(t.by_choi)), t.by_ours.name(), ratio(t.of_best(t.by_ours)), t.least_bytes.name(),
                     ratio(t.of_best(t.least_bytes))])
    return rows


WAYS = (("`find` (bytes)", lambda c: c.bytes), ("`find:model`", lambda c: c.ours),
        ("`find:measure`", lambda c: c.seconds))


def rows_of_finding(source):
    rows = []
    for scalar in SCALARS:
        some = [t for t in tuned(source) if t.scalar == scalar]
        for words, key in WAYS:
            speeds = [t.best_of_all.seconds / t.found(key).seconds for t in some if t.default]
            if speeds:
                rows.append([f"{words}, {WORDS[scalar]}", f"{mean(speeds):.3f}", f"{plot_cases.middle(speeds):.3f}",
                             f"{min(speeds):.3f}"])
    return rows


def section_tuned(source):
    found = tuned(source)
    lines = [
        "## Blocks tuned for a matrix (2010, figures 2, 5 and 13)",
        "",
        "The paper's search: all 11 block sizes and 4 slice heights R of its kernel (BELLPACK, a thread a block row, R "
        "threads a block), on matrices of finite elements with 3 unknowns a node, given as single scalars and cut into "
        "even blocks. *Best*: the fastest of the 44, in GFLOPS of the scalars that are not filled in, over the fastest "
        "of cuSPARSE's CSR and sliced ELL (the paper: 1.3 to 1.8 in single and 1.1 to 1.5 in double precision). *By "
        "their model* and *by this plugin's*: speed of what each predicts to be the fastest, over that of the best "
        "(the paper, by its model: near the best in 5 of 8 cases, the others 0.865 at the mean). *Fewest bytes*: "
        "section 6.7. "
        "Predictions are made before anything of a matrix is timed. " + origin(source, STEP, "cuda")[0],
    ]
    for scalar in SCALARS:
        if rows := rows_of_tuned(source, scalar):
            lines += ["", *table([f"matrix, {WORDS[scalar]}", "pattern", "best", "GFLOPS", "over cuSPARSE",
                                  "by their model", "of the best", "by this plugin's", "of the best", "fewest bytes",
                                  "of the best"], rows)]
    if found:
        ways = [("their model", [t.of_best(t.by_choi) for t in found]),
                ("this plugin's", [t.of_best(t.by_ours) for t in found]),
                ("the fewest bytes", [t.of_best(t.least_bytes) for t in found])]
        lines += ["", "All of them: " + "; ".join(
            f"by {words} {mean(v):.3f} of the best at the mean, {plot_cases.middle(v):.3f} at the median, {min(v):.3f} "
            f"at least, within 3 % in {sum(x >= 0.97 for x in v)} of {len(v)}" for words, v in ways) + "."]
        lines += ["", "What `-mat_compound_block_size find` leads to: the speed of the default plan in the block size "
                  "that is taken, over that of the fastest of the default plans of all sizes and the 44:", "",
                  *table(["way", "mean", "median", "least"], rows_of_finding(source))]
    if rows := error_rows(source):
        lines += ["", "### Both models on the same products (2010, figures 10 to 12)", "",
                  "Errors of predicted times of these kernels, per cent. Parameters of Choi's model are of dense "
                  "matrices in the same kernels, other ones than these (equations 13 to 17; T by the number of blocks "
                  "of threads that run at once, equation 12). Nothing of the 8 matrices went into either model. "
                  + of_other_device(source) + origin(source, "model-2010", "cuda")[0], "",
                  *table(["products", "model", "plans", "mean", "median", "90 %", "largest"], rows)]
    return lines + picture("model-dense")
