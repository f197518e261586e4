#!/usr/bin/env python3
"""Whether a tool of compute-sanitizer finds anything in the tests of a device.

usage: sanitizers.py TOOL                     runs the tests that have not been run, and prints what was found
       sanitizers.py TOOL ... -R REGEX        of these tests, some
       sanitizers.py TOOL ... --record        and keeps which tests the tool found nothing in
       sanitizers.py TOOL ... --left          those alone that have not been kept so

First a kernel with a fault for this tool (planted.cpp) must be found. A test of GoogleTest runs in parts, several at a
time. What was found is kept below the build, by test and part: the run may be stopped at any time, and the same command
goes on there; only tests whose programs have changed run again. What is recorded outlasts the build: parts of a test
count as long as it has the same cases. Fails where a test fails or the tool finds something that exceptions.txt does
not name: kernels of others and tests that do not end under the tool, each with the reason.
"""

import argparse
import contextlib
import fcntl
import functools
import hashlib
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "mutants"))
import builds  # noqa: E402
from builds import Stop  # noqa: E402

RECORD = "tests/sanitizers/record.json"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
PLANTED = "tests/src/planted_faults"
PARTS = 8  # of a program of GoogleTest
EXCEPTIONS = pathlib.Path(__file__).with_name("exceptions.txt")
SUMMARY = re.compile(r"[A-Z]+ SUMMARY: (\d+)")
WITHOUT_DEVICE = "Target application terminated before first instrumented API call"
FINDING = re.compile(r"^========= \S.*\n(?:=========  .*\n)+", re.MULTILINE)


def exceptions_of(tool, file=EXCEPTIONS):
    """What is left out, by kind, of rows `TOOL | KIND TEXT | REASON`: parts of the mangled names of kernels that the
    tool leaves alone, patterns of its findings, tests that do not run, and GoogleTest's patterns of cases of the
    plugin's tests that do not. A row of the tool `all` is of each."""
    rows = [[part.strip() for part in row.split(" | ")] for row in file.read_text().splitlines()
            if row.strip() and not row.startswith("#")]
    out = {"kernel": [], "finding": [], "test": [], "case": []}
    for row in rows:
        kind, _, pattern = row[1].partition(" ") if len(row) == 3 else ("", "", "")
        if kind not in out or row[0] not in (*TOOLS, "all") or not pattern or not row[2]:
            raise Stop(f"{file}: '{' | '.join(row)}' is not TOOL | KIND TEXT | REASON, where TOOL is one of "
                       f"{', '.join(TOOLS)} or all, and KIND is {', '.join(out)}")
        if row[0] in (tool, "all"):
            out[kind].append(re.compile(pattern) if kind == "finding" else pattern)
    return out


def findings_in(logs, exceptions=()):
    """How many the processes of a run had, by the logs that the tool left; None where it left no summary."""
    found = None
    for log in logs:
        text = log.read_text(errors="replace")
        numbers = [int(n) for n in SUMMARY.findall(text)]
        if numbers or WITHOUT_DEVICE in text:
            excepted = sum(any(e.search(f) for e in exceptions) for f in FINDING.findall(text))
            found = (found or 0) + max(0, sum(numbers) - excepted)
    return found


def command_of(tool, folder):
    """What runs a program under a tool, which leaves a log in the folder for each process."""
    command = ["compute-sanitizer", "--tool", tool, "--log-file", f"{folder}/%p.txt", "--target-processes", "all",
               "--print-limit", "1000000"]  # exceptions are for what is printed
    if kernels := exceptions_of(tool)["kernel"]:
        command += ["--kernel-name-exclude", ",".join(f"kns={name}" for name in kernels)]
    if tool == "racecheck":
        command += ["--racecheck-num-workers", "1"]  # else as many as cores, for each of the tests that run together
    return command


def prove(tool, build, folder):
    """Raises unless the tool finds the fault that is for it, and nothing in a kernel without."""
    folder.mkdir(parents=True, exist_ok=True)
    for fault in (tool, "none"):
        logs = pathlib.Path(tempfile.mkdtemp(prefix=f"planted-{fault}-", dir=folder))  # runs of a tool may be several
        ran = subprocess.run([*command_of(tool, logs), build / PLANTED, fault], capture_output=True, text=True)
        found = findings_in(logs.glob("*.txt"))
        if found is None or (found > 0) != (fault == tool):
            raise Stop(f"{tool} found {found} faults in a kernel with "
                       f"{'one for it' if fault == tool else 'none'} ({logs}):\n{ran.stdout}{ran.stderr}")
        shutil.rmtree(logs)


