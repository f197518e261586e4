#!/usr/bin/env python3
"""Measures what the tables of README.md and docs/ are written from: appends runs to docs/data/figures/host.json.xz or
device.json.xz. python3 config/figures.py then writes the pages.

    python3 config/measure_figures.py --build build/host
    python3 config/measure_figures.py --build build/petsc-3.26.1-cuda-real --device --seconds 480

A step that the record has of this commit is left out, so the same command goes on where it ended, also after --seconds
are over. --only NAME takes the steps whose names begin with NAME; --list prints them all. Each step is one run of
compound-bench, which times its candidates in turns, or several runs of an example by turns.
"""

import argparse
import csv
import datetime
import json
import lzma
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

TOP = pathlib.Path(__file__).resolve().parents[1]
RECORDS = TOP / "docs/data/figures"
BRACKET = ["-mesh", str(TOP / "examples/data/bracket.msh")]
ALL_SIZES = "1,2,3,4,5,6,7,8"


@dataclass
class Bench:
    """One run of compound-bench."""
    name: str
    options: str
    ranks: int = 1


@dataclass
class Turns:
    """Runs of an example, each variant (its name and options) once a round; the record says which fail."""
    name: str
    program: str
    options: list
    variants: dict
    rounds: int
    ranks: int = 1


@dataclass
class Study:
    """Runs of compound-tune: of each matrix all plans, and by how much those that are chosen are slower."""
    name: str
    matrices: list
    budget: int  # seconds of each


def solver_types(types, methods):
    return ",".join(f"{t}/{m}" for t in types for m in methods)


def box(nodes):
    cells = str(nodes - 1)
    return ["-box", ",".join([cells] * 3)]


def with_types(**types):
    return {name: ["-mat_type", t] for name, t in types.items()}


# On a device.

ON_DEVICE = ["-device", "cuda", "-use_gpu_aware_mpi", "0"]
EXAMPLE_ON_DEVICE = ["-vec_type", "cuda", "-use_gpu_aware_mpi", "0"]

ON_GRIDS = "-grid 27 -n 15,30,60,90 -block_size 3 -rounds 7 -min_time 0.02 -types "
OF_BOTH = ",".join([solver_types(["aijcusparse", "baijcompound"], ["cg", "bcgs"]),
                    solver_types(["baijcompound"], ["cgcompound", "bcgscompound"])])
LOOPS = {"graphs": "graphs", "persistent": "persistent", "persistent2": "persistent2"}
OF_LOOPS = {"scalars-7": "-grid 7 -n 30 -block_size 1", "4x4-15": "-grid 15 -n 15 -block_size 4",
            "3x3-27": "-grid 27 -n 15,24,41 -block_size 3"}
FORMATS = {
    "quaternion": ("-grid surface -rows 436000 -block_size 4 -entry quaternion",
                   "bsrmv-row,bsrmv-column,bsr-row,bsr-column,csr"),
    "dual-quaternion": ("-grid surface -rows 200000 -block_size 8 -entry dual_quaternion",
                        "bsrmv-row,bsrmv-column,bsr-row,bsr-column,csr"),
    "complex": ("-grid 15 -rows 1000000 -block_size 2 -entry complex",
                "complex-csr,complex-csr-alg1,complex-csr-alg2,complex-sell,csr,sell"),
    "scaled-identity": ("-grid 15 -rows 500000 -block_size 3 -entry scaled_identity", "csr,sell"),
    "diagonal": ("-grid 15 -rows 500000 -block_size 3 -entry diagonal", "csr,sell"),
}
LAYOUTS = "auto;csr;ellr;bellpack:32;sell:32;hdia:32;ccoo:128"
OF_LAYOUTS = {"scalars-7": ("-grid 7 -n 150 -block_size 1", "csr,sell,coo", ""),
              "3x3-27": ("-grid 27 -n 60 -block_size 3", "bsr-row,bsr-column,bsrmv-row,bsrmv-column",
                         ";sell:32 codes=blocks8;hdia:32 codes=blocks8"),
              "complex-27": ("-grid 27 -n 70 -block_size 2 -entry complex", "complex-csr,complex-sell", "")}

