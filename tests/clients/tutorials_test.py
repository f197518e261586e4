#!/usr/bin/env python3
"""PETSc's own tutorials, compiled unchanged, say the same on our type as on aij: the type is chosen by options alone.

The sources are PETSc's for this release: Debian's libpetsc3.18-dev-examples, PETSC_DIR/src of a PETSc built from
source, or the folder src that COMPOUND_TUTORIALS names.
"""

import os
import re

from support import Checks, Client, arguments, missing, numbers

# PETSc 3.18 with Debian's PTScotch distributes small meshes wrongly now and then, whatever the matrix.
PLEX = "-dm_plex_dim 3 -dm_plex_simplex 0 -petscpartitioner_type simple"
# Name, source, options (TYPE is the matrix type), and lines whose numbers are compared.
RUNS = [
    ("driven cavity (DMDA, 4 unknowns a node, finite-difference colouring)", "snes/tutorials/ex19.c",
     "-da_refine 3 -ksp_type gmres -pc_type pbjacobi -ksp_rtol 1e-9 -snes_monitor_short -snes_converged_reason "
     "-ksp_converged_reason "
     "-dm_mat_type TYPE -ksp_view ::ascii_info_detail"),
    ("driven cavity, multigrid", "snes/tutorials/ex19.c",
     "-da_refine 3 -pc_type mg -ksp_type fgmres -mg_levels_pc_type pbjacobi -snes_monitor_short -snes_converged_reason "
     "-ksp_converged_reason -dm_mat_type TYPE -ksp_view ::ascii_info_detail"),
    ("ice flow (DMDA, 2 unknowns a node, MatSetValuesBlocked)", "snes/tutorials/ex48.c",
     "-M 8 -P 4 -ksp_type gmres -pc_type pbjacobi -ksp_rtol 1e-8 -snes_monitor_short -snes_converged_reason "
     "-ksp_converged_reason -thi_mat_type TYPE -dm_mat_type TYPE -ksp_view ::ascii_info_detail"),
    ("elasticity (DMPlex, finite elements)", "snes/tutorials/ex17.c",
     f"{PLEX} -dm_plex_box_faces 5,4,4 -sol_type elas_quad -displacement_petscspace_degree 1 -pc_type jacobi "
     "-ksp_rtol 1e-10 -snes_monitor_short -snes_converged_reason -ksp_converged_reason -dm_mat_type TYPE -ksp_view "
     "::ascii_info_detail"),
    ("elasticity, order 2 (DMPlex)", "snes/tutorials/ex17.c",
     f"{PLEX} -dm_plex_box_faces 3,2,2 -sol_type elas_quad -displacement_petscspace_degree 2 -pc_type jacobi "
     "-ksp_rtol 1e-10 -snes_monitor_short -snes_converged_reason -ksp_converged_reason -dm_mat_type TYPE -ksp_view "
     "::ascii_info_detail"),
    ("bricks (assembled by hand, preallocated for aij)", "ksp/ksp/tutorials/ex56.c",
     "-ne 5 -alpha 1.e-3 -ksp_type cg -pc_type pbjacobi -ksp_rtol 1e-8 -ksp_monitor_short -ksp_converged_reason "
     "-mat_type TYPE "
     "-ksp_view ::ascii_info_detail"),
]
# The same of algebraic multigrid, which is for matrices above aij.
GAMG = "-pc_type gamg -snes_monitor_short -snes_converged_reason -ksp_converged_reason -ksp_view ::ascii_info_detail"
MULTIGRID_RUNS = [
    ("bricks, algebraic multigrid", "ksp/ksp/tutorials/ex56.c",
     f"-ne 7 -alpha 1.e-3 -use_mat_nearnullspace -ksp_type cg -ksp_rtol 1e-8 -mat_type TYPE {GAMG}"),
    ("elasticity of order 2, algebraic multigrid (DMPlex)", "snes/tutorials/ex56.c",
     # Cells and DM by the names of either release.
     f"-cells 4,3,3 {PLEX} -dm_plex_box_faces 4,3,3 -max_conv_its 1 -petscspace_degree 2 -use_mat_nearnullspace "
     "-snes_type ksponly "
     f"-ksp_type cg -ksp_rtol 1e-10 -ex56_dm_mat_type TYPE -dm_mat_type TYPE {GAMG}"),
    ("elasticity, algebraic multigrid (DMPlex)", "snes/tutorials/ex17.c",
     f"{PLEX} -dm_plex_box_faces 5,4,4 -sol_type elas_quad -displacement_petscspace_degree 1 -ksp_rtol 1e-10 "
     f"-dm_mat_type TYPE {GAMG}"),
    ("driven cavity, algebraic multigrid", "snes/tutorials/ex19.c",
     "-da_refine 2 -ksp_type fgmres -ksp_rtol 1e-9 -mg_levels_ksp_type gmres -mg_levels_pc_type pbjacobi "
     "-mg_levels_ksp_max_it 4 "
     f"-dm_mat_type TYPE {GAMG}"),
]
COMPARED = re.compile(r"^.*(?:SNES Function norm|solve converged|Number of SNES|KSP Residual norm|\|X\||Surface "
                      r"statistics).*$", re.M)


