#!/usr/bin/env python3
"""DOLFINx: elasticity on our type, chosen by options, by create_matrix and by conversion, agrees with aij."""

import os

from support import Checks, Client, arguments, missing, printed, skip

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dolfinx_elasticity.py")


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks(args.type)
    code, output = client.try_run([args.python, "-c", "import dolfinx.fem.petsc; from petsc4py import PETSc; "
                                   "print(dolfinx.__version__, PETSc.ScalarType)"], ranks=0)
    if code and not args.petsc_dir.startswith("/usr/lib/petscdir/petsc3"):
        skip(f"no DOLFINx for the PETSc in {args.petsc_dir}")
    if code:
        missing(f"{args.python} cannot load DOLFINx for PETSC_DIR={args.petsc_dir}: {output.strip().splitlines()[-1]}; "
             f"Debian: python3-dolfinx-{args.scalar}")
    version = output.split()[0]
    if not version.startswith("0.5."):
        skip(f"DOLFINx {version}: the program is written for 0.5; adapt tests/clients/dolfinx_elasticity.py")
    cache = os.path.join(args.scratch, "cache")  # of compiled forms
    load = f"-dll_append {client.plugin}"
    # The first run compiles the forms, on one process: ranks would wait for each other's compiler.
    client.run([args.python, PROGRAM, "kind", "aij"], env={"XDG_CACHE_HOME": cache}, ranks=1)
    aij = printed(client.run([args.python, PROGRAM, "kind", "aij"], env={"XDG_CACHE_HOME": cache}))
    choose = f"{load} -mat_type {args.type}"
    for way, options in {"options": choose, "problem": choose, "kind": load, "convert": load}.items():
        output = client.run([args.python, PROGRAM, way, args.type],
                            env={"PETSC_OPTIONS": options, "XDG_CACHE_HOME": cache})
        found = printed(output)
        checks.compound(output, args.ranks, way)
        checks.iterations(int(found["iterations"]), int(aij["iterations"]), way)
        for what in ("norm", "energy", "largest displacement"):
            checks.close(float(found[what]), float(aij[what]), 1e-9, f"{way}: {what}")
        print(f"{way}: {found['type']}, {found['iterations']} iterations (aij {aij['iterations']}), "
              f"energy {found['energy']} (aij {aij['energy']})")
    checks.finish()


main()
