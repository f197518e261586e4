"""What of the papers holds, in eleven lines at most. Every number of ours is computed from the records; a step that has
none says so."""

import plot_cases

from experiments import layouts, matrices, memory, printed, schedules, times, tuned
from experiments.records import is_exact, over_range, ratio, source_of, spread_of, table


def listed(names):
    return ", ".join(names) or "none"


def not_run(step):
    return f"*Not known yet*: what needs the step `{step}` on a device."


def is_padded(layout):
    return layout.startswith(("ELL", "Sl"))


# A line each.


def of_layouts(source):
    found = [(m, b) for m, b in times.beside_cusparse(source, "cusparse-double") if b.gain()]
    if not found:
        return not_run("cusparse-double")
    theirs = {m.name: printed.GP100[m.name][2:4] for m in matrices.COMPOUND}

    def gains(entry):
        ours = spread_of(b.gain() for m, b in found if m.entry == entry)
        return f"{ours} ({spread_of(theirs[m.name][1] for m in matrices.COMPOUND if m.entry == entry)})"

    return (
        "*Layout pays beyond schedule*: by the best of all 16 layouts in one static schedule complex "
        f"{gains('complex')}, quaternion {gains('quaternion')}, 3x3 {gains('dense')}; in brackets a GP100's, of tuned "
        "schedules. "
        f"ELLPACK and slices are best for {sum(is_padded(b.layout) for _, b in found)} of {len(found)} (there "
        f"{sum(is_padded(layout) for layout, _ in theirs.values())} of {len(theirs)})."
    )


def of_search(source):
    found = [j for _, _, j in layouts.joints(source)]
    if not found:
        return not_run("joint-2020")
    of_all = (
        f"by all plans of this plugin {{}}{spread_of(j.our_gain() for j in found)}, "
        f"{plot_cases.middle([j.our_gain() for j in found]):.2f} at the median of all."
    )
    single = [j for _, _, j in layouts.joints(source, layouts.SINGLE)]
    in_single = (
        f" In single precision {spread_of(j.gain() for j in single)}, and {spread_of(j.our_gain() for j in single)}, "
        f"{plot_cases.middle([j.our_gain() for j in single]):.2f} at the median." if single else ""
    )
    if all(j.is_whole() for j in found + single):
        return (
            f"*With schedules tuned too* it still does: by the papers' {found[0].tried()} layouts "
            f"{spread_of(j.gain() for j in found)}; {of_all.format('')}{in_single}"
        )
    nearly = [j.gain() for j in found if j.has_rows_and_slices()]
    of_papers = (
        f"at least {spread_of(nearly)} for the {len(nearly)} of {len(found)} matrices that all layouts but ELLPACK "
        "were timed of; " if nearly else ""
    )
    return f"*With schedules tuned too* it still does: {of_papers}{of_all.format('at least ')}"


def of_dynamic(source):
    found = [(m, j.dynamic) for m, _, j in layouts.joints(source) if j.dynamic]
    if not found:
        return not_run("joint-2020")
    wins = [f"{m.name} ({100 * (d - 1):.0f} % faster)" for m, d in found if d > 1]
    losses = [100 * (1 / d - 1) for _, d in found if d <= 1]
    return (
        f"*Static seldom loses to dynamic*: for {len(wins)} of {len(found)}, {listed(wins)}; for the others an atomic "
        f"counter costs {spread_of(losses, '{:.0f}')} % (the papers: dynamic wins in 24 of 78 cases)."
    )


def speeds(source, step):
    found = [(m.name, b.speed()) for m, b in times.beside_cusparse(source, step) if b.speed()]
    if not found:
        return "not known yet"
    below = [f"{name} {speed:.2f}" for name, speed in found if speed < 1]
    return (
        f"{plot_cases.middle([s for _, s in found]):.2f} times its speed at the median, "
        f"{spread_of(s for _, s in found)} (below 1: {listed(below)})"
    )


def of_cusparse(source):
    return (
        "*Beside cuSPARSE's fastest call* the default plan of the record, [mended since](tuning.md#the-study), has, "
        f"in double precision, {speeds(source, 'cusparse-double')}; in single {speeds(source, 'cusparse-single')}. The "
        "paper: up to 2.8 and 4.7, complex numbers below 1."
    )


def words_of_theirs():
    return "{} % and {} %".format(*printed.MODEL["C1060"])


def of_model(source):
    sparse = sorted(e for all_ in layouts.model_errors().values() for e in all_)
    found = tuned.tuned(source)

    def words(errors):
        return "{} % and {} %".format(*tuned.errors_in_words(errors))

    def errors(seconds):
        return [abs(seconds(c) / c.seconds - 1) for t in found for c in t.theirs]

    of_choi = (
        "; of BELLPACK's products on 8 matrices of finite elements, which neither was fitted to, this one "
        f"{words(errors(lambda c: c.ours))}, that of 2010 {words(errors(lambda c: c.choi))}" if found else ""
    )
    return (
        "*A model predicts sparse matrices* that it has not seen (errors at the mean and the median "
        f"{words(sparse)}{of_choi}; the paper, of dense ones alone, {words_of_theirs()}). The fewest bytes are no "
        "substitute."
    )


