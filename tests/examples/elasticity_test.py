#!/usr/bin/env python3
"""The elasticity example gives one answer on aij, baij and every compound type, and one clear error for bad input.

Iteration counts within max(2, 1 %) of baij on one process, of multigrid on aijcompound within 1 of aij; displacement
and compliance to 8 digits at rtol 1e-12. With --device: on a CUDA device, the same as on the host.
"""

import os
import re
import sys

import support

COMPOUND = ["baijcompound", "baijcompoundcsr", "baijcompoundellr", "baijcompoundsell",
            "baijcompound -mat_compound_layout sell:7:21", "baijcompound -mat_compound_backend petsc"]
PROBLEMS = ["-box 6,5,4", "-box 4,4,4 -box_tets", "-mesh {mesh}"]
# Algebraic multigrid, of aijcompound and on an AIJ copy beside a compound operator. Aggregates follow the partition,
# and the default partitioner spreads a mesh a little otherwise in each run: iteration counts compare on the simple one
# only.
MULTIGRID = "-pc_type gamg -petscpartitioner_type simple"
WHOLE, SPLIT = f"aijcompound {MULTIGRID}", f"baijcompound -pmat_type aij {MULTIGRID}"
# On a device, with the solver that is taken there.
DEVICE = [("baijcompound", "cgcompound"), ("baijcompound -ksp_type cg", "cg"), ("aijcompound", "cgcompound"),
          (WHOLE, "cgcompound")]
DAMAGED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus", "gmsh")
ON_HOST = "-vec_type standard"
# Not aij: on two processes PETSc 3.18's blocks of the diagonal are no numbers after MatSetValuesCOO().
ASSEMBLED = ["baij", "baijcompound", "aijcompound"]
ERRORS = {
    "-box 4,4,4 -mat_type baijcompound -pc_type gamg": "use -mat_type aijcompound",
    "-mesh /nowhere/part.msh": "cannot read the file",
    "-mesh {mesh} -clamp bolt": 'has no surface "bolt"; its surfaces are: "clamp" (1) "load" (2)',
    "-mesh {damaged}/a-node-that-is-not-there": "tetrahedron 1 has the node 9, which is not among the nodes",
    "-mesh {damaged}/three-tetrahedra-at-a-face": "three tetrahedra have a face in common",
    "-mesh {damaged}/a-tetrahedron-twice": "have the same nodes",
    "-mesh {damaged}/more-nodes-than-there-are": "a whole number is wanted: the tag of a node",
    "-mesh {damaged}/comments-without-an-end": "$EndComments does not follow",
    "-box 4,4,4 -assembly": "-assembly: found no value",
    "-box 4,4,4 -assembly scalars": "insert coordinates device",
    "-box 2,0,2": "three positive integers",
    "-box 4294967297,4,4": "three positive integers below 10^9",
    "-box 999999999,999999999,999999999": "more than the",
    "-box 4,4,4 -traction 1,0,0,9": "-traction: found 4 numbers or more; give 3",
    "-box 4,4,4 -box_size 1,1": "-box_size: found 2 numbers; give 3",
    "-box 4,4,4 -young": "-young: found no value",
    "-box 4,4,4 -clamp": "-clamp: found no value",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_layout sel": "did you mean sell? Choose auto, csr, ellr, bellpack",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_entry octonion": "choose auto, dense, complex, quaternion",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_plan sell:1": "2 to 1024",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_backend cuda": "backend 'cuda' is missing",
}


def solve(checks, problem, mat_type, ranks=None):
    printed = checks.solve(f"{problem} -mat_type {mat_type} -ksp_rtol 1e-12", ranks)
    return int(printed["iterations"]), [float(printed["largest displacement"]), float(printed["compliance"])]