LIBRARY = {
    "3x3": ("-grid 27 -n 40 -block_size 3", "auto;cusparse:bsr-row;cusparse:bsr-column;cusparse:bsrmv-row;"
            "cusparse:bsrmv-column"),
    "scalars": ("-grid 7 -n 100 -block_size 1", "auto;cusparse:csr-alg2"),
    "complex": ("-grid 15 -n 67 -block_size 2 -entry complex", "auto;entry=complex cusparse:csr-alg2"),
}

CYCLES = {
    "aijcusparse": ["-mat_type", "aijcusparse", "-ksp_type", "cg"],
    "set-up on the host": ["-mat_type", "aijcompound", "-ksp_type", "cg", "-pc_gamg_compound_set_up", "host",
                           "-pc_mg_compound_cycle", "false"],
    "cg, by PETSc": ["-mat_type", "aijcompound", "-ksp_type", "cg", "-pc_mg_compound_cycle", "false"],
    "cg": ["-mat_type", "aijcompound", "-ksp_type", "cg"],
    "cgcompound": ["-mat_type", "aijcompound", "-ksp_type", "cgcompound"],
    "cgcompound, single": ["-mat_type", "aijcompound", "-ksp_type", "cgcompound", "-pc_mg_compound_precision",
                           "single"],
}
WITH_GAMG = ["-pc_type", "gamg", "-set_up", "2", "-repeat", "5"]
PROGRAMS = {
    "aijcusparse, jacobi, insert": ["-mat_type", "aijcusparse", "-ksp_type", "cg", "-pc_type", "jacobi"],
    "baijcompound, jacobi, insert": ["-mat_type", "baijcompound", "-ksp_type", "cgcompound", "-pc_type", "jacobi"],
    "baijcompound, jacobi, device": ["-mat_type", "baijcompound", "-ksp_type", "cgcompound", "-pc_type", "jacobi",
                                     "-assembly", "device"],
    "aijcompound, gamg, insert": ["-mat_type", "aijcompound", "-ksp_type", "cgcompound", "-pc_type", "gamg"],
    "aijcompound, gamg, device": ["-mat_type", "aijcompound", "-ksp_type", "cgcompound", "-pc_type", "gamg",
                                  "-assembly", "device"],
}
BY_TYPE = {"aijcusparse, cg": ["-mat_type", "aijcusparse", "-ksp_type", "cg"],
           "baijcompound, cg": ["-mat_type", "baijcompound", "-ksp_type", "cg"],
           "baijcompound, cgcompound": ["-mat_type", "baijcompound", "-ksp_type", "cgcompound"]}