def of_tuned(source):
    found = tuned.tuned(source)
    if not found:
        return not_run(tuned.STEP)

    def of_best(choice):
        return tuned.mean([t.of_best(choice(t)) for t in found])

    def speeds(scalar):
        return over_range([t.library / t.best.seconds for t in found if t.library and t.scalar == scalar])

    return (
        "*Block sizes are worth choosing*: BELLPACK in the best of 11 sizes and 4 heights, on 8 matrices of finite "
        f"elements, has {speeds('float')} of cuSPARSE's speed in single precision (1.3 to 1.8) and {speeds('double')} "
        f"in double (1.1 to 1.5). Taken by the model of 2010 it is {of_best(lambda t: t.by_choi):.2f} of the best at "
        f"the mean, by this plugin's {of_best(lambda t: t.by_ours):.2f}, by the fewest bytes "
        f"{of_best(lambda t: t.least_bytes):.2f}."
    )


def of_blocks(source):
    found = times.dense_blocks(source)
    if not found:
        return not_run("blocks-2010")
    rows = [b.case["block_rows"] for b in found]
    better = [v for b in found if (v := b.speed(b.block_rows()))]
    return (
        f"*BELLPACK loses on a dense matrix* of 4 million scalars: {spread_of(b.speed(b.bellpack()) for b in found)} "
        "of cuSPARSE's speed, as "
        f"{spread_of(rows, '{:,}')} block rows, a thread each, are few of the "
        f"{times.most_threads(source):,} that an {source.short_name()} runs at once. Block rows, a warp each, have "
        f"{spread_of(better)}, "
        f"above 1 in {sum(v > 1 for v in better)} of {len(better)} cases."
    )


def quotient(source, step, name, above, below):
    case = source.case(step, name)
    of = {c["asked"]: c.get("bytes") for c in case["counted"]} if case else {}
    return of[above] / of[below] if of.get(above) and of.get(below) else None


def of_memory(source):
    exact = [(m, c) for m in matrices.COMPOUND if (c := source.case("memory-2020", m.name)) and is_exact(m, c)]
    pairs = [pair for m, c in exact for pair in memory.ratios(m, c) if pair[0]]
    hdia = [quotient(source, "memory-2015", m.name, "hdia:32", "sell:32") for m in matrices.PDE]
    return (
        "*Memory is as printed* where the pattern is here: CSR of all 13 matrices by the paper's sizes, "
        f"{sum(theirs == ours for theirs, ours in pairs)} of {len(pairs)} ratios of those whose patterns are here "
        f"({listed(m.name for m, _ in exact)}), and diagonals over slices on pde50 to pde100: {spread_of(hdia)} (0.65 "
        "to 0.70)."
    )


def of_formats(source):
    found = times.formats(source)
    hdia = {f.m.name: f.hdia_over_vendor() for f in found if f.hdia_over_vendor()}
    if not hdia:
        return not_run("formats-2015")
    exact = {f.m.name: is_exact(f.m, f.case) for f in found}
    refused = [f.m.name for f in found if f.m.name not in hdia]

    def theirs(name):
        return f" (the paper: {ratio(t[1] / t[4])})" if (t := printed.TABLE_8[name])[4] and t[1] else ""

    def won(of_exact):
        values = [v for name, v in hdia.items() if exact[name] == of_exact and v >= 1]
        return f"{spread_of(values)} for {len(values)} of {sum(e == of_exact for e in exact.values())}"

    lost = [f"{name} {v:.2f}{theirs(name)}" for name, v in hdia.items() if v < 1]
    lanes = [(f.m.name, f.best_lanes(layout)) for f in found for layout in times.OF_LANES if f.best_lanes(layout)]
    pairs = [t for name in {f.m.name for f in found}
             for t in (printed.TABLE_10[name][0:2], printed.TABLE_10[name][2:4])]
    more = sorted({name for name, n in lanes if n > 1})
    of_refused = f"; its padding is refused for {listed(refused)}" if refused else ""
    return (
        f"*Diagonals win on grids*: HDIA's speed over that of cuSPARSE's best is {won(True)} exact patterns and "
        f"{won(False)} stand-ins, less for {listed(lost)}{of_refused}. *One thread a row* is best in "
        f"{sum(n == 1 for _, n in lanes)} of {len(lanes)} cases "
        f"(the paper: {sum(one >= two for one, two in pairs)} of {len(pairs)}), two or four for {listed(more)}."
    )


