"""Sections about schedules, and about layout and schedule one after the other: of the study of tuning and of the step
joint-2020."""

import collections
import functools

import plot_cases

from experiments import printed, times
from experiments.layouts import has_all_vectors, joints, studied, tuned_plan
from experiments.records import figures, kind_of_pattern, origin, over_range, picture, ratio, source_of, table

REFERENCE = "CSR-AoS-AoS"
DEFAULT = ("static", 128, 8)  # the one schedule of the steps cusparse-*

Choice = collections.namedtuple("Choice", "layout kind threads blocks")


class Separately:
    """Of a matrix: what it costs to tune the papers' layouts and schedules one after the other, or threads of a
    multiprocessor alone. Times over the fastest of all."""

    def __init__(self, case):
        self.times = {Choice(*choice): t.seconds for t in case.times() if (choice := tuned_plan(t.name))}
        self.best = min(self.times, key=self.times.get)

    def over_best(self, choice):
        return self.times[choice] / self.times[self.best]

    def fastest(self, fits):
        return min((c for c in self.times if fits(c)), key=self.times.get)

    def schedule_first(self):
        """The fastest schedule of CSR, then the fastest layout in it."""
        schedule = self.fastest(lambda c: c.layout == REFERENCE)[1:]
        return self.over_best(self.fastest(lambda c: c[1:] == schedule))

    def layout_first(self):
        """The fastest layout in one schedule, then the fastest schedule of it."""
        layout = self.fastest(lambda c: c[1:] == DEFAULT).layout
        return self.over_best(self.fastest(lambda c: c.layout == layout))

    def threads_alone(self, which):
        """One pair for each number of threads on a multiprocessor: that of `which`, min or max, threads a block."""
        pairs = collections.defaultdict(list)
        for c in self.times:
            if c.layout == self.best.layout:
                pairs[c.threads * c.blocks, c.kind].append(c)
        return min(self.over_best(which(all_, key=lambda c: c.threads)) for all_ in pairs.values())

    def threads_of_fastest(self, layout):
        """On a multiprocessor, of static schedules."""
        c = self.fastest(lambda c: c.layout == layout and c.kind == "static")
        return c.threads * c.blocks


@functools.cache
def separately(source):
    """Of the papers' matrices."""
    return [(m, Separately(case)) for m, case, _ in joints(source)]


def loss(value):
    return f"{100 * (value - 1):.1f}"


def section_schedules(source):
    all_ = [j for *_, j in [*joints(source), *studied(source)]]
    spread = {k: plot_cases.middle([j.spread[k] for j in all_ if k in j.spread]) for k in ("static", "dynamic")}
    dynamic = [j.dynamic for j in all_ if j.dynamic]
    return [
        f"## Threads and blocks ({printed.figures_of('threads and blocks')})",
        "",
        "Median of the matrices of the study ([tuning.md](tuning.md#the-study)), over the fastest of either schedule:",
        *picture("schedules"),
        "",
        "The slowest over the fastest of 60 pairs of threads and blocks, in the papers' best layout of each matrix, "
        f"median of {len(all_)} matrices: {spread['static']:.2f} of static schedules, {spread['dynamic']:.2f} of "
        "dynamic",
        "ones (screened: three samples, one of slow plans). The paper finds dynamic schedules the more sensitive "
        f"ones, and the faster ones in 24 of 78 cases (31 %); here they are faster in {sum(d > 1 for d in dynamic)} of "
        f"{len(dynamic)}, by more than 3 % in {sum(d > 1.03 for d in dynamic)}.",
        *of_one_matrix(source),
    ]


def of_one_matrix(source):
    """The matrix of the paper's figure 1."""
    found = [s for m, s in separately(source) if m.name == "NX_MotorH67k"]
    if not found:
        return []
    layouts = ("CSR-AoS-AoS", "ELL-SoA-AoS")
    threads = [found[0].threads_of_fastest(layout) for layout in layouts]
    return [
        "",
        "The paper's figure 1 has two layouts of NX_MotorH67k in static schedules: CSR is fastest with far fewer "
        "threads on a multiprocessor than ELLPACK. Here, with the stand-in of the table above, "
        f"{layouts[0]} is fastest with {threads[0]} threads, {layouts[1]} with {threads[1]}:",
        *picture("schedules-of-two"),
    ]