def check_problem(checks, problem):
    baij, multigrid = solve(checks, problem, "baij", ranks=1), solve(checks, problem, f"aij {MULTIGRID}")
    # The mesh of the file is the largest: every type meets it in the tier all.
    types = ["aij", "baij"] + COMPOUND if support.WHOLE or "-mesh" not in problem else COMPOUND[:1]
    for mat_type, wanted in [(mat_type, baij) for mat_type in types] + [(m, multigrid) for m in (WHOLE, SPLIT)]:
        iterations, values = solve(checks, problem, mat_type)
        checks.iterations(iterations, wanted[0], f"{problem} {mat_type}")
        checks.true(mat_type != WHOLE or abs(iterations - wanted[0]) <= 1,
                    f"{problem} {mat_type}: {iterations} iterations, with aij {wanted[0]}")
        checks.digits(values, wanted[1], f"{problem} {mat_type}")


def check_solver(checks, solver, what):
    """Of the last solve, with -ksp_view."""
    found = re.search(r"^KSP Object:.*\n +type: (\w+)$", checks.output, re.M)
    checks.true(found and found[1] == solver, f"{what}: the solver is {found and found[1]}, expected {solver}")


def check_on_device(checks, problem):
    wanted = {mat_type: solve(checks, problem, f"{mat_type} {ON_HOST}") for mat_type in ("aij", f"aij {MULTIGRID}")}
    for mat_type, solver in DEVICE:
        iterations, values = solve(checks, problem, f"{mat_type} -ksp_view")
        what, host = f"{problem} {mat_type}", wanted[f"aij {MULTIGRID}" if mat_type == WHOLE else "aij"]
        checks.iterations(iterations, host[0], what)
        checks.digits(values, host[1], what)
        check_solver(checks, solver, what)
        fused = "fused on the device" in checks.output
        checks.true(fused == (solver == "cgcompound"), f"{what}: by {solver}, fused on the device: {fused}")


def check_assembly(checks, problem, way):
    """All element matrices at once, from the host or the device, make the same matrix."""
    wanted = solve(checks, problem, "aij")
    for mat_type in ASSEMBLED if way == "coordinates" else ASSEMBLED[1:]:
        for again in ("", " -set_up 2"):
            iterations, values = solve(checks, problem, f"{mat_type} -assembly {way}{again}")
            what = f"{problem} {mat_type} -assembly {way}{again}"
            checks.iterations(iterations, wanted[0], what)
            checks.digits(values, wanted[1], what)


def assembly_on_device(checks):
    """The way of assembly to check on a device. Its kernel is in the program if nvcc was found."""
    _, output, _ = checks.run("-box 1,1,1 -assembly device -pc_type jacobi", 1)
    if "is not in this program" not in output:
        return "device"
    message = "-assembly device: the program was built without nvcc (CMake says what it found)"
    if os.environ.get("COMPOUND_DEVICE_REQUIRED"):
        checks.true(False, message)
    else:
        print(f"skipped: {message}")
    return "coordinates"


def check_set_up_again(checks):
    """A matrix assembled anew is the same."""
    problem = "-box 6,5,4"
    for mat_type in [WHOLE, SPLIT, "baijcompound"]:
        once, again = (solve(checks, problem, mat_type + more) for more in ("", " -set_up 2"))
        checks.iterations(again[0], once[0], f"{mat_type} -set_up 2")
        checks.digits(again[1], once[1], f"{mat_type} -set_up 2")


def main():
    checks = support.Checks(support.parse_arguments(__doc__, "mesh"))
    problems = [problem.format(mesh=checks.args.mesh) for problem in PROBLEMS]
    if checks.args.device:
        support.skip_without_device(checks.args.program, "-box 1,1,1 -pc_type jacobi")
        for problem in problems:
            check_on_device(checks, problem)
        way = assembly_on_device(checks)
        for problem in problems[:2]:
            check_assembly(checks, problem, way)
        return checks.end()
    for problem in problems:
        check_problem(checks, problem)
    for problem in problems[:2]:
        check_assembly(checks, problem, "coordinates")
    solve(checks, problems[0], "baijcompound -ksp_view")
    check_solver(checks, "cg", f"{problems[0]} on the host")
    check_set_up_again(checks)
    checks.errors({options.format(mesh=checks.args.mesh, damaged=DAMAGED): message
                   for options, message in ERRORS.items()})
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
