"""Sections about layouts in their fastest schedules, and about the model: of the study of tuning and of the step
joint-2020."""

import functools

import plot_cases

from experiments import printed
from experiments.records import STUDY, kind_of_pattern, origin, ratio, table

OUTER = {"csr": "CSR", "ellr": "ELL", "sell:16": "Sl-16", "sell:32": "Sl-32"}


@functools.cache
def papers_plan(line):
    """(layout as the paper names it, static or dynamic, threads, blocks); None of plans that it does not have."""
    words = dict(w.split("=", 1) for w in line.split() if "=" in w)
    bare = [w for w in line.split() if "=" not in w]
    kind = next((w for w in bare if w in ("static", "dynamic")), None)
    outer = next((OUTER[w] for w in bare if w in OUTER), None)
    inner = {"1:row": "AoS", "all:row": "SoA"}.get(words.get("words"))
    vector = {"1": "AoS", "all": "SoA"}.get(words.get("vectors"))
    if not (kind and outer and inner and vector) or words["lanes"] != "1" or words["unroll"] != "1":
        return None
    return f"{outer}-{inner}-{vector}", kind, int(words["threads"]), int(words["blocks"])


def tuned_plan(line):
    """papers_plan() of searches: these try reads that stream the matrix past caches for a few of the fastest plans
    alone, which says nothing of layouts."""
    return None if "stream" in line.split() else papers_plan(line)


def best_by(times, key):
    best = {}
    for t, plan in times:
        best[key(plan)] = min(best.get(key(plan), float("inf")), t.seconds)
    return best


class Joint:
    """What a matrix says about layout and schedule."""

    def __init__(self, case):
        times = case.times()
        theirs = [(t, p) for t in times if (p := tuned_plan(t.name))]
        self.layouts = best_by(theirs, lambda p: p[0])
        self.reference = self.layouts.get("CSR-AoS-AoS")
        self.of_paper = min(self.layouts, key=self.layouts.get, default=None)
        self.best = min(times, key=lambda t: t.seconds)
        of_best = [(t, p) for t, p in theirs if p[0] == self.of_paper]
        kinds = best_by(of_best, lambda p: p[1])
        self.dynamic = kinds["static"] / kinds["dynamic"] if {"static", "dynamic"} <= kinds.keys() else None
        self.spread = {k: max(all_) / min(all_) for k in ("static", "dynamic")
                       if (all_ := [t.seconds for t, p in of_best if p[1] == k])}

    def has_rows_and_slices(self):
        return all(f"{outer}-{inner}-AoS" in self.layouts for outer in OUTER.values() if outer != "ELL"
                   for inner in ("AoS", "SoA"))

    def has_all_vectors(self):
        return any(layout.endswith("-SoA") for layout in self.layouts)

    def tried(self):
        """How many of the papers' layouts the search has: all, or those of PETSc's vectors."""
        return (4 if self.has_all_vectors() else 2) * len(OUTER)

    def is_whole(self):
        return len(self.layouts) == self.tried()

    def gain(self):
        return self.reference / self.layouts[self.of_paper]

    def our_gain(self):
        return self.reference / self.best.seconds


DOUBLE, SINGLE = "joint-2020", "joint-2020-single"


@functools.cache
def joints(source, step=DOUBLE):
    """Of the papers' matrices."""
    return [(m, case, j) for m, case in source.joint(step) if (j := Joint(case)).reference and j.of_paper]


@functools.cache
def studied(source):
    """Of the matrices of the study."""
    return [(case, j) for case in source.study if (j := Joint(case)).reference and j.of_paper]


KINDS = (("2x2", "complex"), ("4x4", "quaternion"), ("3x3", "3x3"))


def rows_of_layouts(source):
    rows = []

    def add(name, case, j, precision, theirs="-", theirs_dynamic="-"):
        if not j.is_whole():
            name += f"; {len(j.layouts)} of {j.tried()} layouts were timed"
        gains = [("" if j.is_whole() else "at least ") + ratio(value) for value in (j.gain(), j.our_gain())]
        rows.append([name, dict(KINDS).get(case.block(), case.block()), precision, theirs, j.of_paper, gains[0],
                     plot_cases.words_of(j.best.name)[1], gains[1], ratio(j.dynamic), theirs_dynamic])

    for step, precision, layout in ((DOUBLE, "double", 2), (SINGLE, "single", 0)):
        for m, case, j in joints(source, step):
            theirs = printed.GP100[m.name]
            add(f"{m.name} ({kind_of_pattern(m, case.data)})", case, j, precision,
                f"{theirs[layout]} {theirs[layout + 1]:.2f}", "yes" if theirs[4] == precision else "-")
    for case, j in studied(source):
        if case.block() in dict(KINDS):
            add(case.get("description").removesuffix(" nodes"), case, j, case.get("precision"))
    return rows


def has_all_vectors(source):
    """Whether the search of joint-2020 had all layouts of vectors, and of any padding."""
    return any(j.has_all_vectors() for _, _, j in joints(source))