def section_separately(source):
    found = separately(source)
    if not found:
        return ["## Layout and schedule, one after the other (2020, section 5.4)", "", *origin(source, "joint-2020",
                                                                                               "cuda")]
    ways = ((Separately.schedule_first, "schedule first"), (Separately.layout_first, "layout first"),
            (lambda s: s.threads_alone(min), "fewest threads a block"),
            (lambda s: s.threads_alone(max), "most threads a block"))
    rows = [[m.name, s.best.layout, *(loss(way(s)) for way, _ in ways)] for m, s in found]
    middle = ["median", "", *(loss(plot_cases.middle([way(s) for _, s in found])) for way, _ in ways)]
    most = ["most", "", *(loss(max(way(s) for _, s in found)) for way, _ in ways)]
    return [
        "## Layout and schedule, one after the other (2020, section 5.4)",
        "",
        "The paper tunes both together, because the fastest threads and blocks of one layout are not those of another. "
        "The table has what is lost otherwise, in per cent of the time of the fastest of all. *Schedule first*: the "
        "fastest schedule of CSR-AoS-AoS, and then the fastest layout in it. *Layout first*: the fastest layout in "
        "static schedules of 128 threads and 8 blocks, and then its fastest schedule. The paper's outlook is to tune "
        "the number of threads on a multiprocessor alone: 15 numbers in place of 60 pairs. The last two columns do so, "
        "in the fastest layout, with the fewest or the most threads a block. The matrices are those of the table "
        "above, with their stand-ins; most times are of three samples.",
        "",
        *table(["matrix", "fastest layout", *(name for _, name in ways)], rows + [middle, most]),
        "",
        f"So the paper's advice holds here: schedule first loses up to {most[2]} %, layout first up to {most[3]} %.",
        "",
        *origin(source, "joint-2020", "cuda"),
    ]


def section_tuned(source):
    """The tuned bars of the paper's figure, all of one device."""
    if source.file_of("joint-2020") not in (None, source.gpu):
        source = source_of(source.file_of("joint-2020"))
    vendors = {m.name: b.vendor for m, b in times.beside_cusparse(source, "cusparse-double")}
    rows, speeds = [], {"theirs": [], "ours": []}
    for m, case, j in joints(source):
        vendor = vendors.get(m.name)
        if not vendor:
            continue
        of_all = [vendor["median_s"] / seconds for seconds in
                  (j.reference, j.layouts[j.of_paper], j.best.seconds)]
        rows.append([m.name, kind_of_pattern(m, case.data), vendor["name"], times.micro(vendor), ratio(of_all[0]),
                     j.of_paper, ratio(of_all[1]), plot_cases.words_of(j.best.name)[1],
                     figures(1e6 * j.best.seconds), ratio(of_all[2])])
        speeds["theirs"].append(of_all[1])
        speeds["ours"].append(of_all[2])
    if not rows:
        return []
    which = "all 16" if has_all_vectors(source) else "8 of 16: those of PETSc's vectors"
    return [
        f"## Tuned plans beside cuSPARSE ({printed.newest_figure_of('over cusparse, double')})",
        "",
        "Speed over the fastest call of cuSPARSE on the same matrix, in double precision, where schedules are tuned: "
        f"of CSR-AoS-AoS, of the papers' layouts ({which}), and of all plans here. cuSPARSE's "
        f"times are of `cusparse-double`, the plans' of `joint-2020`: two runs of an {source.short_name()}, so a few "
        f"per cent are noise. The papers' layouts have {over_range(speeds['theirs'])}, all plans "
        f"{over_range(speeds['ours'])}.",
        "",
        *table(["matrix", "pattern", "cuSPARSE's fastest", "us", "CSR-AoS-AoS", "papers' best layout", "its speed",
                "best of all", "us", "its speed"], rows),
        *picture("cusparse-tuned"),
    ]
