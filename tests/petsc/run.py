#!/usr/bin/env python3
"""Runs PETSc's own test and tutorial programs, compiled unchanged, with baij and with baijcompound (or with aij and
aijcompound: --type aijcompound; or with sbaij and sbaijcompound): the cases of table.txt. Passed are those that end
with the same exit code and print the same, number by number, and really used our type.

    python3 tests/petsc/run.py --build build/host                  # the whole table with that build's plugin and PETSc
    python3 tests/petsc/run.py --build build/host --quick          # the quick list
    python3 tests/petsc/run.py --build build/host --build-only     # only builds the programs, into --work
    python3 tests/petsc/run.py --run-only --work FOLDER --plugin libpetsccompound.so --petsc-lib FOLDER --cuda -j 16

The last line runs what --build-only left in --work, also on another machine: no sources or compilers are needed there.
--cuda gives our runs CUDA vectors and compares them with baij on host vectors.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import threading
from collections import Counter
from dataclasses import dataclass

import compare
import table
from programs import Petsc, Programs, Unusable, from_cache
from runner import CUDA_VECTORS, Runner
from sources import NoSources, find

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


@dataclass
class Result:
    verdict: str  # passed, failed, skipped, baij fails
    text: str
    products: int = 0  # by our kernels
    on_device: bool = False


@dataclass
class Types:
    own: str  # ours, and PETSc's that it stands above

    @property
    def parent(self):
        return self.own.removesuffix("compound")


class Cores:
    """No more ranks at a time than there are jobs; a case of more ranks than that runs alone."""

    def __init__(self, count):
        self.count, self.free, self.condition = count, count, threading.Condition()

    def hold(self, ranks):
        ranks = min(ranks, self.count)
        with self.condition:
            self.condition.wait_for(lambda: self.free >= ranks)
            self.free -= ranks
        return ranks

    def release(self, ranks):
        with self.condition:
            self.free += ranks
            self.condition.notify_all()


def used(outcome, name):
    return sum(count for t, count in outcome.types.items() if re.fullmatch(f"(seq|mpi){name}", t))


def check_reference(types, reference):
    """Of the run with PETSc's type: why the case cannot pass, or None."""
    if reference.code:
        return Result("failed", f"the table expects {types.parent} to run; it says: {reference.complaint()}")
    if not used(reference, types.parent):
        return Result("failed", f"{types.parent} was not used (types: {reference.types}); the options of the row do "
                      "not "
                      "reach the matrix")
    return None


def judge(case, types, own, reference):
    """Of the run with our type, after one with PETSc's that ended well."""
    if own.code:
        return Result("failed", own.complaint())
    if not used(own, types.own):
        return Result("failed", f"our type was not used (types: {own.types})")
    count, difference = compare.compare(own.output, reference.output, case.tolerance(), "unordered" in case.flags)
    if difference:
        return Result("failed", difference)
    device = f", {own.device_bytes} bytes on the device" if own.device_bytes else ""
    return Result("passed", f"{count} numbers, {used(own, types.own)} matrices of the type, {own.products} "
                  f"products{device}",
                  own.products, own.device_bytes > 0)


def run_case(case, types, runner, petsc, cuda):
    def run(mat_type, extra=()):
        return runner.run(case.program, case.ranks, case.options, mat_type, extra)

    if case.program in runner.programs.errors:
        return Result("failed", f"does not build: {runner.programs.errors[case.program]}")
    reference = run(types.parent)
    if case.parent_fails(types.parent, petsc["release"]):
        if not reference.code:
            return Result("failed", "the table says that baij fails, but it runs; take that mark away")
        own = run(types.own)
        return Result("baij fails", f"{reference.complaint()}; ours: {own.complaint() if own.code else 'runs'}")
    cannot = check_reference(types, reference)
    if cannot:
        return cannot
    own = run(types.own, CUDA_VECTORS if cuda else ())
    result = judge(case, types, own, reference)
    if result.verdict == "passed" or not cuda:
        return result
    # With CUDA vectors some programs print other numbers, or fail, whatever the matrix.
    parent = run(types.parent, CUDA_VECTORS)
    if parent.code and own.code:
        return Result("baij fails", f"with CUDA vectors: {parent.complaint()}; ours: {own.complaint()}")
    if not parent.code:
        again = judge(case, types, own, parent)
        if again.verdict == "passed":
            again.text += f"; as {types.parent} with CUDA vectors, which is not as with host vectors: {result.text}"
            return again
    return result


