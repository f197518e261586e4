#!/usr/bin/env python3
# release: no
"""Every line of options of docs/choosing.md solves a small system of the kind that it is for.

A row of the page's table ends with a comment that names these systems (choosing_problem.c). Lines for a GPU run on the
device; where there is none they are skipped, with the reason, and the same options run on the host.
"""

import argparse
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(TOP, "docs", "choosing.md")
LEAF = re.compile(r"^\|.*\| `(?P<options>-mat_type [^`]*)` <!-- leaf (?P<systems>[\w, ]+) --> \|$", re.M)
DEVICE_OPTIONS = " -vec_type cuda -use_gpu_aware_mpi 0"
NO_DEVICE = {"Unknown vector type: cuda": "this PETSc has no CUDA",
             "name:-vec_type value: cuda": "this PETSc has no CUDA",
             "Cannot lazily initialize PetscDevice": "there is no CUDA device"}
LEAST_LEAVES, MOST_QUESTIONS, MOST_LINES = 12, 8, 80


def run(args, options, system, many):
    command = [args.program, "-dll_append", args.plugin, *options.split(), "-system", system, "-ksp_rtol", "1e-9",
               "-options_left", "-mat_compound_wisdom", "none"]
    if many:
        command += ["-systems", "3"]
    if DEVICE_OPTIONS in options:
        command += ["-mat_compound_view"]  # says where products ran
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    output = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if "Configure options" not in line)
    return done.returncode, output


def wrong_with(code, output, options):
    """What is wrong with a run, or None."""
    found = dict(re.findall(r"^(\w+): (.*)$", output, re.M))
    wanted = re.search(r"-mat_type (\w+)", options)[1]
    left = [line for line in re.findall(r"^Option left: name:-(.*)$", output, re.M)
            if not line.startswith(("mat_compound_wisdom", "use_gpu_aware_mpi", "ksp_rtol"))]  # of the test
    if code != 0:
        return f"ended with code {code}:\n{output[-1500:]}"
    if not found.get("type", "").endswith(wanted):
        return f"made a matrix of type {found.get('type')}"
    if not found.get("reason", "").startswith("CONVERGED") or float(found["error"]) > 1e-5:
        return f"did not solve the system: {found}"
    return f"has options that nothing reads: {left}" if left else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--page", default=PAGE)
    args = parser.parse_args()
    with open(args.page) as file:
        text = file.read()
    leaves = [(m["options"], m["systems"].split(", ")) for m in LEAF.finditer(text)]
    questions, lines = re.findall(r"^\d+\. \*\*", text, re.M), text.count("\n")
    failures = []
    if len(leaves) < LEAST_LEAVES or len(leaves) != text.count("`-mat_type "):
        failures.append(f"{len(leaves)} lines of options with the comment that the test reads, "
                        f"{text.count('`-mat_type ')} lines in all, {LEAST_LEAVES} expected at least")
    if len(questions) > MOST_QUESTIONS or lines > MOST_LINES:
        failures.append(f"{len(questions)} questions in {lines} lines; {MOST_QUESTIONS} in {MOST_LINES} are allowed")
    count = 0
    for options, systems in leaves:
        many = "many" in systems
        for system in (name for name in systems if name != "many"):
            code, output = run(args, options, system, many)
            reason = next((NO_DEVICE[sign] for sign in NO_DEVICE if sign in output), None)
            if DEVICE_OPTIONS in options and not reason and not code and "compound backend: cuda" not in output:
                reason = "products ran on the host"
            if DEVICE_OPTIONS in options and reason:
                if os.environ.get("COMPOUND_DEVICE_REQUIRED"):
                    failures.append(f"{options}: {reason}")
                print(f"skipped on the device, run on the host: {reason}: {options}")
                code, output = run(args, options.replace(DEVICE_OPTIONS, ""), system, many)
            count += 1
            if wrong := wrong_with(code, output, options):
                failures.append(f"{options}, system {system}: {wrong}")
    print(*failures, f"{len(leaves)} lines of options, {count} solves, {len(failures)} failures", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
