"""Writes docs/reproduction.md from the records of config/reproduce.py and the study of tuning. Every number of ours is of one of these."""

import plot_cases
from reproduction import layouts, matrices, memory, times
from reproduction.records import COMMAND, Source, is_exact


def quotient(source, step, name, above, below):
    case = source.case(step, name)
    of = {c["asked"]: c.get("bytes") for c in case["counted"]} if case else {}
    return of[above] / of[below] if of.get(above) and of.get(below) else None


def spread_of(values):
    found = [v for v in values if v]
    return f"{min(found):.2f} to {max(found):.2f}" if found else "not known yet"


def summary_of_layouts(source):
    """Of the papers' matrices where they have been timed, else of the study's."""
    all_ = layouts.joints(source)
    of_papers = [x for x in all_ if x[0]]
    all_ = of_papers or [x for x in all_ if x[1].block() in dict(layouts.KINDS) and x[1].get("precision") == "double" and x[2].is_whole()]
    whose = "The papers' 13 matrices and stand-ins" if of_papers else f"The {len(all_)} matrices of our study in double precision that all of the papers' layouts were timed for, none of them the papers',"
    gains = {name: spread_of(j.gain() for _, c, j in all_ if c.block() == block) for block, name in layouts.KINDS}
    ells = sum(j.of_paper.startswith(("ELL", "Sl")) for _, _, j in all_)
    dynamic = [j.dynamic for _, _, j in of_papers or layouts.joints(source) if j.dynamic]
    return [
        f"*Layout pays beyond schedule.* {whose} gain by the papers' layouts over schedules alone: complex {gains['complex']}, quaternion {gains['quaternion']}, 3x3 {gains['3x3']} (GP100: 1.00 to 1.84, 1.31 to 1.42, 1.18 to 1.67).",
        f"*By all plans of ours* they gain {plot_cases.middle([j.our_gain() for _, _, j in all_]):.2f} at the median, by the papers' layouts {plot_cases.middle([j.gain() for _, _, j in all_]):.2f}.",
        f"*ELLPACK and slices* are the best of the papers' layouts for {ells} of {len(all_)} (GP100: 11 of 13), for the others compressed rows.",
        f"*Static loses to dynamic* in {sum(d > 1 for d in dynamic)} of {len(dynamic)} cases{f', by {100 * (max(dynamic) - 1):.0f} % at most' if max(dynamic) > 1 else ''} (the paper: in 31 %): the atomic counter {'does not pay' if max(dynamic) < 1.1 else 'pays for some'} on an H200.",
    ]


def summary_of_model():
    errors = [e for all_ in layouts.model_errors().values() for e in all_]
    return f"*A model predicts*, but not as well as theirs: errors of {100 * sum(errors) / len(errors):.1f} % at the mean and {100 * plot_cases.middle(errors):.1f} % at the median, of matrices that it has not seen; theirs 3.7 % and 2.7 %, of dense ones. The least footprint is no substitute."


def summary_of_memory(source):
    exact = [(m, c) for m in matrices.COMPOUND if (c := source.case("memory-2020", m.name)) and is_exact(m, c)]
    pairs = [pair for m, c in exact for pair in memory.ratios(m, c) if pair[0]]
    hdia = [quotient(source, "memory-2015", m.name, "hdia:32", "sell:32") for m in matrices.PDE]
    coo = {m.name: quotient(source, "memory-coo", m.name, "ccoo:256:2", "csr") for m in matrices.COORDINATES}
    smaller = [name for name, r in coo.items() if r and r < 0.99]
    return [
        f"*Memory is as printed*: CSR of all 13 matrices by their sizes, and {sum(theirs == ours for theirs, ours in pairs)} of {len(pairs)} ratios of those whose patterns are here ({', '.join(m.name for m, _ in exact) or 'none'}).",
        f"*Diagonals save a third* of the bytes of slices on pde50 to pde100: {spread_of(hdia)} (the paper: 0.65 to 0.70).",
        f"*Compressed coordinates* take {spread_of(coo.values())} of the bytes of CSR in double precision; less than 0.99 for {', '.join(smaller) or 'none'}. With few values they win: {spread_of(quotient(source, 'memory-coo', m.name, 'ccoo:256:2 codes=scalars8', 'csr') for m in matrices.COORDINATES if 'stencil' in m.generated)}.",
    ]


def summary(source):
    lines = summary_of_layouts(source) + [summary_of_model()] + summary_of_memory(source)
    done = [s for s in DEVICE_STEPS if source.runs(s)]
    pending = [s for s in DEVICE_STEPS if s not in done]
    lines.append(f"*Not known yet*: what needs the steps {', '.join(pending)} on a device." if pending else "All steps have been run.")
    return [f"{n}. {line}" for n, line in enumerate(lines, 1)]


DEVICE_STEPS = ["joint-2020", "cusparse-double", "cusparse-single", "formats-2015", "coordinates-2020", "blocks-2010", "bicgstab-2020", "model-2010"]

HEAD = [
    "# The papers' results, once more",
    "",
    "What five papers measured, and what petsc-compound does in the same experiments; [papers.md](papers.md) has what they describe. The page is written by `config/reproduce.py` from records of compound-bench and compound-tune",
    "that are kept in the repository, and a test compares the two. Steps without a GPU, with one, the page alone, its pictures:",
    "",
    f"    {COMMAND} --data DATA",
    f"    {COMMAND} --data DATA --device cuda --seconds 1500",
    "    python3 config/reproduce.py --page",
    "    python3 config/reproduce.py --pictures",
    "",
    "DATA is a folder of meshes and matrices, by the names in `config/reproduction/matrices.py`; without them generated matrices stand in, and the tables say so. An interrupted run goes on where it ended. `--help` lists the steps with",
    "their seconds. Times of papers are of GPUs of 2008 to 2020 and of cuSPARSE's versions of that time, ours of an H200 with CUDA 13: ratios to the same baseline compare, times do not. Matrices of the SuiteSparse collection",
    "that are named as stand-ins cannot be had here.",
    "",
]


def text(source):
    parts = [
        memory.section_matrices(source),
        memory.section_table_9(source),
        layouts.section_layouts(source),
        layouts.section_schedules(source),
        times.section_cusparse(source, "cusparse-double", "double"),
        times.section_cusparse(source, "cusparse-single", "single"),
        layouts.section_model(source),
        times.section_blocks(source),
        memory.section_fill(source),
        memory.section_table_5(source),
        times.section_formats(source),
        memory.section_memory_coo(source),
        times.section_coordinates(source),
        times.section_bicgstab(source),
    ]
    lines = HEAD + ["## What holds on an H200", ""] + summary(source) + [""]
    for part in parts:
        lines += part + [""]
    return "\n".join(lines).rstrip("\n") + "\n"


def write(to):
    with open(to, "w", encoding="utf-8") as out:
        out.write(text(Source()))


def check(to):
    """0 if the page is what the records give."""
    with open(to, encoding="utf-8") as file:
        there = file.read().split("\n")
    made = text(Source()).split("\n")
    for number, (a, b) in enumerate(zip(there + [""] * len(made), made + [""] * len(there)), 1):
        if a != b:
            print(f"{to}:{number}: is not what the records give; python3 config/reproduce.py --page\n  there: {a}\n  given: {b}")
            return 1
    return 0
