#!/usr/bin/env python3
"""The notebooks in docs/notebooks run from the first cell to the last, and are stored without outputs."""

import glob
import json
import os

from support import TOP, Checks, arguments, missing, need_petsc4py, package, record, run, skip


def without_outputs(path, notebook, checks):
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            checks.true(not cell["outputs"] and cell["execution_count"] is None,
                        f"{os.path.relpath(path, TOP)}: cell {number} is stored with outputs; clear them")


def main():
    args, checks = arguments(__doc__), Checks()
    paths = sorted(glob.glob(os.path.join(TOP, "docs", "notebooks", "*.ipynb")))
    checks.true(paths, "docs/notebooks has no notebook")
    notebooks = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            notebooks.append(json.load(file))
        without_outputs(path, notebooks[-1], checks)
    if record(args.build)["petsc"]["scalar"] != "real":
        checks.finish() if checks.failures else skip("the notebooks solve with real scalars")
    env = need_petsc4py(args)
    env["PYTHONPATH"] = package(args.build, f"{args.scratch}/site")
    env["XDG_CACHE_HOME"], env["MPLBACKEND"] = f"{args.scratch}/cache", "Agg"
    if record(args.build)["petsc"]["cuda"]:
        env["PETSC_OPTIONS"] = "-use_gpu_aware_mpi 0"
    if run([args.python, "-c", "import matplotlib"], env)[0] != 0:
        missing(f"{args.python} has no matplotlib (Debian: python3-matplotlib)")
    for path, notebook in zip(paths, notebooks):
        script = f"{args.scratch}/{os.path.splitext(os.path.basename(path))[0]}.py"
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n\n".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code") + "\n")
        status, output, errors = run([args.python, "-W", "ignore", script], env, cwd=args.scratch)
        checks.true(status == 0, f"{os.path.relpath(path, TOP)} ended with status {status}:\n{output}{errors}")
        checks.true("entry=dense" in output, f"{os.path.relpath(path, TOP)} prints no plan:\n{output}")
    checks.finish()


main()
