#!/usr/bin/env python3
"""Looks for cases for the table: runs the tests that PETSc's programs name in their /*TEST blocks with baij, and where
baij works and is used, with baijcompound. Prints one row a case, in the table's form, and what differs after it.

    python3 tests/petsc/scan.py --build build/host --sources SOURCES [REGEX of programs]

Takes an hour or more for all programs of a release.
"""

import argparse
import concurrent.futures
import glob
import os
import re

import compare
from programs import Petsc, Programs, from_cache
from runner import Runner
from sources import find, tests_of

PLACES = ["mat", "ksp", "snes", "ts", "dm"]
MAKES_MATRICES = re.compile(r"MatSetFromOptions|DMCreateMatrix|DMSetMatType|DMSetFromOptions|DMDACreate|-mat_type")
TYPE_OPTION = re.compile(r"(-\w*mat_type) +(\w+)")


def is_met(requirement, petsc):
    """Whether this PETSc has what a test requires; words that we do not know count as not met."""
    if requirement.startswith("!"):
        return not is_met(requirement[1:], petsc)
    word = requirement.strip(",")
    defined = re.fullmatch(r"define\(PETSC_(\w+)\)", word)
    if defined:
        return defined.group(1) in petsc.conf
    known = {"complex": petsc.scalar == "complex", "real": petsc.scalar == "real", "double": True, "single": False,
             "c99": True,
             "__float128": False, "double_precision": True, "64bitptr": True, "long_runtime": False,
             "datafilespath": False,
             "x": False, "cuda": False, "defined": False}
    return known.get(word, f"HAVE_{word.upper()}" in petsc.conf)


def variants(test):
    """Options with TYPE where the matrix type goes."""
    args = re.sub(r"\$\{?w?PETSC_DIR\}?/share/petsc/datafiles", "DATA", test.args)
    if TYPE_OPTION.search(args):
        return TYPE_OPTION.sub(r"\1 TYPE", args)
    return f"{args} -mat_type TYPE -dm_mat_type TYPE".strip()


def with_prefixes(options, outcome):
    """Type options for the prefixes that the program's matrices and DMs have."""
    more = [f"-{prefix}{'dm_' if kind == 'dm' else ''}mat_type TYPE" for kind, prefix in sorted(outcome.prefixes)
            if prefix]
    return " ".join([options, *(o for o in more if o not in options)])


def has_baij(outcome):
    return any(name in outcome.types for name in ("seqbaij", "mpibaij"))


def has_compound(outcome):
    return any("baijcompound" in name for name in outcome.types)


def examine(runner, test):
    """(verdict, row, remark)."""
    options = variants(test)

    def row():
        return f"{test.program}\t{test.ranks}\t{options}"

    if "$" in options or ";" in options:
        return "odd", row(), ""
    reference = runner.run(test.program, test.ranks, options.split(), "baij")
    if not has_baij(reference):
        more = with_prefixes(options, reference)
        if more != options:
            options = more
            reference = runner.run(test.program, test.ranks, options.split(), "baij")
    if reference.code:
        return "baij fails", row(), reference.complaint()
    if not has_baij(reference):
        return "unused", row(), ""
    own = runner.run(test.program, test.ranks, options.split(), "baijcompound")
    seconds = (
        f"{reference.seconds:.1f}s {own.seconds:.1f}s products {own.products} types "
        f"{sum(n for t, n in own.types.items() if 'compound' in t)}"
    )
    if own.code:
        return "FAILS", row(), own.complaint()
    if not has_compound(own):
        return "NOT USED", row(), str(own.types)
    count, difference = compare.compare(own.output, reference.output)
    if difference:
        again = runner.run(test.program, test.ranks, options.split(), "baij")
        if compare.compare(again.output, reference.output)[1]:
            return "unsteady", row(), difference
        return "DIFFERS", row(), difference
    return "same", row(), f"{count} numbers {seconds}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="a configured build folder")
    parser.add_argument("--plugin")
    parser.add_argument("--sources")
    parser.add_argument("--work", default="build/petsc-scan")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--tests", type=int, default=4, help="at most of each program")
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("programs", nargs="?", default="")
    args = parser.parse_args()
    settings = from_cache(args.build)
    petsc = Petsc(settings["petsc_pkgconfig"])
    sources = find(petsc.release, args.sources, args.work, may_download=False)
    programs = Programs(args.work)
    runner = Runner(programs, os.path.abspath(args.plugin or settings["plugin"]), settings["mpiexec"],
                    petsc.library_folder, args.timeout,
                    "HAVE_CUDA" in petsc.conf)
    programs.data = sources.data

    def examine_program(name):
        tests = [t for t in tests_of(os.path.join(sources.src, name + ".c"), name)
                 if all(is_met(r, petsc) for r in t.requires) and t.ranks <= 4]
        if not tests:
            return
        # of many tests those on the most different numbers of ranks and with the most different options
        step = max(1, len(tests) // args.tests)
        chosen = tests[::step][:args.tests]
        programs.build([name], petsc, sources, settings["mpicc"], 1, [])
        if name in programs.errors:
            print(f"{name}\tdoes not build\t{programs.errors[name]}", flush=True)
            return
        seen = set()
        for test in chosen:
            if (test.ranks, variants(test)) in seen:
                continue
            seen.add((test.ranks, variants(test)))
            verdict, row, remark = examine(runner, test)
            print(f"{verdict}\t{row}\t{remark}", flush=True)

    names = []
    for place in PLACES:
        for path in sorted(glob.glob(os.path.join(sources.src, place, "**", "*.c"), recursive=True)):
            name = os.path.relpath(path, sources.src)[:-2]
            if not re.search(r"/(tests|tutorials)/", name) or not re.search(args.programs, name):
                continue
            with open(path, errors="replace") as file:
                if MAKES_MATRICES.search(file.read()):
                    names.append(name)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for _ in pool.map(examine_program, names):
            pass


if __name__ == "__main__":
    main()
