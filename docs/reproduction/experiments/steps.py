"""What docs/reproduction/reproduce.py runs: the steps, and the runs of each."""

import collections
import os
import shlex

from experiments import matrices

# `seconds`: about so long it takes, without the programs' build. `runs`: (name, program, options) of each run, by the
# folder of patterns. Of a study `left_out` of its record, and the `budget` of each matrix in seconds.
Step = collections.namedtuple("Step", "name device seconds runs left_out budget", defaults=[(), 8])
Run = collections.namedtuple("Run", "name program options")


def counted(rows, plans):
    """`plans`: of a matrix."""
    return lambda folder: [Run(m.name, "tune", matrices.options_of(m, folder) + ["-bytes", ";".join(plans(m))])
                           for m in rows]


def layouts_of_table_9(m):
    found = [f"entry={m.entry} {layout}" for layout in ("csr words=1:row", "ellr", "sell:16", "sell:32")]
    return found + (["entry=dense csr words=1:row"] if m.entry == "quaternion" else [])


def papers_layouts(entry):
    """The 16 of 2019 and 2020, each by one schedule of theirs: a thread a row, a fixed grid."""
    schedule = "rows lanes=1 unroll=1 threads=128 blocks=8 static"
    return [
        f"entry={entry} {outer} words={words}:row vectors={vectors} {schedule}"
        for outer in ("csr", "ellr", "sell:16", "sell:32")
        for words in ("1", "all")
        for vectors in ("1", "all")
    ]


TIMES = ["-types", "none", "-rounds", "9", "-min_time", "0.003"]


def against_cusparse(scalar):
    def runs(folder):
        found = []
        for m in matrices.COMPOUND:
            vendor = (
                "complex-csr,complex-csr-alg1,complex-csr-alg2,complex-sell,complex-coo" if m.entry == "complex"
                else "all"
            )
            plans = ["auto"] + papers_layouts(m.entry) + ["hamilton auto"] * (m.entry == "quaternion")
            found.append(Run(m.name, "bench", matrices.options_of(m, folder) + TIMES
                             + ["-core_scalar", scalar, "-cusparse", vendor, "-core_plans", ";".join(plans)]))
        return found

    return runs


def in_precision(scalar):
    return ["-core_scalar", scalar] * (scalar != "double")


def timed(rows, plans, vendor, scalar="double"):
    return lambda folder: [
        Run(m.name, "bench", matrices.options_of(m, folder) + TIMES + in_precision(scalar)
            + ["-core_plans", ";".join(plans), "-cusparse", vendor]) for m in rows
    ]


def formats(scalar="double"):
    return timed(matrices.FORMATS, LANES + [HYBRID, "auto", "layouts csr hdia:32 dia"], "csr,csr-alg1,csr-alg2,sell",
                 scalar)


def coordinates(folder):
    """With values by a table as well, where a matrix has no more of them than a table has room for."""
    plans = [*COORDINATES, "ccoo:256:2 carries=atomic", "csr", "auto"]
    coded = ["ccoo:256:2 codes=scalars8", "ccoo:256:4 codes=scalars8"]

    def repeat(m):
        return "stencil" in matrices.options_of(m, folder)

    return [run for m in matrices.COORDINATES[:8]
            for run in timed([m], plans + coded * repeat(m), "csr,csr-alg1,csr-alg2,sell,coo,coo-alg2")(folder)]


def coded(folder):
    """The paper's own coding of values, chunk by chunk, in all sizes of chunks, beside the fastest uncoded ones."""
    plans = [*CODED, *(f"ccoo:256:{k} codes=chunks8 carries=atomic" for k in (2, 4, 8)), "ccoo:256:2", "csr", "auto"]
    return timed(matrices.COORDINATES[:7], plans, "csr,csr-alg1,csr-alg2")(folder)


def joint(scalar="double"):
    """Every plan of layout and schedule, by docs/reproduction/tuning-study.py: all layouts of vectors, too, and of any
    padding."""
    options = ["-vectors", "all", "-padding_limit", "none"] + in_precision(scalar)
    return lambda folder: [Run(m.name, "study", matrices.options_of(m, folder) + options) for m in matrices.COMPOUND]


def held_back(folder):
    """Every plan that PETSc's matrices take, of matrices that plans are judged by: those whose pattern is there."""
    return [Run(m.name, "study", matrices.options_of(m, folder)) for m in matrices.HELD_BACK
            if not folder or os.path.exists(matrices.pattern_file(m, folder))]


def krylov(folder):
    types = ("aijcusparse", "baijcompoundccoo", "baijcompoundcsr", "baijcompound")
    solvers = ",".join(f"{t}/{k}" for t in types for k in ("bcgs", "bcgscompound"))
    solver = ["-types", solvers, "-pc_type", "none", "-ksp_norm_type", "none", "-rounds",
              "5", "-min_time", "0.003"]
    return [Run(m.name, "bench", matrices.options_of(m, folder) + solver) for m in matrices.COORDINATES[:5]]


