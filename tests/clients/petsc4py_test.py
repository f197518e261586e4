#!/usr/bin/env python3
"""petsc4py: every way to load the plugin and to choose the type gives our type, our kernels and the answer of aij."""

import os
import subprocess

from support import Checks, Client, arguments, fresh_folder, missing, printed, skip

HERE = os.path.dirname(os.path.abspath(__file__))


def cases(plugin, mat_type, folder):
    """{name: (way of the program, its arguments, its environment)}; files that it finds are written into `folder`."""
    load, choose = ["-dll_append", plugin], ["-mat_type", mat_type]
    with open(os.path.join(folder, "options.txt"), "w") as file:
        file.write(f"-dll_append {plugin}\n-mat_type {mat_type}\n")
    return {
        "argv": ("options", load + choose, {}),
        "PETSC_OPTIONS": ("options", [], {"PETSC_OPTIONS": " ".join(load + choose)}),
        "-options_file": ("options", ["-options_file", "options.txt"], {}),
        "prefix": ("prefix", load + ["-fluid_mat_type", mat_type, "-fluid_mat_compound_layout", "sell"], {}),
        "tuned": ("options", load + choose + ["-mat_compound_tune", "measure", "-mat_compound_wisdom", "none"], {}),
        "setType": ("settype", load, {}),
        "convert late": ("late", load, {}),
        "DMDA": ("dmda", load + ["-dm_mat_type", mat_type], {}),
        "DMPlex": ("dmplex", load + ["-dm_mat_type", mat_type, "-petscpartitioner_type", "simple"], {}),
    }


def check(checks, client, name, case, folder):
    way, options, env = case
    ranks = client.args.ranks
    output = client.run([client.args.python, os.path.join(HERE, "petsc4py_solve.py"), way, client.args.type, *options],
                        env=env, cwd=folder)
    found = printed(output)
    checks.compound(output, ranks, name)
    checks.iterations(int(found["iterations"]), int(found["iterations with aij"]), name)
    for what in ("relative product difference", "relative solution difference"):
        checks.true(float(found[what]) < 1e-10, f"{name}: {what} is {found[what]}")
    if name == "prefix":
        checks.true("entry=dense sell" in output, f"{name}: -fluid_mat_compound_layout sell is not in the "
                    f"plan:\n{output}")
    if name == "tuned":
        checks.true("compound plan origin: by measurement" in output,
                    f"{name}: the plan is not a measured one:\n{output}")
    print(f"{name}: {found['type']}, {found['iterations']} iterations (aij {found['iterations with aij']}), "
          f"difference {found['relative solution difference']}")


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks(args.type)
    probe = subprocess.run([args.python, "-c", "import petsc4py; petsc4py.init(); from petsc4py import PETSc; "
                            "print(PETSc.__file__, PETSc.Sys.getVersion())"],
                           capture_output=True, text=True, env=client.environment())
    if probe.returncode and not args.petsc_dir.startswith("/usr/lib/petscdir/petsc3"):
        skip(f"no petsc4py for the PETSc in {args.petsc_dir}")
    if probe.returncode:
        missing(f"{args.python} cannot load petsc4py for PETSC_DIR={args.petsc_dir}: "
                f"{probe.stderr.strip().splitlines()[-1]}; "
             f"Debian: python3-petsc4py python3-petsc4py-{args.scalar}")
    folder = fresh_folder(args.scratch, "run")
    for name, case in cases(client.plugin, args.type, folder).items():
        check(checks, client, name, case, folder)
    os.rename(os.path.join(folder, "options.txt"), os.path.join(folder, ".petscrc"))
    check(checks, client, ".petscrc", ("options", [], {}), folder)
    checks.finish()


main()
