#!/usr/bin/env python3
"""The papers' experiments once more, and the page about them: docs/reproduction.md.

    python3 docs/reproduction/reproduce.py --folder build/reproduction --data ../shared/data
    python3 docs/reproduction/reproduce.py --folder build/reproduction --device cuda --seconds 1500
    python3 docs/reproduction/reproduce.py --page
    python3 docs/reproduction/reproduce.py --pictures

Each step runs compound-bench or compound-tune; what they write by -json lies below the folder, one file a run, and runs
whose file is there are left out: the same command goes on where it ended. What the page needs of these files is then
put to docs/reproduction/reproduction-host.json.xz or reproduction-DEVICE.json.xz, beside what is there of other steps,
and the page is written from these two and from the study of tuning.
"""

import argparse
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
import time

import plot_cases
from experiments import matrices, page
from experiments.records import PICTURES, RECORDS, has_picture, hash_of_rule, read_records
from experiments.steps import STEPS, file_of, parameters_file

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST_S = 8  # that a run is begun for
SCHEMA = "reproduction 1"

# Running.


class Runner:
    def __init__(self, args):
        self.args = args
        self.begin = time.monotonic()
        self.patterns = os.path.join(args.folder, "patterns")
        self.left = []

    def spent(self):
        return time.monotonic() - self.begin

    def write_patterns(self):
        os.makedirs(self.patterns, exist_ok=True)
        for m in [*matrices.COMPOUND, *matrices.FEM]:
            if m.files and not matrices.write_pattern(m, self.args.data, self.patterns):
                print(f"no file of {m.name}: {m.generated} stands in")
        for m in matrices.HELD_BACK:
            if not matrices.write_pattern(m, self.args.data, self.patterns):
                print(f"no file of {m.name}: left out")
        for name in matrices.SAMPLED:
            m = matrices.Matrix(name, "dense", 1, 0, 0, [f"matrices/{name}.mtx"], 0, True, "")
            if not matrices.write_pattern(m, self.args.data, self.patterns):
                print(f"no file of {name}: left out")

    def command(self, step, run):
        program = self.args.bench if run.program == "bench" else self.args.tune
        device = ["-device", "cuda", "-use_gpu_aware_mpi", "0"] if step.device == "cuda" else []
        return [program, *run.options, *device]

    def one(self, step, run):
        """Why it is not done; empty if it is."""
        target = os.path.join(self.args.folder, step.name, run.name + ".json")
        if os.path.exists(target):
            return ""
        rest = self.args.seconds - self.spent()
        if rest < LEAST_S:
            return "no time"
        command = self.command(step, run)
        print(f"== {self.spent():.0f} s: {step.name}: {shlex.join(command)}", flush=True)
        with open(target[:-5] + ".txt", "w") as out:
            try:
                code = subprocess.run(command + ["-json", target + ".new"], timeout=rest, stdout=out,
                                      stderr=subprocess.STDOUT).returncode
            except subprocess.TimeoutExpired:
                return "cut off"
        if code:
            return f"ended with status {code}: {target[:-5]}.txt"
        os.replace(target + ".new", target)
        return ""

    def study(self, step, runs):
        """By the runner of studies, which compiles kernels ahead."""
        study = plot_cases.sibling("tuning-study")
        folder = os.path.join(self.args.folder, step.name)
        asked = argparse.Namespace(tune=self.args.tune, folder=folder, device=step.device, search="exhaustive",
                                   beside=None, budget=self.args.budget or step.budget,
                                   seconds=self.args.seconds - self.spent())
        missing = study.unfinished([run.options for run in runs], folder)
        return [f"{step.name}: {line}" for line in study.Study(asked, missing).all()] if missing else []

    def step(self, step):
        os.makedirs(os.path.join(self.args.folder, step.name), exist_ok=True)
        begin = self.spent()
        runs = [run for run in step.runs(self.patterns) if not (file := file_of(run)) or os.path.exists(file)]
        if runs and runs[0].program == "study":
            self.left += self.study(step, runs)
        else:
            for run in runs:
                if why := self.one(step, run):
                    self.left.append(f"{step.name}: not done ({why}): {run.name}")
        print(f"== {step.name}: {self.spent() - begin:.0f} s", flush=True)


