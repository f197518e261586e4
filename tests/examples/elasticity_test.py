#!/usr/bin/env python3
"""The elasticity example gives one answer on aij, baij and every compound type, and one clear error for bad input.

Iteration counts within max(2, 1 %) of baij on one process; displacement and compliance to 8 digits at rtol 1e-12.
"""

import argparse
import os
import re
import subprocess
import sys

COMPOUND = ["baijcompound", "baijcompoundcsr", "baijcompoundellr", "baijcompoundsell",
            "baijcompound -mat_compound_layout sell:7:21", "baijcompound -mat_compound_backend petsc"]
PROBLEMS = ["-box 6,5,4", "-box 4,4,4 -box_tets", "-mesh {mesh}"]
# Algebraic multigrid on an AIJ copy beside a compound operator. Aggregates follow the partition, and the default
# partitioner spreads a mesh a little otherwise in each run: iteration counts compare on the simple one only.
MULTIGRID = "-pc_type gamg -petscpartitioner_type simple"
SPLIT = f"baijcompound -pmat_type aij {MULTIGRID}"
ERRORS = {
    "-box 4,4,4 -mat_type baijcompound -pc_type gamg": "Give the preconditioner an AIJ copy",
    "-mesh /nowhere/part.msh": "cannot read the file",
    "-mesh {mesh} -clamp bolt": "has no surface",
    "-box 2,0,2": "three positive integers",
    "-box 4294967297,4,4": "three positive integers below 10^9",
    "-box 999999999,999999999,999999999": "more than the",
    "-box 4,4,4 -traction 1,0,0,9": "-traction: found 4 numbers or more; give three",
    "-box 4,4,4 -box_size 1,1": "-box_size: found 2 numbers; give three",
    "-box 4,4,4 -young": "-young: found no value",
    "-box 4,4,4 -clamp": "-clamp: found no value",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_layout sel": "choose auto, csr, ellr, sell",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_entry octonion": "choose auto, dense, complex, quaternion",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_plan sell:1": "2 to 256",
    "-box 4,4,4 -mat_type baijcompound -mat_compound_backend cuda": "backend 'cuda' is missing",
}


# No device is visible, so that -mat_compound_backend cuda is an error everywhere.
ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


def run(args, options, ranks):
    command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    command += [args.program, "-dll_append", args.plugin] + options.format(mesh=args.mesh).split()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
    return done.returncode, done.stdout + done.stderr, " ".join(command)


def solve(args, problem, mat_type, ranks):
    code, output, command = run(args, f"{problem} -mat_type {mat_type} -ksp_rtol 1e-12", ranks)
    if code != 0:
        sys.exit(f"{command}\nended with code {code}:\n{output[-3000:]}")
    printed = dict(re.findall(r"^([a-z ]+): (.*)$", output, re.M))
    return int(printed["iterations"]), [float(printed["largest displacement"]), float(printed["compliance"])]


def agree(values, wanted):
    return all(abs(v - w) <= 0.5e-8 * abs(w) for v, w in zip(values, wanted))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "plugin", "mesh"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    args = parser.parse_args()
    failures, runs = [], 0
    for problem in PROBLEMS:
        wanted_iterations, wanted = solve(args, problem, "baij", 1)
        for mat_type in ["aij", "baij"] + COMPOUND:
            iterations, values = solve(args, problem, mat_type, args.ranks)
            runs += 1
            if abs(iterations - wanted_iterations) > max(2, 0.01 * wanted_iterations) or not agree(values, wanted):
                failures.append(f"{problem} {mat_type}: {iterations} iterations, {values}; "
                                f"baij on one process: {wanted_iterations}, {wanted}")
        wanted_iterations, wanted = solve(args, problem, f"aij {MULTIGRID}", args.ranks)
        iterations, values = solve(args, problem, SPLIT, args.ranks)
        runs += 1
        if abs(iterations - wanted_iterations) > max(2, 0.01 * wanted_iterations) or not agree(values, wanted):
            failures.append(f"{problem} {SPLIT}: {iterations} iterations, {values}; aij: {wanted_iterations}, {wanted}")
    for options, message in ERRORS.items():
        code, output, command = run(args, options, args.ranks)
        runs += 1
        if code == 0 or message not in output:
            failures.append(f"{command}\n  expected an error with '{message}', got code {code}: {output[:600]}")
    print(f"{runs} runs on {args.ranks} processes, {len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
