#!/usr/bin/env python3
"""SLEPc: modes of K x = lambda M x, or of K alone, with matrices of our type have the eigenvalues that aij gives."""

import glob
import os
import re

from support import Checks, Client, arguments, missing, skip

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slepc_modes.c")
INVERT = "-st_type sinvert -eps_target -0.01 -eps_target_magnitude"
FILTER = "-standard -eps_type krylovschur -st_type filter -eps_all -eps_interval 3.5,5.1 -st_filter_interval 3.5,5.1"
SOLVERS = {"LOBPCG": "-eps_type lobpcg",
           "CISS": "-eps_type ciss -eps_all -rg_type interval -rg_interval_endpoints 1.4,2,0,0 -st_pc_type lu",
           "Krylov-Schur with a filter": f"{FILTER} -st_filter_range 2,18 -st_filter_degree 150",
           "Krylov-Schur, CG inside": f"{INVERT} -st_ksp_type cg -st_pc_type jacobi -st_ksp_rtol 1e-13",
           "Krylov-Schur, LU inside": f"{INVERT} -st_ksp_type preonly -st_pc_type lu"}


def find_slepc(args, client):
    """Adds the folder of SLEPc's .pc file for this PETSc: in SLEPC_DIR, or where Debian keeps it."""
    release = args.build.split("-")[0]
    folders = [f"{os.environ.get('SLEPC_DIR', '/nowhere')}/lib/pkgconfig"]
    folders += glob.glob(f"/usr/lib/slepcdir/slepc{release}/*-{args.scalar}/lib/pkgconfig")
    folder = next((f for f in folders if os.path.exists(f"{f}/SLEPc.pc")), None)
    debian = args.petsc_dir.startswith("/usr/lib/petscdir/petsc3")
    if not folder and debian:
        missing(f"no SLEPc for the PETSc in {args.petsc_dir}; install libslepc-{args.scalar}-dev")
    if not debian and folder != folders[0]:
        skip(f"no SLEPc for the PETSc in {args.petsc_dir}; set SLEPC_DIR to one built with it")
    client.pkgconfig_path += ":" + folder


def modes(client, program, options, mat_type):
    output = client.run([program, "-dll_append", client.plugin, "-dm_mat_type", mat_type, *options.split()])
    return output, [float(v) for v in re.findall(r"^eigenvalue: (\S+)", output, re.M)]


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks(args.type)
    find_slepc(args, client)
    program = client.compile(SOURCE, f"{args.scratch}/slepc_modes", ["SLEPc", client.petsc_pc])
    for name, options in SOLVERS.items():
        if ("LU" in name or name == "CISS") and args.ranks > 1:
            options += " -st_pc_factor_mat_solver_type mumps"
        _, aij = modes(client, program, options, "aij")
        output, found = modes(client, program, options, args.type)
        checks.compound(output, args.ranks, name)
        checks.true(len(found) == len(aij) == 6, f"{name}: {len(found)} modes, with aij {len(aij)}, wanted 6")
        for number, (own, wanted) in enumerate(zip(found, aij)):
            checks.close(own, wanted, 1e-9, f"{name}: eigenvalue {number}")
        print(f"{name}: {' '.join(f'{v:.10f}' for v in found)}")
    checks.finish()


main()