class Sanitized:
    """The runs of a build's tests under one tool."""

    def __init__(self, tool, build):
        self.tool, self.build, self.folder = tool, build, build / "sanitizers" / tool
        self.exceptions = exceptions_of(tool)
        self.keys = {}

    @functools.cached_property
    def pieces(self):
        """[(test, part, parts)] of each."""
        out = []
        for test in builds.Ctest(self.build, 1).listed():
            labels = builds.labels_of(test)
            if "device" in labels and short(test) not in self.exceptions["test"]:
                parts = PARTS if {"core", "plugin"} & set(labels) else 1
                out += [(test, part, parts) for part in range(parts)]
        return out

    @functools.cached_property
    def filter(self):
        """GoogleTest's, in the environment."""
        cases = self.exceptions["case"]
        return {"GTEST_FILTER": "-" + ":".join(cases)} if cases else {}

    def cases_of(self, test):
        """A key of the cases that the parts of a test share out."""
        programs = builds.programs_of(test)
        if not programs:
            raise Stop(f"{test['name']}: its program is not built")
        program = programs[-1]
        if program not in self.keys:
            said = subprocess.run([program, "--gtest_list_tests"], env={**os.environ, **self.filter},
                                  capture_output=True)
            self.keys[program] = hashlib.sha256(said.stdout).hexdigest()[:16]
        return self.keys[program]

    def left(self, recorded):
        """Pieces that the record does not have."""
        return [p for p in self.pieces if short(p[0]) not in recorded["clean"] and
                p[1] not in self.parts_in(recorded, p)]

    def parts_in(self, recorded, piece):
        """Those of the piece's test that the record has, by number."""
        begun = recorded["begun"].get(short(piece[0]), {})
        test, _, parts = piece
        return begun["parts"] if begun.get("of") == parts and begun["cases"] == self.cases_of(test) else []

    def kept(self, piece):
        test, part, _ = piece
        return self.folder / f"{test['name']}.{part}.json"

    def known(self, piece):
        """What is known of a piece whose programs are the same; else nothing."""
        if not self.kept(piece).exists():
            return None
        said = json.loads(self.kept(piece).read_text())
        return said if builds.stamps_of(said["programs"]) == said["programs"] else None

    def run_piece(self, piece, seconds, gpu):
        """What is known then; nothing where it takes longer."""
        test, part, parts = piece
        logs = self.folder / f"{test['name']}.{part}"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        variables = {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part)} if parts > 1 else {}
        with builds.ctest_apart(self.build, command_of(self.tool, logs)) as ctest:
            tests, took = ctest.test(f"^{re.escape(test['name'])}$", "", False, lambda _: seconds, seconds,
                                     {**variables, **self.filter, **gpu})
        name = test["name"]
        if took > seconds:
            return None
        how = ", ".join(tests.failed.values()) or ("passed" if name in tests.seconds else "not run")
        found = findings_in(logs.glob("*.txt"), self.exceptions["finding"])
        if how == "passed" and found is None:
            how = "no summary"
        if how == "passed" and not found:
            shutil.rmtree(logs)
        else:
            (logs / "printed.txt").write_text("".join(tests.text))
        said = {"how": how, "found": found, "seconds": round(took, 1),
                "programs": builds.stamps_of(builds.programs_of(test))}
        builds.write_whole(self.kept(piece), json.dumps(said))
        return said

    def run(self, jobs, pieces, minutes):
        """Runs what is not known, and returns by test and part what is."""
        until = None if minutes is None else time.monotonic() + 60 * minutes

        def one(number, piece):
            said = self.known(piece)
            if is_clean(said):
                return said
            left = 3000 if until is None else until - time.monotonic()
            said = self.run_piece(piece, left, builds.gpu_of_turn(number)) if left > 0 else None
            if said:
                print(f"{said['seconds']:7.1f} s  {piece[0]['name']} {piece[1] + 1}/{piece[2]}: {said['how']}, "
                      f"found {said['found']}", flush=True)
            return said

        with ThreadPoolExecutor(jobs) as pool:
            return list(zip(pieces, pool.map(one, itertools.count(), pieces)))


def is_clean(said):
    return said is not None and said["how"] == "passed" and not said["found"]


def short(test):
    """Its name without that of the build."""
    return test["name"].partition(".")[2]


