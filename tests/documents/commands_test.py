#!/usr/bin/env python3
# release: no
"""Commands of our programs that documents print run to their end, with every option read.

Each is made small (commands.py): few unknowns, one round, on the host; lines that differ only in sizes run once.
Tools' commands for a device are in blocks_not_run.txt. The tier quick runs every third command.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys

import commands

IGNORED = ("mat_compound_wisdom", "vec_type", "ksp_rtol", "ksp_converged_maxits", "log_view")


def make_files(folder, programs, plugin):
    """What documents name: A.dat and B.dat of PETSc, A.mtx, complex.mtx with complex values, and records of tuning."""
    for name in ("A.dat", "B.dat") if "elasticity" in programs else ():
        run = subprocess.run([programs["elasticity"], "-dll_append", plugin, "-box", "3,3,3", "-mat_type", "baij",
                              "-ksp_view_mat", f"binary:{name}"], cwd=folder, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"elasticity cannot write {name}:\n{run.stdout}{run.stderr}")
    if "compound-tune" in programs:
        options = "-grid 7 -n 4 -samples 3 -seconds 1 -json before.json -wisdom w".split()
        subprocess.run([programs["compound-tune"], *options], cwd=folder, capture_output=True, check=True)
        for source, name in (("before.json", "after.json"), ("w", "w1"), ("w", "w2")):
            shutil.copy(os.path.join(folder, source), os.path.join(folder, name))
    rows = 36
    places = [(i, j) for i in range(rows) for j in range(rows) if abs(i // 3 - j // 3) <= 1]
    for name, kind in (("A.mtx", "real"), ("complex.mtx", "complex")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(f"%%MatrixMarket matrix coordinate {kind} general\n{rows} {rows} {len(places)}\n")
            for i, j in places:
                value = f"{4 if i == j else -0.5 / (1 + j)}"
                file.write(f"{i + 1} {j + 1} {value}{' 0.25' if kind == 'complex' else ''}\n")


def collected(args):
    """(document, command, processes, program, options), each of what is run once."""
    found, seen = [], set()
    for path in commands.documents():
        with open(os.path.join(commands.TOP, path)) as file:
            text = file.read()
        for _, language, lines, above in commands.blocks(text):
            if language not in ("", "sh") or above.startswith("<!-- block"):
                continue
            for command in commands.commands(lines):
                if commands.is_run(command):
                    small = commands.smaller(command, args.plugin)
                    if small not in seen:
                        seen.add(small)
                        found.append((path, command, *small))
    return found


def wrong_with(run, name):
    output = run.stdout + run.stderr
    lines = [line for line in output.splitlines() if "Configure options" not in line]
    left = [option for option in re.findall(r"Option left: name:-(\w+)", output)
            if not option.startswith(IGNORED)]
    if name == "compound-tune" and run.returncode == 1 and "error:" not in output:
        return None  # -compare found a plan that became slower
    if run.returncode:
        return f"ended with status {run.returncode}:\n" + "\n".join(lines)[-800:]
    left += re.findall(r"petsc-compound: (unknown option .*)", output)
    return f"has options that nothing reads: {left}" if left else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", required=True, help="paths of the examples and tools that were built")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--scratch", required=True)
    args = parser.parse_args()
    programs = {os.path.basename(path): os.path.abspath(path) for path in args.programs}
    os.makedirs(args.scratch, exist_ok=True)
    make_files(args.scratch, programs, args.plugin)
    os.environ["XDG_CACHE_HOME"] = os.path.join(args.scratch, "cache")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    data = os.path.join(args.scratch, "examples")
    if not os.path.exists(data):
        os.symlink(os.path.join(commands.TOP, "examples"), data)
    found, failures, skipped, count = collected(args), [], set(), 0
    programs["python3"] = sys.executable
    draws = subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True).returncode == 0
    whole = os.environ.get("COMPOUND_TIER") == "all"
    for index, (path, command, ranks, name, options) in enumerate(found):
        if name == "python3" and not (whole and draws):
            skipped.add("pictures are drawn in the tier all, if matplotlib is installed: these commands are skipped")
            continue
        if name not in programs:
            skipped.add(f"{name} is not in this build: its commands are skipped")
            continue
        if not whole and index % 3 and "-json" not in options and "-wisdom" not in options:
            continue
        line = (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [programs[name], *shlex.split(options)]
        count += 1
        try:
            run = subprocess.run(line, cwd=args.scratch, capture_output=True, text=True, timeout=120)
            wrong = wrong_with(run, name)
        except subprocess.TimeoutExpired:
            wrong = "did not end within 120 s"
        if wrong:
            failures.append(f"{path}: {command}\n  run as {name} {options}\n  {wrong}")
    print(*sorted(skipped), *failures, sep="\n")
    print(f"{len(found)} commands in documents, {count} of them run, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