# Records: of each step what the page needs.

ANALYSIS = ("block_rows", "block_columns", "blocks", "mean_row", "row_deviation", "scattered", "row_lengths",
            "row_bandwidths", "block_sizes", "layouts", "rule")
CANDIDATE = ("name", "kind", "plan", "median_s", "least_s", "spread", "compulsory_bytes", "packed_bytes",
             "first_pack_s", "padding", "error")
BENCH = ("block_shape", "block_rows", "blocks", "row_lengths", "row_bandwidths", "best_of_cusparse", "left_out")
KSP = ("type", "ksp", "pc", "iteration_median_s", "residual")
PLAN = ("plan", "median_s", "predicted_s", "choi_s", "work", "times_rule", "copy_bytes", "padding")


def taken(members, of):
    return {m: shortened(of[m]) for m in members if m in of}


def shortened(value):
    """Five digits of a number are more than there is in a time."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, list):
        return [shortened(v) for v in value]
    if isinstance(value, dict):
        return {k: shortened(v) for k, v in value.items()}
    return value


def candidate(c):
    return {**taken(CANDIDATE, c), "name": c["name"].removeprefix(c["kind"] + " ")}


def case_of_bench(case):
    kept = taken(BENCH, case)
    kept["candidates"] = [candidate(c) for c in case.get("candidates", [])]
    if layouts := [candidate(c) for c in case.get("layouts", []) if "why" not in c]:
        kept["layouts"] = layouts
    kept["read_gbs"] = shortened(case["read"]["gbs"])
    if "copy" in case:
        kept["copy_gbs"] = shortened(case["copy"]["gbs"])
    if "ksp" in case:
        kept["ksp"] = [taken(KSP, k) for k in case["ksp"]]
    return kept


def case_of_tune(case):
    kept = taken(("block", "predicted_at", "timed_at", "counted", "compulsory_bytes", "tested", "finals", "again",
                  "screened"), case)
    kept["analysis"] = taken(ANALYSIS, case["analysis"])
    if "plans" in case:
        kept["plans"] = [taken(PLAN, p) for p in case["plans"]]
    for name in ("read", "copy"):
        if name in case:
            kept[name + "_gbs"] = shortened(case[name]["gbs"])
    return kept


def without_folders(words):
    """Of programs and files; types with solvers (TYPE/METHOD) have a slash, too."""
    return [re.sub(r"^((choi:)?).*/(?=[^/]+$)", r"\1", w) if os.sep in w and before != "-types" else w
            for before, w in zip(["", *words], words)]


def record_of(file):
    with open(file) as opened:
        data = json.load(opened)
    cases = data.get("cases", [data])
    of = case_of_bench if data["program"] == "compound-bench" else case_of_tune
    record = {m: data[m] for m in ("program", "date")}
    record["command"] = shlex.join(without_folders(shlex.split(data["command_line"])
                                                   if isinstance(data["command_line"], str) else data["command_line"]))
    record["versions"] = taken(("petsc_compound", "petsc", "petsc_scalar"), data["versions"])
    record["device" if "device" in data
           else "processor"] = data["device"]["name"] if "device" in data else data["machine"]["processor"]
    if "device" in data:
        record["driver"] = data["device"]["driver"]
    record["cases"] = [{"description": os.path.basename(c["description"]), **of(c)} for c in cases]
    return record


def names_of(record, file, step, patterns):
    """Of the runs that a file is of. Those of studies are named by their matrix, which two runs may share."""
    if "screened" not in record["cases"][0]:
        return [file[: -len(".json")]]
    return [run.name for run in step.runs(patterns) if shlex.join(without_folders(run.options)) in record["command"]]


def collect(args, steps):
    """Adds what is in the folder to the records; those of other steps and runs stay."""
    records = read_records(args.records)
    patterns = os.path.join(args.folder, "patterns")
    for step in steps:
        folder = os.path.join(args.folder, step.name)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if not name.endswith(".json"):
                continue
            record = {**record_of(os.path.join(folder, name)), "commit": args.commit, "rule": hash_of_rule()}
            named = names_of(record, name, step, patterns)
            for case in record["cases"]:
                for times in step.left_out:
                    case.pop(times, None)
            for run in named:
                records["steps"].setdefault(step.name, {})[run] = record
        order = [run.name for run in step.runs(patterns)]
        if step.name in records["steps"]:
            records["steps"][step.name] = dict(sorted(records["steps"][step.name].items(),
                                                      key=lambda item: order.index(item[0]) if item[0] in order
                                                      else len(order)))
    if records["steps"]:
        parameters = parameters_file(patterns)
        if os.path.exists(parameters):
            with open(parameters) as opened:
                records["choi"] = json.load(opened)
        with lzma.open(args.records, "wt", encoding="utf-8", preset=9) as out:
            json.dump({**records, "schema": SCHEMA}, out, separators=(",", ":"))


def commit():
    found = subprocess.run(["git", "-C", HERE, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def draw_pictures(folder):
    for name, picture in PICTURES.items():
        if not has_picture(name):
            continue
        command = [sys.executable, os.path.join(HERE, "plot.py"), picture.kind, *picture.source.split(), "-o",
                   os.path.join(folder, f"reproduction-{name}.svg"), "--title", picture.shown,
                   *(word for value in picture.paper for word in ("--paper", value))]
        if code := subprocess.run(command).returncode:
            return code
    return 0


def steps_of(args):
    known = {s.name: s for s in STEPS}
    if unknown := [name for name in args.steps.split(",") if args.steps != "all" and name not in known]:
        sys.exit(f"reproduce.py: --steps: there is no '{unknown[0]}'; choose all, {', '.join(known)}")
    names = list(known) if args.steps == "all" else args.steps.split(",")
    return [known[n] for n in names if args.steps != "all" or known[n].device == args.device]


def main():
    lines = "\n".join(f"  {s.name:19} {s.device:5} about {s.seconds} s" for s in STEPS)
    parser = argparse.ArgumentParser(description=__doc__, epilog="steps:\n" + lines,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="only write the page, from the records")
    parser.add_argument("--check", action="store_true",
                        help="only compare the page with the records; status 1 if it is another one, or if predictions "
                        "are younger than their times")
    parser.add_argument("--pictures", action="store_true",
                        help="only draw the page's pictures, from the records (needs matplotlib)")
    parser.add_argument("--folder", default="build/reproduction", help="of the files of all runs (%(default)s)")
    parser.add_argument("--bench", default="build/host/plugin/tools/compound-bench", help="(%(default)s)")
    parser.add_argument("--tune", default="build/host/plugin/tools/compound-tune", help="(%(default)s)")
    parser.add_argument("--device", default="host", choices=["host", "cuda"], help="of the steps to run (%(default)s)")
    parser.add_argument("--steps", default="all", help="names, separated by commas; all: those of the device")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of all; what is not done then is listed")
    parser.add_argument("--budget", type=float,
                        help="seconds of timing and packing of each matrix of joint-2020 (16) and held-back (8)")
    parser.add_argument("--data", default=os.environ.get("COMPOUND_DATA", ""),
                        help="folder of meshes and matrices (COMPOUND_DATA); without, generated matrices stand in")
    parser.add_argument("--records", help="file that keeps what the page needs "
                        "(docs/reproduction/reproduction-host.json.xz, -h200.json.xz)")
    parser.add_argument("--commit", default=commit(), help="that the programs were built of (%(default)s)")
    parser.add_argument("--to", default=os.path.join(HERE, "..", "reproduction.md"), help="the page")
    args = parser.parse_args()
    if args.check:
        return page.check(args.to)
    if args.pictures:
        return draw_pictures(os.path.join(os.path.dirname(args.to), "images"))
    left = []
    if not args.page:
        args.records = args.records or RECORDS[args.device]
        steps = steps_of(args)
        for program in (args.bench, args.tune):
            if not os.path.exists(program):
                sys.exit(f"reproduce.py: there is no program {program}; build it (README), or name another by --bench "
                         "and --tune")
        runner = Runner(args)
        runner.write_patterns()
        for step in steps:
            runner.step(step)
        collect(args, steps)
        left = runner.left
    page.write(args.to)
    for line in left:
        print(line)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