def run_all(cases, types, runner, petsc, cuda, jobs):
    cores = Cores(jobs)
    printing = threading.Lock()
    results = []

    def one(case):
        reason = case.why_not(petsc, cuda)
        if reason:
            result = Result("skipped", reason)
        else:
            held = cores.hold(case.ranks)
            try:
                result = run_case(case, types, runner, petsc, cuda)
            finally:
                cores.release(held)
        with printing:
            results.append((case, result))
            if result.verdict != "skipped":  # those are told in the summary, by reason
                print(f"{result.verdict}: {case}: {result.text}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(one, case) for case in cases]:
            future.result()
    return results


def summary(results, petsc, cuda, parent):
    """What failed again, why cases were skipped, and the counts; returns the exit code."""
    for verdict in ("baij fails", "failed"):
        for case, result in results:
            if result.verdict == verdict:
                print(f"{verdict}: {case}\n    {result.text}")
    for reason, count in Counter(r.text for _, r in results if r.verdict == "skipped").items():
        print(f"skipped: {count} cases of PETSc's own programs: {reason}")
    counts = Counter(r.verdict for _, r in results)
    passed = [(case, result) for case, result in results if result.verdict == "passed"]
    device = f", on the device in {sum(r.on_device for _, r in passed)}" if cuda else ""
    print(f"our kernels multiplied in {sum(r.products > 0 for _, r in passed)} of the cases that passed{device}; "
          "the others assemble, convert, factor or print")
    print(f"PETSc {petsc['release']}, {petsc['scalar']}{', CUDA vectors' if cuda else ''}: "
          f"{counts['passed']} passed ({len({case.program for case, _ in passed})} programs), "
          f"{counts['failed']} failed, {counts['skipped']} skipped, {counts['baij fails']} where {parent} fails itself")
    return 1 if counts["failed"] or not counts["passed"] else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="a configured build folder: its plugin, PETSc, compiler and mpiexec")
    parser.add_argument("--plugin", help="libpetsccompound.so, if not the build folder's")
    parser.add_argument("--petsc-pkgconfig", help="folders with PETSc.pc, separated by colons")
    parser.add_argument("--mpicc")
    parser.add_argument("--mpiexec")
    parser.add_argument("--sources", default=os.environ.get("COMPOUND_PETSC_SOURCES"),
                        help="PETSc's sources, a folder or petsc-RELEASE.tar.gz (default: COMPOUND_PETSC_SOURCES, else "
                        "Debian's "
                        "examples, else downloaded by pip)")
    parser.add_argument("--no-download", action="store_true", help="do not download sources")
    parser.add_argument("--skip-without-sources", action="store_true",
                        help=f"end with code {SKIPPED} where there are none")
    parser.add_argument("--work", help="folder for programs (default: petsc-programs in the build folder)")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--run-only", action="store_true")
    parser.add_argument("--petsc-lib", help="folder of libpetsc.so when running, if it is not where the programs were "
                        "built")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--type", default="baijcompound", choices=["baijcompound", "aijcompound", "sbaijcompound"],
                        help="ours, compared with its parent")
    parser.add_argument("--quick", action="store_true", help="only the rows that have the flag quick")
    parser.add_argument("--filter", default="", help="only cases that this regular expression matches (program, ranks "
                        "as np2, options)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="ranks that run at a time")
    parser.add_argument("--timeout", type=float, default=60, help="seconds that one run may take")
    args = parser.parse_args()
    defaults = from_cache(args.build) if args.build else {"mpicc": "mpicc", "mpiexec": "mpiexec"}
    for name, value in defaults.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    if not args.work and not args.build:
        raise Unusable("name a configured build folder by --build, or a folder with built programs by --work and "
                       "--run-only")
    args.work = args.work or os.path.join(args.build, "petsc-programs")
    return args


def build(args, cases):
    if not args.petsc_pkgconfig:
        raise Unusable("name a configured build folder by --build, or the folder of PETSc.pc by --petsc-pkgconfig")
    petsc = Petsc(args.petsc_pkgconfig)
    kept = os.path.join(os.path.dirname(os.path.abspath(args.build or args.work)), "petsc-sources")  # for all builds
    sources = find(petsc.release, args.sources, kept, not args.no_download)
    cases = [case for case in cases if not case.why_not(petsc.facts(), args.cuda)]
    programs = Programs(args.work)
    names = sorted({case.program for case in cases})
    print(f"building {len(names)} programs of PETSc {petsc.release} ({sources.src})", flush=True)
    files = {file for case in cases for file in case.data_files(petsc.facts())}
    programs.build(names, petsc, sources, args.mpicc, args.jobs, files)
    return programs


def library_folder(args, petsc):
    from_petsc_dir = (
        os.path.join(os.environ["PETSC_DIR"], os.environ.get("PETSC_ARCH", ""), "lib") if "PETSC_DIR" in os.environ
        else None
    )
    candidates = [f for f in (args.petsc_lib, from_petsc_dir, petsc["library_folder"]) if f]
    found = next((f for f in candidates if os.path.isdir(f)), None)
    if not found:
        raise Unusable(f"no folder with PETSc's library: none of {', '.join(candidates)} is there; name it by "
                       "--petsc-lib")
    return found


def run(args, cases, programs):
    if not args.plugin or not os.path.exists(args.plugin):
        raise Unusable(f"no plugin at {args.plugin}; build it, or name it by --plugin")
    petsc = programs.petsc
    if args.cuda and not petsc["cuda"]:
        raise Unusable(f"--cuda: PETSc {petsc['release']} in {petsc['library_folder']} has no CUDA")
    runner = Runner(programs, os.path.abspath(args.plugin), args.mpiexec, library_folder(args, petsc), args.timeout,
                    petsc["cuda"])
    types = Types(args.type)
    return summary(run_all(cases, types, runner, petsc, args.cuda, args.jobs), petsc, args.cuda, types.parent)


def main():
    args = arguments()
    parent = Types(args.type).parent
    cases = [c for c in table.read()
             if c.is_of(parent) and re.search(args.filter, str(c)) and (c.is_quick(parent) or not args.quick)]
    if not cases:
        raise Unusable(f"no case of the table matches '{args.filter}'")
    if args.run_only:
        programs = Programs(args.work)
        programs.load()
    else:
        try:
            programs = build(args, cases)
        except NoSources as reason:
            if not args.skip_without_sources:
                raise
            print(f"skipped: {reason}")
            return SKIPPED
    if args.build_only:
        for name, error in sorted(programs.errors.items()):
            print(f"does not build: {name}: {error}")
        return 1 if programs.errors else 0
    return run(args, cases, programs)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, NoSources, table.BadTable) as error:
        sys.exit(f"error: {error}")