DEVICE = [
    Bench("ksp-jacobi", ON_GRIDS + OF_BOTH + " -pc_type jacobi"),
    Bench("ksp-pbjacobi", ON_GRIDS.replace(",90", "") + OF_BOTH + " -pc_type pbjacobi"),
    Turns("gamg-41", "elasticity", [*box(41), *WITH_GAMG], CYCLES, 2),
    Turns("gamg-61", "elasticity", [*box(61), *WITH_GAMG], CYCLES, 2),
    Turns("gamg-bracket", "elasticity", [*BRACKET, "-refine", "2", *WITH_GAMG], CYCLES, 2),
    Bench("products-sizes", f"-grid 15 -megabytes 400 -block_size {ALL_SIZES} -types none -core_plans auto -cusparse "
          "all -rounds 5 -min_time 0.02"),
    Bench("products-small", "-grid 27 -n 10,15,20,30,40 -block_size 3 -types none -core_plans auto -cusparse all -cold "
          "-graph -rounds 5 -min_time 0.02"),
    *(Bench(f"format-{name}", f"{options} -cusparse {theirs} -types none -rounds 5 -min_time 0.01 -core_plans "
            "'auto;entry=dense'") for name, (options, theirs) in FORMATS.items()),
    Bench("assembly", "-grid 27 -n 30,60 -block_size 3 -rounds 3 -pc_type jacobi -types "
          "aijcusparse/assembly,baijcompound/assembly,aijcompound/assembly"),
    Bench("coo", "-grid 27 -n 30,60 -block_size 3 -rounds 3 -types aijcusparse/coo,baijcompound/coo,aijcompound/coo"),
    *(Turns(f"programs-{n}", "elasticity", box(n), PROGRAMS, 3) for n in (41, 61)),
    Bench("columns", "-grid 27 -n 30,60 -block_size 3 -rounds 3 -min_time 0.02 -columns 2,4,8,16 -pc_type pbjacobi "
          "-types baijcompound/cgcompound/dense,aijcusparse/cg/dense"),
    *(Bench(f"loops-{name}-{loop}", f"{options} -rounds 5 -min_time 0.02 -types "
            f"baijcompound/cgcompound,baijcompound/bcgscompound -pc_type jacobi -ksp_compound_loop {loop}")
      for name, options in OF_LOOPS.items() for loop in LOOPS.values()),
    Bench("products-large", "-grid 27 -n 100 -block_size 3 -types aijcusparse -core_plans 'auto;values=float' "
          "-cusparse all -rounds 5 -min_time 0.02"),
    *(Bench(f"layouts-{name}", f"{options} -cusparse {theirs} -types none -values stencil -rounds 5 -min_time 0.01 "
            f"-core_plans '{LAYOUTS}{more}'") for name, (options, theirs, more) in OF_LAYOUTS.items()),
    *(Bench(f"library-{name}", f"{options} -types none -rounds 5 -min_time 0.01 -core_plans '{plans}'")
      for name, (options, plans) in LIBRARY.items()),
    Turns("solve-quaternion", "spin_transformation", ["-sphere", "8", "-repeat", "1"], BY_TYPE, 2),
    Turns("solve-complex", "helmholtz", ["-cells", "64,64,64", "-frequency", "1000"],
          with_types(aijcusparse="aijcusparse", baijcompound="baijcompound"), 3),
    Turns("gamg-91", "elasticity", [*box(91), *WITH_GAMG],
          {name: CYCLES[name] for name in ("cg, by PETSc", "cg", "cgcompound, single")}, 2),
]

# On the host.

OF_ELASTICITY = {"aij": ["-mat_type", "aij"], "baij": ["-mat_type", "baij"],
                 "baijcompound": ["-mat_type", "baijcompound"],
                 "baijcompound, cgcompound": ["-mat_type", "baijcompound", "-ksp_type", "cgcompound"],
                 "aij, gamg": ["-mat_type", "aij", "-pc_type", "gamg"],
                 "aijcompound, gamg": ["-mat_type", "aijcompound", "-pc_type", "gamg"]}
OF_HALVES = {**with_types(sbaij="sbaij", sbaijcompound="sbaijcompound", baij="baij", baijcompound="baijcompound"),
             "baijcompound half=symmetric": ["-mat_type", "baijcompound", "-mat_compound_plan", "half=symmetric"]}
OF_GAMG = with_types(aij="aij", aijcompound="aijcompound")
HOST_FORMATS = {"quaternion": "-grid surface -megabytes 600 -block_size 4 -entry quaternion",
                "dual-quaternion": "-grid surface -megabytes 900 -block_size 8 -entry dual_quaternion",
                "complex": "-grid 15 -megabytes 400 -block_size 2 -entry complex",
                "scaled-identity": "-grid 15 -megabytes 900 -block_size 3 -entry scaled_identity",
                "diagonal": "-grid 15 -megabytes 600 -block_size 3 -entry diagonal"}