def words_of_search(source):
    of_petsc = "ectors are arrays of structures, as PETSc's are: 8 of their 16 layouts, 960 of 1,920 plans"
    streamed = (
        "The search tries reads that stream the matrix past caches for a few of the fastest plans; the papers' layouts "
        "are without. "
    )
    left_out = (
        "*At least*: the search left layouts out whose products read a third more than the default plan's, which it no "
        "longer does; either gain may be larger, and the best another one."
    )
    if has_all_vectors(source):
        return (
            "The 13 matrices have all 16 layouts, 1,920 plans in each precision: vectors as arrays of structures, as "
            "PETSc's are, and as structures of arrays, and layouts of any padding, of which users have those of up to "
            f"4 slots an entry. In the other rows v{of_petsc}. {streamed}{left_out}"
        )
    return (
        f"V{of_petsc}; `cusparse-double` has all 16 by one schedule. {streamed}Layouts of more than 4 slots an entry "
        "(ELLPACK of RFdevice, fem_filter, mono_500Hz) are left out of the search, as they are for users. " + left_out
    )


def section_layouts(source):
    done = source.runs(DOUBLE)
    return [
        "## Layout beyond schedule (2019, tables 1 to 6; 2020, tables 2 to 8)",
        "",
        "The gain over schedules alone: the fastest of all threads, blocks, static and dynamic schedules of CSR with "
        "entries and vectors as arrays of structures (CSR-AoS-AoS), over the fastest of the papers' layouts, and of "
        "all plans here. *Static over dynamic*: times of the fastest plans of",
        "either schedule in the papers' best layout, most by three samples each, so a few per cent are noise; above 1 "
        "dynamic is faster. The paper's are of a Quadro GP100 in the row's precision, its columns last and fourth. "
        f"{words_of_search(source)} A GP100 has 56 multiprocessors, an {source.short_name()} "
        f"{source.device('multiprocessors')}.",
        "",
        *(origin(source, DOUBLE, "cuda") if done
          else ["The 13 matrices: " + origin(source, DOUBLE, "cuda")[0]
                + " Until then those of the study of tuning speak, which are no stand-ins for them:"]),
        *origin(source, SINGLE, "cuda"),
        f"The other rows: `docs/reproduction/tuning-study-h200.json.xz`, {source.study[0].study['device']}, "
        f"{source.study[0].study['date']} ([tuning.md](tuning.md#the-study)).",
        "",
        *table(["matrix", "entry", "precision", "paper", "papers' best layout here", "gain", "best of all", "gain",
                "static over dynamic", "dynamic in the paper"], rows_of_layouts(source)),
    ]


# The model.


@functools.cache
def model_errors():
    """By layout: sorted relative errors of plans of matrices, by models fitted to the others."""
    errors = {}
    for name, measured, predicted in plot_cases.predictions(plot_cases.cases_of(STUDY)):
        errors.setdefault(name, []).append(abs(predicted / measured - 1))
    return {name: sorted(all_) for name, all_ in sorted(errors.items())}


def per_cent(all_):
    return [f"{100 * v:.1f}" for v in (sum(all_) / len(all_), plot_cases.middle(all_), max(all_))]


def footprint_choice(case):
    """Time of the fastest plan of the layout of the fewest bytes over the fastest of all; None where it was not
    timed."""
    times = case.times()
    fastest = min(t.seconds for t in times)
    for row in sorted((r for r in case.get("analysis", "layouts") if "bytes" in r), key=lambda r: r["bytes"]):
        these = [t.seconds for t in times if row["layout"] in t.name.split()]
        if these:
            return min(these) / fastest
    return None


def section_model(source):
    errors = model_errors()
    rows = [[f"the paper, {gpu}", "BELLPACK", *numbers] for gpu, numbers in printed.MODEL.items()]
    rows += [["this plugin, H200", f"`{name}`, {len(all_)} plans", *per_cent(all_)] for name, all_ in errors.items()]
    fit = plot_cases.sibling("fit-model")
    study = [fit.Matrix(c.data, fit.device_table(fit.TABLES, c.study)[1]) for c in source.study]
    chosen = []
    for m, times in fit.by_the_others(study):
        best = min(times, key=times.get)
        chosen.append(m.of_best(best if times[best] * fit.PROMISES < times[m.rule] else m.rule))
    least = [f for c in source.study if (f := footprint_choice(c))]

    def choice(v):
        return [f"{100 / plot_cases.middle(v):.1f}", f"{100 * sum(1 / x for x in v) / len(v):.1f}",
                            f"{100 / max(v):.1f}", f"{sum(x <= 1.03 for x in v)} of {len(v)}"]

    return [
        "## Whether a model predicts (2010, figures 10 to 13 and section 6.7)",
        "",
        "The paper's model counts iterations of thread blocks with parameters from dense matrices in BELLPACK on the "
        "same GPU; this plugin's ([tuning.md](tuning.md#the-model)) sums ten times that are fitted to recorded "
        "products of other matrices, and bounds them from below by a thread's time for the longest row. Errors of "
        "predicted times, per cent:",
        "",
        *table(["model", "plans", "mean", "median", "largest"], rows),
        "",
        "Speed of the plan taken over that of the fastest of all, per cent (paper: tuned over exhaustive, 8 matrices, "
        "5 near the best, the others 86.5 at the mean and 92.6 at the median; for the least footprint they say that "
        "results are mixed):",
        "",
        *table(["taken by", "median", "mean", "least", "within 3 %"],
               [["the model, fitted to the other 33 matrices", *choice(chosen)],
                ["the layout of the fewest bytes, in its fastest schedule", *choice(least)]]),
        "",
        "`docs/reproduction/tuning-study-h200.json.xz`.",
    ]
