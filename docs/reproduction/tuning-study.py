#!/usr/bin/env python3
"""A study of plans on many matrices, by compound-tune -study: a JSON file for each matrix.

    python3 docs/reproduction/tuning-study.py --tune build/host/plugin/tools/compound-tune --folder study \\
        --device cuda --seconds 450

Runs that finished and matrices whose file is there are left out: the same command goes on where a study ended, for want
of time or otherwise. The generated ones are those of docs/reproduction/tuning-study.txt; files (PETSc binary or Matrix
Market) can be added.
"""

import argparse
import json
import lzma
import os
import shlex
import subprocess
import sys
import time

LEAST_S = 8  # that a run is begun for
# Options that the kernels of a matrix depend on.
KERNELS = ("-block_size", "-entry", "-precision", "-core_scalar", "-vectors")
SIZES = ["-grid", "27", "-megabytes", "1,400"]  # on both sides of a second cache, for which plans differ
CORES_OF_TIMING = 4
MOST_BESIDE = 3  # plans of each matrix of --beside
FINISHED = "finished-runs.txt"  # in the folder


def runs_of(args):
    runs = []
    for file in args.matrix:
        name, _, block = file.rpartition(":") if ":" in file else (file, "", "")
        runs.append((["-block_size", block] if block else []) + ["-matrix", name])
    with open(args.runs) as file:
        lines = [line.split("#")[0].strip() for line in file]
    return unfinished(runs + [shlex.split(line) for line in lines if line], args.folder)


def unfinished(runs, folder):
    finished = os.path.join(folder, FINISHED)
    if not os.path.exists(finished):
        return runs
    with open(finished) as file:
        done = file.read().splitlines()
    return [run for run in runs if shlex.join(run) not in done]


def option_of(run, name, default):
    return run[run.index(name) + 1] if name in run else default


def fastest_of(record, run):
    """The fastest plans of each matrix of a record with this run's kind of blocks."""
    size, precision = option_of(run, "-block_size", "3"), option_of(run, "-precision", "double")
    entry = f"entry={option_of(run, '-entry', 'dense')} "
    alike = [m for m in record["matrices"] if m["block"] == f"{size}x{size}" and m["precision"] == precision]
    finals = [p["plan"] for m in alike for p in sorted(m["finals"], key=lambda p: p["seconds"])[:MOST_BESIDE]]
    return sorted({plan for plan in finals if plan.startswith(entry)})


def kernels_of(run):
    return [word for option in KERNELS if option in run for word in (option, run[run.index(option) + 1])]


class Study:
    def __init__(self, args, runs):
        self.args = args
        self.runs = runs
        self.begin = time.monotonic()
        self.beside = json.load(lzma.open(args.beside)) if args.beside else None
        self.compiled = []  # kernels that are, or are being
        self.compiler = None  # of the next runs' kernels
        cores = sorted(os.sched_getaffinity(0))
        self.cores = cores[:CORES_OF_TIMING], cores[CORES_OF_TIMING:]

    def spent(self):
        return time.monotonic() - self.begin

    def command(self, run):
        device = ["-device", "cuda", "-use_gpu_aware_mpi", "0"] if self.args.device == "cuda" else []
        plans = fastest_of(self.beside, run) if self.beside else []
        return (
            [self.args.tune, "-search", self.args.search, "-top", "1"] + device + run
            + (["-plans", ";".join(plans)] if plans else [])
        )

    def compile_next(self, number):
        """What is compiled stays in the cache of kernels. Other matrices are timed meanwhile, on other cores."""
        if self.args.device != "cuda" or not self.cores[1] or (self.compiler and self.compiler.poll() is None):
            return
        wanted = [kernels_of(run) for run in self.runs[number:]]
        missing = [kernels for kernels in wanted if kernels not in self.compiled]
        if not missing:
            return
        self.compiled.append(missing[0])
        cores = self.cores[1] if number > 0 else sorted(self.cores[0] + self.cores[1])
        command = self.command(missing[0] + SIZES + ["-compile"])
        self.compiler = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                         preexec_fn=lambda: os.sched_setaffinity(0, cores))

    def wait_for_kernels(self, run):
        """Those of this run are the ones that are being compiled, or are there."""
        if not self.compiled:
            self.compile_next(0)
        if self.compiler and self.compiled[-1] == kernels_of(run):
            self.compiler.wait()

    def run(self, number):
        """Why it is not done; empty if it is."""
        run = self.runs[number]
        rest = self.args.seconds - self.spent()
        if rest < min(LEAST_S, self.args.seconds):
            return "no time"
        self.wait_for_kernels(run)
        self.compile_next(number + 1)
        print(f"== {self.spent():.0f} s: {shlex.join(run)}", flush=True)
        command = self.command(run) + ["-study", self.args.folder, "-budget", str(self.args.budget)]
        rest = max(1, self.args.seconds - self.spent())

        def alone():
            if self.compiler and self.compiler.poll() is None:
                os.sched_setaffinity(0, self.cores[0])

        try:
            code = subprocess.run(command, timeout=rest, preexec_fn=alone).returncode
        except subprocess.TimeoutExpired:
            return "cut off"
        if code:
            return f"ended with status {code}"
        with open(os.path.join(self.args.folder, FINISHED), "a") as finished:
            finished.write(shlex.join(run) + "\n")
        return ""

    def all(self):
        left = []
        for number, run in enumerate(self.runs):
            if why := self.run(number):
                left.append(f"not done ({why}): {shlex.join(run)}")
        if self.compiler and self.compiler.poll() is None:
            self.compiler.kill()
        files = [name for name in os.listdir(self.args.folder) if name.endswith(".json")]
        print(f"== {self.spent():.0f} s; {len(files)} matrices in {self.args.folder}")
        return left


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix", nargs="*", help="FILE or FILE:BLOCK_SIZE, before the generated ones")
    parser.add_argument("--tune", required=True, help="the program compound-tune")
    parser.add_argument("--folder", required=True, help="where the JSON files go")
    parser.add_argument("--runs", default=os.path.join(here, "tuning-study.txt"), help="list of runs (%(default)s)")
    parser.add_argument("--device", default="host", choices=["host", "cuda"])
    parser.add_argument("--search", default="exhaustive", choices=["measure", "exhaustive"],
                        help="plans to screen (%(default)s); near: a check in little time")
    parser.add_argument("--beside", help="record of a study (.json.xz) whose fastest plans for blocks of a kind are "
                        "screened, too")
    parser.add_argument("--budget", type=float, default=10,
                        help="seconds of timing and packing of each matrix (%(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of all; what is not done then is listed")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    left = Study(args, runs_of(args)).all()
    for line in left:
        print(line)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