TUNED = ["-block_size 1 -grid 5 -n 224", "-block_size 1 -grid 7 -n 26", "-block_size 1 -grid 7 -n 80",
         "-block_size 1 -grid 27 -n 17", "-block_size 1 -grid 7 -n 40 -long_rows 10:100", "-block_size 2 -grid 7 -n 20",
         "-block_size 3 -grid 7 -n 30", "-block_size 3 -grid 15 -n 30", "-block_size 3 -grid 27 -n 17",
         "-block_size 3 -grid 27 -n 30", "-block_size 3 -grid 27 -n 30 -shuffle all", "-block_size 4 -grid 27 -n 15",
         "-block_size 6 -grid 27 -n 18", "-block_size 4 -entry quaternion -grid surface -n 100",
         "-block_size 2 -entry complex -grid 15 -n 40"]
HOST_LAYOUTS = {"scalars-7": "-grid 7 -n 100 -block_size 1", "scalars-27": "-grid 27 -n 64 -block_size 1",
                "3x3-27": "-grid 27 -n 40 -block_size 3"}

HOST = [
    Bench("products-sizes", f"-grid 27 -megabytes 200 -block_size {ALL_SIZES} -types aij,baij,baijcompound -plans "
          "values=float -rounds 9 -min_time 0.03"),
    Bench("products-small", f"-grid 27 -rows 8000 -block_size {ALL_SIZES} -types aij,baij,baijcompound -rounds 15"),
    *(Turns(f"gamg-{ranks}", "elasticity", [*box(41), "-pc_type", "gamg", "-set_up", "1", "-repeat", "3"], OF_GAMG, 3,
            ranks) for ranks in (1, 2)),
    Bench("ksp", "-grid 27 -n 6,8,12,16,20,30 -block_size 3 -pc_type jacobi -rounds 31 -types "
          + ",".join([solver_types(["baij"], ["cg", "bcgs"]),
                      solver_types(["baijcompound", "aijcompound"], ["cg", "cgcompound", "bcgs", "bcgscompound"])])),
    Bench("half", "-grid 27 -megabytes 300 -block_size 1,2,3,4,5,6,8 -values symmetric -rounds 7 -min_time 0.05 -types "
          "none -plans 'csr;csr half=symmetric'"),
    Turns("half-solves", "elasticity", [*box(41), "-ksp_type", "cg", "-pc_type", "jacobi", "-ksp_rtol", "1e-8",
                                        "-repeat", "1"], OF_HALVES, 2),
    Bench("dense", "-grid 27 -n 40 -block_size 2,3,4 -types baij/dense,baijcompound/dense,aij/dense,aijcompound/dense "
          "-columns 4,8,16 -rounds 5"),
    Bench("columns", "-grid 7 -n 40 -block_size 3 -columns 4,8,16 -pc_type jacobi -rounds 3 -types "
          "baij/cg/dense,baijcompound/cg/dense,baijcompound/cgcompound/dense"),
    Bench("assembly", "-grid 27 -n 30,60 -block_size 3 -pc_type jacobi -rounds 3 -types "
          "baij/assembly,baijcompound/assembly,aij/assembly,aijcompound/assembly"),
    *(Bench(f"format-{name}", f"{options} -types baij -rounds 7 -min_time 0.05 -core_plans 'auto;csr;entry="
            + name.replace("-", "_") + " values=float'") for name, options in HOST_FORMATS.items()),
    Bench("aij-arrays", "-grid 27 -n 12,40 -block_size 3,6 -types aij,baij -core_plans 'csr words=rows;csr' -baseline "
          "aij -rounds 9"),
    *(Bench(f"layouts-{name}", f"{options} -types none -values stencil -rounds 7 -min_time 0.03 -core_plans "
            "'csr;sell:8;hdia:32;hdia:32 codes=scalars8;dia;dia codes=scalars8;ccoo'")
      for name, options in HOST_LAYOUTS.items()),
    Study("tuning", TUNED, 6),
    Turns("elasticity", "elasticity", [*BRACKET, "-refine", "1", "-ksp_type", "cg", "-pc_type", "pbjacobi", "-ksp_rtol",
                                       "1e-8", "-repeat", "1"], OF_ELASTICITY, 3),
]


# Running.