def source_folder(args, release):
    folders = [f"{args.petsc_dir}/share/petsc/examples/src", f"{args.petsc_dir}/src", f"{args.petsc_dir}/../src"]
    if args.petsc_dir.startswith("/usr/lib/petscdir/"):
        folders.insert(0, f"/usr/share/petsc/{release}/share/petsc/examples/src")
    if "COMPOUND_TUTORIALS" in os.environ:
        folders.insert(0, os.environ["COMPOUND_TUTORIALS"])
    folder = next((f for f in folders if os.path.exists(f"{f}/{RUNS[0][1]}")), None)
    if not folder:
        missing(f"no PETSc {release} tutorials in {', '.join(folders)}; install libpetsc{release}-dev-examples "
                "(Debian) or set "
                "COMPOUND_TUTORIALS to the folder src of PETSc's sources")
    return folder


def why_not(args, folder, source):
    if args.scalar == "complex" and source == "snes/tutorials/ex48.c":
        return "the tutorial is for real scalars"
    if args.ranks == 3 and source == "ksp/ksp/tutorials/ex56.c":
        return "the tutorial is for a cube of processes, or two"
    return None if os.path.exists(f"{folder}/{source}") else f"not run, {folder}/{source} is not here"


def same_numbers(found, wanted):
    """Both outputs tell the same story: numbers equal to 4 digits (counts within 2 or 1 %), tiny norms only tiny."""
    lines, lines_wanted = COMPARED.findall(found), COMPARED.findall(wanted)
    lines = [line for line in lines if "Residual norm" not in line]
    lines_wanted = [line for line in lines_wanted if "Residual norm" not in line]
    if len(lines) != len(lines_wanted) or not lines:
        return f"{len(lines)} lines, with aij {len(lines_wanted)}"
    for own, reference in zip(lines, lines_wanted):
        a, b = numbers(own), numbers(reference)
        near = len(a) == len(b) and all(
            abs(x - y) <= (max(2, 0.01 * abs(y)) if "iterations" in reference else max(1e-3 * abs(y), 1e-7))
            for x, y in zip(a, b))
        if not near:
            return f"'{own.strip()}', with aij '{reference.strip()}'"
    return None


def run(client, program, options, mat_type):
    return client.try_run([program, "-dll_append", client.plugin, *options.replace("TYPE", mat_type).split()])


def complaint(output):
    """The first sentence of PETSc's error message below its kind."""
    lines = re.findall(r"PETSC ERROR: (.*)", output)
    return lines[2] if len(lines) > 2 else f"no PETSc error: {output[-500:]}"


def check(args, client, checks, name, program, options):
    (code_aij, aij), (code, output) = (run(client, program, options, t) for t in ("aij", args.type))
    checks.true(code_aij == 0, f"{name} with aij ended with code {code_aij}:\n{aij[-3000:]}")
    if code and args.type == "baijcompound" and "preallocated for aij" in name:
        # PETSc before 3.19 wants preallocation for the type that the matrix has: then baij itself is refused the same
        # way.
        _, baij = run(client, program, options, "baij")
        checks.true(complaint(output) == complaint(baij), f"{name}: {complaint(output)}; with baij: {complaint(baij)}")
        print(f"{name}: refused, as with baij: {complaint(output)}")
        return
    checks.true(code == 0, f"{name} ended with code {code}:\n{output[-3000:]}")
    checks.compound(output, args.ranks, name)
    if "multigrid" in name and args.type == "aijcompound":
        levels = len(re.findall(rf"^ +type: (?:seq|mpi){args.type}$", output, re.M))
        checks.true(levels > 1, f"{name}: {levels} matrices are of the type:\n{output[-3000:]}")
    difference = same_numbers(output, aij)
    checks.true(difference is None, f"{name}: {difference}")
    last = COMPARED.findall(output)
    print(f"{name}: {last[-1].strip() if last else 'no lines to compare'}")


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks(args.type)
    folder = source_folder(args, args.build.split("-")[0])
    programs = {}
    for name, source, options in RUNS + (MULTIGRID_RUNS if args.type == "aijcompound" else []):
        reason = why_not(args, folder, source)
        if reason:
            print(f"{name}: {reason}")
            continue
        if source not in programs:
            target = os.path.join(args.scratch, source.replace("/", "_")[:-2])
            programs[source] = client.compile(f"{folder}/{source}", target, [client.petsc_pc], extra=["-w"])
        check(args, client, checks, name, programs[source], options)
    checks.finish()


main()
