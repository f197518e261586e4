#!/usr/bin/env python3
"""The distribution's own binary `dolfinx-scaling-test`: its elasticity problem on our type, by PETSC_OPTIONS alone."""

import re
import shutil

from support import Checks, Client, arguments, missing, skip

PROGRAM = ["dolfinx-scaling-test", "--problem_type", "elasticity", "--scaling_type", "strong", "--ndofs", "9000"]
SOLVER = "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-10 -ksp_view"


def results(output):
    iterations = re.search(r"Number of Krylov iterations: *(\d+)", output)
    norm = re.search(r"Solution norm: *([\d.e+-]+)", output)
    return int(iterations[1]), float(norm[1])


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks()
    if not args.petsc_dir.startswith("/usr/lib/petscdir/petsc3") or args.scalar != "real":
        skip(f"{PROGRAM[0]} is built for the system's PETSc with real scalars, this plugin for {args.build}")
    if not shutil.which(PROGRAM[0]):
        missing(f"no program {PROGRAM[0]}; Debian: fenicsx-performance-tests")
    aij = results(client.run(PROGRAM, env={"PETSC_OPTIONS": SOLVER}))
    output = client.run(PROGRAM, env={"PETSC_OPTIONS": f"{SOLVER} -dll_append {client.plugin} -mat_type baijcompound"})
    checks.compound(output, args.ranks, "elasticity")
    found = results(output)
    checks.iterations(found[0], aij[0], "elasticity")
    checks.close(found[1], aij[1], 1e-5, "solution norm (six digits are printed)")
    print(f"elasticity: {found[0]} iterations, norm {found[1]:g}; aij: {aij[0]}, {aij[1]:g}")
    checks.finish()


main()