def recorded_of(tool, record):
    return {"clean": {}, "begun": {}} | record.get(tool, {})


def keep(file, sanitized, ran, root):
    """Of how many tests; when each was last without a finding; and the parts of those that have not run whole."""
    record = builds.read_record(file)
    recorded = recorded_of(sanitized.tool, record)
    now = {**builds.stamp(root), "machine": builds.device_here()}
    clean, begun = recorded["clean"], recorded["begun"]
    for name, group in itertools.groupby(ran, lambda run: short(run[0][0])):
        runs = list(group)
        first = test, _, of = runs[0][0]
        wrong = {piece[1] for piece, said in runs if said and not is_clean(said)}
        ended = {piece[1] for piece, said in runs if is_clean(said)}
        parts = ended | (set(sanitized.parts_in(recorded, first)) - wrong)
        begun.pop(name, None)
        if wrong:
            clean.pop(name, None)
        if ended and len(parts) == of:
            clean[name] = now
        elif parts and name not in clean:
            begun[name] = {"of": of, "cases": sanitized.cases_of(test), "parts": sorted(parts)}
    record[sanitized.tool] = {"of": len({short(p[0]) for p in sanitized.pieces}), "clean": dict(sorted(clean.items())),
                              "begun": dict(sorted(begun.items()))}
    builds.write_record(file, record)


# ----------------------------------------------------------------------------------------------------------- self-test

# Finds what its tool's name or the word "wrong" is in, one of two with an exception, and says nothing of "silent".
TOY_TOOL = """#!/bin/sh
tool=$2 log=$(echo "$4" | sed s/%p/1/)
shift 6
while [ "${1#--}" != "$1" ]; do shift 2; done
"$@"
status=$?
case "$* " in
  *silent*) ;;
  *wrong*|*" $tool ") printf "========= %s\\n" "Invalid write" "    at theirs" "" "Invalid write" "    at ours" "" \\
    "ERROR SUMMARY: 2 errors" >"$log" ;;
  *) echo "ERROR SUMMARY: 0 errors" >"$log" ;;
esac
exit $status
"""