def krylov_coded(folder):
    """By coded coordinates, in the fastest size of chunks of the grids in `coded-2020`."""
    solver = ["-types", "aijcusparse/bcgs,baijcompound/bcgs,baijcompound/bcgscompound", "-pc_type", "none",
              "-ksp_norm_type", "none", "-rounds", "5", "-min_time", "0.003", "-mat_compound_plan", OF_SOLVER]
    return [Run(m.name, "bench", matrices.options_of(m, folder) + solver) for m in matrices.COORDINATES[:5]]


def blocks(folder):
    plans = OF_CHOI + ["csr rows lanes=32", "csr components"]
    common = shlex.split(matrices.DENSE) + TIMES + ["-core_plans", ";".join(plans), "-cusparse", "csr,sell"]
    return [Run(f"{scalar}-{b}", "bench", common + ["-block_size", b, "-core_scalar", scalar])
            for scalar in SCALARS for b in matrices.DENSE_BLOCKS]


def by_both_models(folder, scalar, search):
    """Choi's plans, and predictions by their model, whose parameters all runs of a folder share, and by this one's. A
    limit of products leaves out the last round."""
    return ["-search", search, "-plans", ";".join(OF_CHOI), "-model", f"choi:{parameters_file(folder)}", "-core_scalar",
            scalar, "-products", "2000", "-top", "1"]


def parameters_file(folder):
    """Of Choi's model, beside the folder of patterns."""
    return os.path.join(os.path.dirname(folder), "choi.json")


def predicted(folder):
    return [Run(scalar, "tune", shlex.split(matrices.DENSE_OF_MODEL) + ["-block_size", ",".join(matrices.DENSE_BLOCKS)]
                + by_both_models(folder, scalar, "measure")) for scalar in SCALARS]


def tuned(folder):
    """Block sizes and slice heights of one matrix, and what cuSPARSE has of its scalars."""
    runs = []
    for m in matrices.FEM:
        for scalar in SCALARS:
            options = matrices.options_of(m, folder)
            runs.append(Run(f"{m.name}-{scalar}", "tune", options + ["-regroup", ",".join(matrices.DENSE_BLOCKS)]
                            + by_both_models(folder, scalar, "off")))
            runs.append(Run(f"{m.name}-{scalar}-cusparse", "bench", options + ["-regroup", "1"] + TIMES
                            + ["-core_scalar", scalar, "-core_plans", "auto", "-cusparse", "csr,csr-alg1,csr-alg2,sell",
                               "-no_check"]))
    return runs


def sampled(folder):
    return [Run(name, "tune", ["-matrix", os.path.join(folder, name + ".mtx"), "-block_size", "1", "-bytes", "csr"])
            for name in matrices.SAMPLED]


def file_of(run):
    """Without which it cannot be run; None where there is no such."""
    return run.options[run.options.index("-matrix") + 1] if "-matrix" in run.options else None


SCALARS = ("float", "double")
OF_CHOI = [f"bellpack:{r} rows lanes=1 threads={r}" for r in (32, 64, 128, 256)]
FORMATS = ["csr", "ellr", "sell:32", "hdia:32", "dia"]
HYBRID = "ellr width=auto + ccoo"
LANES = [f"{layout} lanes={lanes}" for layout in ("ellr", "sell:32") for lanes in (1, 2, 4)]
COORDINATES = [f"ccoo:256:{k}" for k in (1, 2, 4)]
CODED = [f"ccoo:{b}:{k} codes=chunks8" for b in (64, 128, 256, 512) for k in (1, 2, 4, 8)]
OF_SOLVER = "ccoo:128:4 codes=chunks8"

# The most valuable come first. Seconds of steps on a device are those of the records.
STEPS = [
    Step("memory-2020", "host", 60, counted(matrices.COMPOUND, layouts_of_table_9)),
    Step("memory-2015", "host", 60, counted(matrices.FORMATS, lambda m: [*FORMATS, HYBRID])),
    Step("memory-coo", "host", 90, counted(matrices.COORDINATES,
                                           lambda m: ["csr", *COORDINATES, "ccoo:256:2 codes=scalars8"])),
    Step("sampled-2010", "host", 10, sampled),
    Step("joint-2020", "cuda", 500, joint(), budget=16),
    Step("joint-2020-single", "cuda", 500, joint("float"), budget=16),
    Step("cusparse-double", "cuda", 115, against_cusparse("double")),
    Step("formats-2015", "cuda", 110, formats()),
    Step("coordinates-2020", "cuda", 90, coordinates),
    Step("blocks-2010", "cuda", 80, blocks),
    Step("cusparse-single", "cuda", 105, against_cusparse("float")),
    Step("bicgstab-2020", "cuda", 65, krylov),
    Step("model-2010", "cuda", 240, predicted),
    Step("tuned-2010", "cuda", 300, tuned),
    Step("formats-2015-single", "cuda", 110, formats("float")),
    Step("coded-2020", "cuda", 150, coded),
    Step("bicgstab-coded-2020", "cuda", 60, krylov_coded),
    Step("held-back", "cuda", 280, held_back, ("screened", "again")),
]


def not_run(name, done):
    """The runs of a step that are not among the names of those that are."""
    step = next(s for s in STEPS if s.name == name)
    return [run.name for run in step.runs("") if run.name not in done]
