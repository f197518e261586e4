#!/usr/bin/env python3
"""Runs one PETSc example with several matrix types, interleaved, and prints one table.

The example must print `unknowns:`, `blocks:` and `iterations:` and solve again in a log stage named Repeat
(examples/elasticity.c does). Times are medians over the rounds of that second stage; GB/s are of compulsory bytes,
which are the same for every type: 3x3 blocks of doubles (or complex), one 32-bit column a block, row starts, x once, y
once. Types of --device-types get CUDA vectors, and -log_view_gpu_time: events then last until the device is done.
TYPE/KSP is a type with another -ksp_type, TYPE/KSP/PC one with another preconditioner (aijcompound//gamg); products
that are fused with the rest of an iteration, or of which a preconditioner has others, have no time of their own, nor
have its matrices bytes.
"""

import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

DEVICE_OPTIONS = ["-vec_type", "cuda", "-use_gpu_aware_mpi", "0", "-log_view_gpu_time"]


class Failed(Exception):
    """A program that did not end well: code, first error line, whole output."""

    def __init__(self, command, done):
        text = done.stdout + done.stderr
        error = next((line for line in text.splitlines() if "ERROR" in line and "----" not in line), "no message")
        self.reason = f"ended with code {done.returncode}: {error.strip()}"
        super().__init__(f"{' '.join(command)}\nfailed with code {done.returncode}:\n{text}")


def parts_of(name):
    """Matrix type, -ksp_type and -pc_type; the last two empty where they are the program's."""
    return (name.split("/") + ["", ""])[:3]


def run(args, name, log):
    """One run; returns its output as a dictionary and its Repeat stage as {event: seconds of the slowest rank}."""
    mat_type, ksp_type, pc_type = parts_of(name)
    command = [args.program, *args.options, "-repeat", "1", "-mat_type", mat_type, "-dll_append", args.plugin,
               "-mat_compound_view", "-log_view", f":{log}:ascii_csv"]
    if ksp_type:
        command += ["-ksp_type", ksp_type]
    if pc_type:
        command += ["-pc_type", pc_type]
    if mat_type in args.device_types.split(","):
        command += DEVICE_OPTIONS
    if args.ranks > 1:
        command = ["mpirun", "-n", str(args.ranks)] + command
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(command, done)
    printed = dict(re.findall(r"^ *([a-z ]+): (.*)$", done.stdout, re.M))
    times = {}
    with open(log, newline="") as file:
        for row in csv.reader(file):
            if row[0] == "Repeat" and row[1] in ("MatMult", "KSPSolve"):
                seconds, count = times.get(row[1], (0.0, 0))
                times[row[1]] = (max(seconds, float(row[4])), max(count, int(row[3])))
    return printed, times


def compulsory_bytes(printed, scalar_bytes):
    blocks, unknowns = int(printed["blocks"]), int(printed["unknowns"])
    return blocks * (9 * scalar_bytes + 4) + (unknowns // 3 + 1) * 4 + 2 * unknowns * scalar_bytes


def memory_mb(printed, mat_type, scalar_bytes):
    """Bytes of the matrix on host and device together, by the type's own arrays (32-bit indices)."""
    blocks, unknowns = int(printed["blocks"]), int(printed["unknowns"])
    if "compound memory" in printed:
        parent, packed = re.search(r"base type ([\d.]+) MB, packed storage ([\d.]+) MB",
                                   printed["compound memory"]).groups()
        return float(parent) + float(packed)
    scalar_rows = 9 * blocks * (scalar_bytes + 4) + (unknowns + 1) * 4
    block_rows = blocks * (9 * scalar_bytes + 4) + (unknowns // 3 + 1) * 4
    of_type = {"aij": scalar_rows, "aijcusparse": 2 * scalar_rows}  # aijcusparse keeps a copy on either side
    return of_type.get(mat_type, block_rows) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--types", required=True, help="comma-separated -mat_type values; the second is the baseline")
    parser.add_argument("--device-types", default="", help="those of --types that run on the CUDA device")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--complex", action="store_true", help="the PETSc has complex scalars")
    parser.add_argument("options", nargs="*", help="options of the program, after --")
    args = parser.parse_args()
    types = args.types.split(",")
    baseline = "baij" if "baij" in types else types[0]
    scalar_bytes = 16 if args.complex else 8
    # PETSc's own device types are shown for comparison; 3.26.1's point-block Jacobi of aijcusparse crashes on two
    # ranks.
    may_fail = {t for t in types if parts_of(t)[0] in args.device_types.split(",") and "compound" not in t}
    printed, samples = {}, {t: [] for t in types}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for t in list(types):
                try:
                    printed[t], times = run(args, t, os.path.join(folder, "log.csv"))
                except Failed as failed:
                    if t not in may_fail:
                        sys.exit(str(failed))
                    print(f"{t} is left out, it {failed.reason}")
                    types.remove(t)
                    continue
                samples[t].append(times)

    def median(t, event):
        return statistics.median(s[event][0] for s in samples[t])

    def products(t):
        """Their time, GB/s and speed-up, as columns."""
        count = max(s.get("MatMult", (0, 0))[1] for s in samples[t])
        if parts_of(t)[2] or count < int(printed[t]["iterations"]):  # the residual of a guess is one
            return f"{'-':>11}{'-':>7}", f"{'-':>16}"
        seconds = median(t, "MatMult")
        rate = compulsory_bytes(printed[t], scalar_bytes) * count / seconds / 1e9
        return f"{seconds:>11.3f}{rate:>7.1f}", f"{median(baseline, 'MatMult') / seconds:>15.2f}x"

    first = printed[types[0]]
    print(f"\nunknowns {first['unknowns']}, blocks {first['blocks']}, ranks {args.ranks}; "
          f"medians of {args.rounds} interleaved rounds, second solve")
    width = max(len(t) for t in types) + 2
    print(f"{'type':<{width}}{'iterations':>11}{'MatMult s':>11}{'GB/s':>7}{'KSPSolve s':>12}"
          f"{'MatMult x ' + baseline:>16}{'KSPSolve x ' + baseline:>17}{'matrix MB':>11}")
    for t in types:
        times, gain = products(t)
        print(f"{t:<{width}}{printed[t]['iterations']:>11}{times}{median(t, 'KSPSolve'):>12.3f}{gain}"
              f"{median(baseline, 'KSPSolve') / median(t, 'KSPSolve'):>16.2f}x"
              + (f"{'-':>11}" if parts_of(t)[2] else f"{memory_mb(printed[t], parts_of(t)[0], scalar_bytes):>11.1f}"))
    for t in types:
        if "compound plan" in printed[t] and not parts_of(t)[2]:
            print(f"plan of {t}: {printed[t]['compound plan']} ({printed[t]['compound plan origin']})")


if __name__ == "__main__":
    main()