def commit():
    return subprocess.run(["git", "-C", str(TOP), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                          check=True).stdout.strip()


def for_records(value):
    """For records: five digits, and names of candidates without their kind (`core auto`)."""
    if isinstance(value, dict):
        value = {name: for_records(v) for name, v in value.items() if not name.endswith("samples_s")}
        return value | {"name": value["name"].removeprefix(value["kind"] + " ")} if "kind" in value else value
    if isinstance(value, float):
        return value if value.is_integer() else float(f"{value:.5g}")
    return [for_records(v) for v in value] if isinstance(value, list) else value


def by_mpi(ranks):
    return ["mpirun", "-n", str(ranks)] if ranks > 1 else []


def line_of(command):
    """The command without folders."""
    return shlex.join(pathlib.Path(word).name if word.startswith("/") else word for word in command)


class Failed(Exception):
    pass


def run(command):
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        error = next((of for of in done.stderr.splitlines() if "ERROR" in of and "----" not in of), done.stderr[-300:])
        raise Failed(f"ended with status {done.returncode}: {error.strip()}")
    return done.stdout, time.monotonic() - begin


class Machine:
    """A build, and the device or host that it runs on."""

    def __init__(self, build, device):
        self.build, self.device = build, device
        self.about = self.facts(self.bench(Bench("", "-grid 7 -n 4 -types none -core_plans csr -rounds 1"))[0])

    def facts(self, written):
        machine = {name: written["machine"][name] for name in ("processor", "cores", "caches") if
                   name in written["machine"]}
        versions = {name: v for name, v in written["versions"].items() if name != "petsc_configuration"}
        device = written.get("device", {"name": machine["processor"]})
        return {"device": device, "machine": machine, "versions": versions}

    def bench(self, step):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bench.json"
            command = [*by_mpi(step.ranks), str(self.build / "plugin/tools/compound-bench"),
                       *shlex.split(step.options), *(ON_DEVICE if self.device else [])]
            run([*command, "-json", str(out)])
            return json.loads(out.read_text(encoding="utf-8")), line_of(command)

    def of_bench(self, step):
        written, line = self.bench(step)
        return {"program": "compound-bench", "command_line": line, "rounds": written["rounds"], "ranks": step.ranks,
                "cases": for_records(written["cases"])}

    def example(self, step, options):
        """What it prints, and seconds of events."""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log.csv"
            command = [*by_mpi(step.ranks), str(self.build / "examples" / step.program), *step.options, *options,
                       *(EXAMPLE_ON_DEVICE if self.device else []), "-dll_append",
                       str(self.build / "plugin/libpetsccompound.so")]
            text, seconds = run([*command, "-log_view", f":{log}:ascii_csv"])
            events = {}
            with open(log, newline="") as file:
                for row in csv.reader(file):
                    if len(row) > 4 and row[1] in ("MatMult", "KSPSolve", "PCSetUp") and row[3] != "0":
                        key = (row[0], row[1])
                        if row[0] in ("Main Stage", "Repeat"):
                            events[key] = max(events.get(key, 0.0), float(row[4]))
        return text, seconds, events, line_of(command)

    def of_turns(self, step):
        printed = {"iteration_us": r"repeat microseconds an iteration: (\S+)", "iterations": r"iterations: (\d+)\n",
                   "unknowns": r"unknowns: (\d+)", "blocks": r"blocks: (\d+)",
                   "assembly_s": r"assembly seconds: (\S+)", "first_solve_s": r"\nsolve seconds: (\S+)",
                   "set_up_again_s": r"set-up seconds each: (\S+)", "relative_residual": r"relative residual: (\S+)"}
        logged = {"first_set_up_s": ("Main Stage", "PCSetUp"), "repeat_products_s": ("Repeat", "MatMult"),
                  "repeat_solve_s": ("Repeat", "KSPSolve")}
        samples, lines, failed = {name: {} for name in step.variants}, {}, {}
        for _ in range(step.rounds):
            for name, options in step.variants.items():
                if name in failed:
                    continue
                try:
                    text, seconds, events, lines[name] = self.example(step, options)
                except Failed as why:
                    failed[name] = str(why)
                    continue
                found = {key: re.search(pattern, text) for key, pattern in printed.items()}
                values = {key: float(match[1]) for key, match in found.items() if match}
                values |= {key: events[at] for key, at in logged.items() if at in events}
                for key, value in {**values, "whole_s": seconds}.items():
                    samples[name].setdefault(key, []).append(value)
        if len(failed) == len(step.variants):
            raise Failed(next(iter(failed.values())))
        variants = {name: {key: {"median": statistics.median(v), "least": min(v), "most": max(v)}
                           for key, v in of.items()} for name, of in samples.items() if of}
        return {"program": step.program, "command_line": line_of([step.program, *step.options]), "rounds": step.rounds,
                "ranks": step.ranks, "variants": for_records(variants), "command_lines": lines, "failed": failed}

    def of_study(self, step):
        common = ["-search", "exhaustive", "-top", "1", "-budget", str(step.budget)]
        cases = []
        for options in step.matrices:
            with tempfile.TemporaryDirectory() as folder:
                run([str(self.build / "plugin/tools/compound-tune"), *common, *shlex.split(options), "-study", folder,
                     *(ON_DEVICE if self.device else ["-device", "host"])])
                study = json.loads(next(pathlib.Path(folder).glob("*.json")).read_text(encoding="utf-8"))
            cases.append({"options": options, "description": study["description"], "block": study["block"],
                          "compulsory_bytes": study["compulsory_bytes"], "plans": len(study["screened"]),
                          "tested": study["tested"],
                          "fastest": min(study["finals"], key=lambda p: p["seconds"])["plan"]})
        return {"program": "compound-tune", "command_line": " ".join(["compound-tune", *common]), "rounds": 15,
                "cases": cases}

    def of(self, step):
        ways = {Bench: self.of_bench, Turns: self.of_turns, Study: self.of_study}
        taken = ways[type(step)](step)
        return {"step": step.name, "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}", **taken,
                **self.about}


def read(record):
    return json.loads(lzma.open(record, "rt").read())["runs"] if record.exists() else []


def write(record, runs):
    with lzma.open(record, "wt", preset=9) as out:
        json.dump({"schema": "figures 1", "runs": runs}, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="the build folder with compound-bench and examples")
    parser.add_argument("--device", action="store_true", help="on a CUDA device")
    parser.add_argument("--only", default="", help="steps whose names begin so")
    parser.add_argument("--list", action="store_true", help="only print the steps")
    parser.add_argument("--seconds", type=float, default=1e9, help="no step begins after so many")
    parser.add_argument("--commit", help="of the build, where this is no repository")
    parser.add_argument("--out", type=pathlib.Path, default=RECORDS, help="the folder of the record")
    args = parser.parse_args()
    steps = [step for step in (DEVICE if args.device else HOST) if step.name.startswith(args.only)]
    if args.list or not args.build:
        for step in steps:
            print(f"{step.name}: {step}")
        return 0 if args.list else "measure_figures.py: name the build folder by --build"
    begin, wrong = time.monotonic(), []
    of_commit = args.commit or commit()
    record = args.out / ("device.json.xz" if args.device else "host.json.xz")
    runs = read(record)
    machine = Machine(args.build.resolve(), args.device)
    for step in steps:
        if any(run["step"] == step.name and run["commit"] == of_commit for run in runs):
            continue
        spent = time.monotonic() - begin
        if spent > args.seconds:
            wrong.append(f"{step.name}: no time")
            continue
        try:
            taken = {**machine.of(step), "commit": of_commit}
        except Failed as why:
            wrong.append(f"{step.name}: {why}")
            continue
        # One run of a step: the latest.
        runs = [of for of in runs if of["step"] != step.name] + [taken]
        write(record, runs)
        print(f"{step.name}: {time.monotonic() - begin - spent:.0f} s", flush=True)
    print("\n".join(["not done:", *wrong] if wrong else ["all done"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