def self_test():
    def expect(what, found, wanted):
        if found != wanted:
            sys.exit(f"self-test: {what}: {found}, not {wanted}")

    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder).resolve()
        programs = {"compute-sanitizer": TOY_TOOL, PLANTED: "#!/bin/sh\n",
                    "test": f"#!/bin/sh\ntest $# = 0 || exec cat {build}/cases\n"
                            f"echo $CUDA_VISIBLE_DEVICES $GTEST_FILTER >>{build}/ran\n",
                    "nvidia-smi": "#!/bin/sh\necho toy\necho toy\n"}
        for name, text in programs.items():
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            (build / name).write_text(text)
            (build / name).chmod(0o755)
        os.environ["PATH"] = f"{build}:{os.environ['PATH']}"
        labels = {"right": "core;device", "wrong": "tools;device", "silent": "tools;device", "other": "core",
                  "left_out": "tools;device"}
        (build / "CTestTestfile.cmake").write_text("".join(
            f'add_test(toy.{name} "{build}/test")\nset_tests_properties(toy.{name} PROPERTIES LABELS "{label}")\n'
            for name, label in labels.items()))

        (build / "cases").write_text("First.\n  One\n")
        record = build / "record.json"

        def sanitized():
            out = Sanitized("memcheck", build)
            out.exceptions = {"finding": [re.compile("at theirs")], "test": ["left_out"],
                              "case": ["One.*", "Two.*"]}
            return out

        def chosen(name):
            return [p for p in sanitized().pieces if name in p[0]["name"]]

        def run(name="."):
            ran = sanitized().run(2, chosen(name), None)
            return [(test["name"], part, said["how"], said["found"]) for (test, part, _), said in ran]

        def kept(pieces):
            """The record after these have run: tests, and how many parts of others."""
            keep(record, sanitized(), sanitized().run(2, pieces, None), build)
            said = recorded()
            return [*said["clean"], *((name, len(begun["parts"])) for name, begun in said["begun"].items())]

        def recorded():
            return recorded_of("memcheck", builds.read_record(record))

        def left():
            return len(sanitized().left(recorded()))

        right = [("toy.right", part, "passed", 0) for part in range(PARTS)]
        with contextlib.redirect_stdout(io.StringIO()):
            prove("memcheck", build, build / "proof")
            others = [("toy.wrong", 0, "passed", 1), ("toy.silent", 0, "no summary", None)]
            expect("what is found", run(), [*right, *others])
            expect("GPUs in turn, and no case that is left out", set((build / "ran").read_text().splitlines()),
                   {"0 -One.*:Two.*", "1 -One.*:Two.*"})
            (build / "ran").unlink()
            expect("what is known", run("right"), right)
            expect("it does not run again", (build / "ran").exists(), False)
            expect("what the record lacks at first", left(), PARTS + 2)
            expect("parts are kept", kept(chosen("right")[:3] + chosen("wrong")), [("right", 3)])
            expect("what the record lacks then", left(), PARTS - 1)
            (build / "cases").write_text("First.\n  One\n  Two\n")
            expect("parts of other cases do not count", left(), PARTS + 2)
            (build / "cases").write_text("First.\n  One\n")
            expect("the others make a test whole", kept(chosen("right")[3:]), ["right"])
            expect("what the record lacks at last", left(), 2)
            (build / "test").write_text(programs["test"] + "exit 1\n")
            expect("another program runs again", run("right"), [(*of[:2], "Failed", 0) for of in right])
            expect("a test that fails leaves the record", kept(chosen("right")[:1]), [])
            (build / "test").write_text("#!/bin/sh\nsleep 9\n")
            expect("a run that ends earlier", sanitized().run(4, chosen("right"), 0.01),
                   [(piece, None) for piece in chosen("right")])
            (build / "compute-sanitizer").write_text(TOY_TOOL.replace('*" $tool "', '"nothing"'))
            try:
                prove("memcheck", build, build / "proof")
                sys.exit("self-test: a tool that finds nothing passes")
            except Stop:
                pass

        rows = build / "exceptions"
        rows.write_text("# a comment\nmemcheck | kernel theirs | slow\nmemcheck | kernel others | slow\n"
                        "memcheck | finding at theirs | wrong\nsynccheck | kernel more | slow\n"
                        "memcheck | case One.* | does not end\nall | case Two.* | slow\n"
                        "all | test tools.times | compares times\n")
        expect("what is left out", exceptions_of("memcheck", rows),
               {"kernel": ["theirs", "others"], "finding": [re.compile("at theirs")], "test": ["tools.times"],
                "case": ["One.*", "Two.*"]})
        for row in ("memcheck | theirs | slow", "memcheck | kernel theirs", "check | kernel theirs | slow"):
            rows.write_text(row + "\n")
            try:
                exceptions_of("memcheck", rows)
                sys.exit(f"self-test: '{row}' passes")
            except Stop:
                pass
    print("a finding, a silent tool and a tool that finds nothing are told")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=[*TOOLS, "self-test"], help="self-test: all this by a tool that is a script")
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER", help="build/device-real unless it is named")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="tests at a time (as many as cores)")
    parser.add_argument("-R", default=".", metavar="REGEX", help="of the tests, these alone")
    parser.add_argument("--minutes", type=float, metavar="N", help="end after N minutes")
    parser.add_argument("--left", action="store_true", help=f"what {RECORD} does not have, alone")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD}")
    a = parser.parse_args()
    if a.tool == "self-test":
        return self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    try:
        builds.set_environment(root)
        sanitized = Sanitized(a.tool, (a.build or root / "build" / "device-real").resolve())
        prove(a.tool, sanitized.build, sanitized.folder)
        pieces = sanitized.left(recorded_of(a.tool, builds.read_record(root / RECORD))) if a.left else sanitized.pieces
        ran = sanitized.run(a.j, [p for p in pieces if re.search(a.R, p[0]["name"])], a.minutes)
        done = [(piece, said) for piece, said in ran if said]
        wrong = [(piece, said) for piece, said in done if not is_clean(said)]
        tests = len({piece[0]["name"] for piece, _ in done})
        found = sum(said["found"] or 0 for _, said in done)
        print(f"{a.tool}: {found} findings in {tests} tests ({len(done)} of {len(ran)} parts have run)")
        for (test, part, parts), said in wrong:
            print(f"error: {test['name']} {part + 1}/{parts}: {said['how']}, found {said['found']} "
                  f"({sanitized.folder / test['name']}.{part})")
        if a.record:
            with open(sanitized.build / "sanitizers/lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # tools may run side by side
                keep(root / RECORD, sanitized, ran, root)
        if len(done) < len(ran):
            raise Stop("the time is over; call it again to go on")
        return 1 if wrong else 0
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