def of_coordinates(source):
    bytes_ = {m.name: quotient(source, "memory-coo", m.name, "ccoo:256:2", "csr") for m in matrices.COORDINATES}
    few = spread_of(quotient(source, "memory-coo", m.name, "ccoo:256:2 codes=scalars8", "csr")
                    for m in matrices.COORDINATES if "stencil" in m.generated)
    smaller = [name for name, r in bytes_.items() if r and r < 0.99]
    speed = [c.over("csr") for c in times.coordinates(source)]
    coded = {again: spread_of(c.csr["median_s"] / c.ordered["median_s"] for c in times.coded(source)
                              if c.repeats() == again) for again in (True, False)}
    return (
        f"*Compressed coordinates win in bytes, not in time*: {spread_of(bytes_.values())} of CSR's bytes (below 0.99 "
        f"for {listed(smaller)}; with values coded {few}), but {spread_of(speed)} of the speed of cuSPARSE's CSR, "
        f"uncoded; coded as in the paper, on an H100, {coded[True]} where values repeat, {coded[False]} where they do "
        "not; the paper, "
        "with repeated values coded: 1.25 to 1.4 at the median."
    )


def of_bicgstab(source):
    found = times.bicgstab(source)
    if not found:
        return not_run("bicgstab-2020")

    def speed(type_, ksp):
        return spread_of(times.over_aijcusparse(of, type_, ksp) for _, of in found)

    coded = spread_of(times.over_aijcusparse(of, "baijcompound", "bcgs")
                      for _, of in times.bicgstab(source, "bicgstab-coded-2020"))
    return (
        f"*BiCGSTAB gains by other means*: over aijcusparse, {len(found)} matrices, "
        f"{speed('baijcompoundccoo', 'bcgs')} with compressed coordinates (the paper, coded: 1.2; coded here, on "
        f"an H100, {coded}), "
        f"{speed('baijcompound', 'bcgs')} with the default plan, "
        f"{speed('baijcompound', 'bcgscompound')} with bcgscompound besides."
    )


def of_order(source):
    found = [s for _, s in schedules.separately(source)]
    if not found:
        return not_run("joint-2020")
    return (
        "*Layout and schedule must be tuned together*: the schedule of compressed rows first, and then the layout, "
        "loses "
        f"up to {schedules.loss(max(s.schedule_first() for s in found))} % of {len(found)} matrices; the layout in one "
        f"schedule first up to {schedules.loss(max(s.layout_first() for s in found))} %. The number of threads on a "
        "multiprocessor alone, with small blocks of threads, loses up to "
        f"{schedules.loss(max(s.threads_alone(min) for s in found))} %."
    )


LINES = (of_layouts, of_search, of_dynamic, of_cusparse, of_model, of_tuned, of_blocks, of_memory, of_formats,
         of_coordinates, of_bicgstab, of_order)


def section_summary(source):
    searched = [str(n) for n, line in enumerate(LINES, 1) if line in (of_search, of_dynamic, of_order)]
    elsewhere = [] if source.file_of("joint-2020") == source.gpu else [
        "", f"The search behind lines {', '.join(searched[:-1])} and {searched[-1]} (`joint-2020`) was run on an "
        f"{source_of('second').short_name()} alone."]
    return [f"## What holds on an {source.short_name()}", "",
            *[f"{n}. {line(source)}" for n, line in enumerate(LINES, 1)], *elsewhere]


# The second GPU.


def speeds_of(step):
    return lambda source: [v for _, b in times.beside_cusparse(source, step) if (v := b.speed())]


def over_aij(type_, ksp):
    return lambda source: [v for _, of in times.bicgstab(source) if (v := times.over_aijcusparse(of, type_, ksp))]


BOTH = (
    ("cusparse-double", "default plan over cuSPARSE's fastest, double", speeds_of("cusparse-double")),
    ("cusparse-single", "the same, single", speeds_of("cusparse-single")),
    ("formats-2015", "HDIA over cuSPARSE's fastest", lambda source: [
        v for f in times.formats(source) if (v := f.hdia_over_vendor())]),
    ("blocks-2010", "BELLPACK on a dense matrix, over cuSPARSE", lambda source: [
        b.speed(b.bellpack()) for b in times.dense_blocks(source)]),
    ("blocks-2010", "block rows on it", lambda source: [b.speed(b.block_rows()) for b in times.dense_blocks(source)]),
    ("coordinates-2020", "compressed coordinates over cuSPARSE's CSR", lambda source: [
        c.over("csr") for c in times.coordinates(source)]),
    ("bicgstab-2020", "BiCGSTAB, default plan, over aijcusparse", over_aij("baijcompound", "bcgs")),
    ("bicgstab-2020", "the same by bcgscompound", over_aij("baijcompound", "bcgscompound")),
)


def section_both(source):
    """Steps that both devices have."""
    other = source_of("second")
    rows = [[words, *(over_range(of(s)) for s in (source, other))] for step, words, of in BOTH
            if all(step in s.records[s.gpu]["steps"] for s in (source, other))]
    if not rows:
        return []
    dates = [max(run["date"][:10] for runs in s.records[s.gpu]["steps"].values() for run in runs.values())
             for s in (source, other)]
    return ["## On two GPUs", "", "Least, most and median over the matrices of a step; the tables below are of the "
            "first. The runs of the second are older.", "",
            *table(["ratio", *(f"{s.device_name()}, {date}" for s, date in zip((source, other), dates))], rows)]
