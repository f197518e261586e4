#!/usr/bin/env python3
"""Which lines of src/ and plugin/ the tests run, and which tests run each line.

usage: coverage.py                   runs the tests of build/coverage that have not been run, and prints the figures
       coverage.py --record          and keeps them as the record
       coverage.py --missing REGEX   the lines that no test runs, of files that match
       coverage.py --tests FILE:LINE the tests that run a line, nearest first
       coverage.py --device ...      on a GPU: of the lines that the figures of the host leave out

Fails where a folder has fallen by more than one percentage point below the record. What tests ran is kept below the
build, by test: it may be stopped at any time, and only tests whose programs have changed run again. A test that fails
beside others runs once more, alone.
"""

import argparse
import collections
import concurrent.futures
import difflib
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "mutants"))
from builds import (  # noqa: E402
    Ctest,
    Stop,
    ctest_apart,
    device_here,
    labels_of,
    machine,
    programs_of,
    read_record,
    set_environment,
    stamp,
    stamps_of,
    write_record,
    write_whole,
)

RECORD = "tests/coverage/record.json"
DEVICE_RECORD = "tests/coverage/device.json"
NEEDS_DEVICE = "tests/coverage/needs_device.txt"
FOLDERS = ("src/", "plugin/")
NOT_RUN = r"(^|\.)(mutants|coverage|documents)\."  # run none of the code
MARK = re.compile(r"// cannot run: \S")
FALL = 1.0  # percentage points


def folder_of(file):
    """src/layout, plugin/spmv; src and plugin of what lies there itself."""
    parts = file.split("/")
    return "/".join(parts[:2] if len(parts) > 2 else parts[:1])


def ranges_of(lines):
    """1-3,7 of 1, 2, 3, 7."""
    out = []
    for line in sorted(lines):
        if out and out[-1][1] == line - 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return ",".join(f"{a}-{b}" if b > a else str(a) for a, b in out)


def lines_of(ranges):
    lines = set()
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        lines.update(range(int(first), int(last or first) + 1))
    return lines


def text_key(text):
    return zlib.crc32(text.encode())


class Gcov:
    """What gcov says of objects: by file the lines that can run, those that ran, and the functions."""

    def __init__(self, root):
        self.root = root
        self.can, self.ran = collections.defaultdict(set), collections.defaultdict(set)
        self.functions = collections.defaultdict(set)

    def ask(self, objects, cwd):
        """One process for all; an object that never ran has no counts, of which gcov complains."""
        process = subprocess.Popen(["gcov", "--json-format", "--stdout", "--demangled-names", *objects], cwd=cwd,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in process.stdout:
            said = json.loads(line)
            for file in said["files"]:
                path = os.path.normpath(os.path.join(said["current_working_directory"], file["file"]))
                name = os.path.relpath(path, self.root)
                if not name.startswith(FOLDERS):
                    continue
                self.can[name].update(x["line_number"] for x in file["lines"])
                self.ran[name].update(x["line_number"] for x in file["lines"] if x["count"])
                self.functions[name].update((f["start_line"], f["end_line"], short_name(f["demangled_name"]))
                                            for f in file["functions"])
        if process.wait() != 0:
            raise Stop(f"gcov failed on objects in {cwd}")


def short_name(name):
    """`run` of `int compound::run<double>(int)::{lambda()#1}`: what a row of needs_device.txt can name."""
    name = re.sub(r"\(anonymous namespace\)::|\[abi:\w+\]", "", name)
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return name.split("(")[0].split("::")[-1].split(" ")[-1]


class Coverage:
    """What is known of a build, in its folder `coverage`."""

    most_marked = 1.0  # percent of the lines that may say that they cannot run

    def __init__(self, root, build, say=print):
        self.root, self.build, self.folder, self.then = root, build, build / "coverage", {}
        self.say = lambda text: say(text, flush=True)

    # ----------------------------------------------------------------------------------------------------- running

    def read_objects(self):
        """The lines that can run, of all objects, and the texts that they are lines of."""
        notes = sorted(str(f.relative_to(self.build)) for f in self.build.rglob("*.gcno")
                       if f.relative_to(self.build).parts[0] not in ("CMakeFiles", "coverage"))  # trials, and ours
        if not notes:
            raise Stop(f"{self.build} has no notes of gcc's: it is to be built by the preset coverage")
        key = hashlib.sha256(json.dumps(stamps_of(self.build / n for n in notes)).encode()).hexdigest()[:16]
        kept = self.folder / "objects.json"
        if kept.exists() and json.loads(kept.read_text())["key"] == key:
            return
        gcov = Gcov(self.root)
        # Notes alone: beside some lie counts of programs that had no prefix.
        with tempfile.TemporaryDirectory() as folder:
            for name in notes:
                pathlib.Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(folder, name).symlink_to(self.build / name)
            for first in range(0, len(notes), 200):
                gcov.ask(notes[first:first + 200], folder)
        files = {}
        for name, lines in sorted(gcov.can.items()):
            text = (self.root / name).read_text().splitlines()
            # A bracket alone is where a scope ends by an exception.
            lines = {n for n in lines if n <= len(text) and re.search(r"\w", text[n - 1])}
            files[name] = {"can": ranges_of(lines), "functions": sorted(gcov.functions[name]),
                           "texts": [text_key(line) for line in text], "key": self.file_key(name)}
        write_whole(kept, json.dumps({"key": key, "files": files}))

    def kept(self, test):
        return self.folder / "tests" / (test.replace("/", "_") + ".json")

    def is_known(self, test):
        file = self.kept(test)
        if not file.exists():
            return False
        stamps = json.loads(file.read_text())["stamps"]
        return stamps_of(stamps) == stamps

    def run_one(self, test, ctest):
        """Whether it passed. Runs it with counts of its own, and keeps what it ran."""
        name = test["name"]
        counts = self.folder / "counts" / name.replace("/", "_")
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir(parents=True)
        environment = {"GCOV_PREFIX": str(counts), "GCOV_PREFIX_STRIP": str(len(self.build.parts) - 1)}
        tests, seconds = ctest.test(f"^{re.escape(name)}$", "", False, lambda _: 3000, 3000, environment)
        for data in sorted(counts.rglob("*.gcda")):
            note = data.relative_to(counts).with_suffix(".gcno")
            if (self.build / note).exists():
                (counts / note).symlink_to(self.build / note)
        passed = not tests.failed and name in tests.seconds
        how = "skipped" if name in tests.skipped else ", ".join(tests.failed.values()) or "not run"
        how = "passed" if passed and name not in tests.skipped else how
        log = ctest.folder / "Testing" / "Temporary" / "LastTest.log"  # none where ctest was ended
        printed = log.read_text(errors="replace") if log.exists() else "".join(tests.text)
        if how == "passed" and "[  PASSED  ] 0 tests" in printed:
            how = "skipped"  # each of its cases, for want of a device
        if not passed:
            write_whole(self.folder / "failed" / (name + ".txt"), printed)
        self.keep(name, counts, programs_of(test) if passed else None, tests.seconds.get(name, round(seconds, 2)), how)
        shutil.rmtree(counts)
        return how

    def keep(self, name, counts, programs, seconds, how):
        """What ran by the counts in a folder, which has notes beside them. Without programs it is run again."""
        gcov = Gcov(self.root)
        objects = [str(data.relative_to(counts)) for data in sorted(counts.rglob("*.gcda"))
                   if data.with_suffix(".gcno").exists() and data.relative_to(counts).parts[0] != self.folder.name]
        for first in range(0, len(objects), 200):
            gcov.ask(objects[first:first + 200], counts)
        notes = [str(self.build / pathlib.Path(o).with_suffix(".gcno")) for o in objects]
        write_whole(self.kept(name), json.dumps({
            "stamps": {"failed": ""} if programs is None else stamps_of(programs + notes),
            "seconds": seconds, "how": how,
            "texts": {f: self.file_key(f) for f, lines in gcov.ran.items() if lines},
            "ran": {f: ranges_of(lines) for f, lines in sorted(gcov.ran.items()) if lines}}))

    def file_key(self, name):
        return zlib.crc32((self.root / name).read_bytes())

    def run(self, jobs, chosen=".", label="", minutes=None):
        """Runs what is not known. The names of tests that fail; None where the time was over before all had run."""
        self.read_objects()
        listed = [t for t in Ctest(self.build, 1).listed()
                  if not re.search(NOT_RUN, t["name"]) and re.search(label, " ".join(labels_of(t)))]
        self.names = [t["name"] for t in listed]
        if label == "device":  # kernels that are built in are chosen and kept while building
            self.keep("building", self.build, None, 0, "passed")
            self.names.append("building")
        todo = [t for t in listed if re.search(chosen, t["name"]) and not self.is_known(t["name"])]
        until = None if minutes is None else time.monotonic() + 60 * minutes
        failed, alone, done = [], [], 0

        def one(test):
            if until is not None and time.monotonic() > until:
                return "left"
            if self.is_known(test["name"]):  # by another run of this
                return "passed"
            with ctest_apart(self.build) as ctest:
                return self.run_one(test, ctest)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for test, how in zip(todo, pool.map(one, todo)):
                done += how != "left"
                if how not in ("passed", "skipped", "left"):
                    alone.append(test)
                if done % 20 == 0 and how != "left":
                    self.say(f"{done} of {len(todo)} tests")
        for test in alone:  # those that look at times may fail beside others
            how = one(test)
            done -= how == "left"
            if how not in ("passed", "skipped", "left"):
                failed.append(test["name"])
                self.say(f"{test['name']}: {how} ({self.folder / 'failed' / test['name']}.txt)")
        return failed if done == len(todo) else None

    # ----------------------------------------------------------------------------------------------------- reading

    def read(self, names=None):
        """Sets what is known: by file the lines that can run, functions, and by test the lines that it ran."""
        kept = self.folder / "objects.json"
        if not kept.exists():
            raise Stop(f"{self.folder} has no coverage: cmake --preset coverage && "
                       "cmake --build --preset coverage --target coverage")
        self.files = json.loads(kept.read_text())["files"]
        for file in self.files.values():
            file["can"] = lines_of(file["can"])
        self.tests = {}
        for file in sorted((self.folder / "tests").glob("*.json")):
            if names is None or file.stem in names:
                test = json.loads(file.read_text())
                test["ran"] = {name: lines_of(r) for name, r in test["ran"].items()
                               if test["texts"][name] == self.files.get(name, {}).get("key")}
                self.tests[file.stem] = test

    def ran(self):
        ran = collections.defaultdict(set)
        for test in self.tests.values():
            for name, lines in test["ran"].items() if test["how"] != "skipped" else ():
                ran[name] |= lines
        return ran

    def tests_of(self):
        """By file and line the tests that ran it, nearest first: those that run most lines of the file for their
        time, where a line that many run counts as little, and of these those that run few lines in all."""
        passed = {name: test for name, test in self.tests.items() if test["how"] == "passed"}
        in_all = {name: sum(map(len, test["ran"].values())) for name, test in passed.items()}
        by_line = collections.defaultdict(lambda: collections.defaultdict(list))
        for name, test in passed.items():
            for file, lines in test["ran"].items():
                for line in lines:
                    by_line[file][line].append(name)
        for lines in by_line.values():
            weights = collections.Counter()
            for tests in lines.values():
                for name in tests:
                    weights[name] += 1 / len(tests)
            for tests in lines.values():
                tests.sort(key=lambda name: (-weights[name] / (5 + passed[name]["seconds"]), in_all[name], name))
        return by_line

    def needs_device(self):
        """By file the lines of needs_device.txt, and what is wrong in it."""
        lines, wrong = collections.defaultdict(set), []
        for number, row in enumerate((self.root / NEEDS_DEVICE).read_text().splitlines(), 1):
            row = row.split("#")[0].strip()
            if not row:
                continue
            place, _, reason = row.partition(" | ")
            file, _, what = place.strip().partition(":")
            found = set()
            for name in fnmatch.filter(self.files, file):
                here = self.lines_named(name, what)
                lines[name] |= here
                found |= here
            if not what and reason.strip() and not found and (self.root / file).exists():
                continue  # a build without CUDA compiles none of it
            if not found or not reason.strip():
                what_is_wrong = "no reason" if found else f"{place} is no line that can run"
                wrong.append(f"{NEEDS_DEVICE}:{number}: {what_is_wrong}")
        return lines, wrong

    def line_then(self, name, number):
        """The line of what is known that a line of today was; of a new line the one above it."""
        if name not in self.then:
            keys = [text_key(line) for line in (self.root / name).read_text().splitlines()]
            then, was = self.files[name]["texts"], []
            matcher = difflib.SequenceMatcher(None, then, keys, autojunk=False)
            for _, a, a_end, b, b_end in matcher.get_opcodes():
                was += [max(1, min(a + n + 1, a_end)) for n in range(b_end - b)]
            self.then[name] = was
        return self.then[name][number - 1]

    def lines_named(self, name, what):
        """All, those of a function, or of each statement or block that begins on a line which /regex/ finds."""
        can = self.files[name]["can"]
        if not what:
            return set(can)
        spans = [(a, b) for a, b, function in self.files[name]["functions"] if function == what]
        if what.startswith("/"):
            text = (self.root / name).read_text().splitlines()
            spans = [(self.line_then(name, n), self.line_then(name, end_of(text, n)))
                     for n, line in enumerate(text, 1) if re.search(what.strip("/"), line)]
        return {line for a, b in spans for line in range(a, b + 1) if line in can}

    def figures(self):
        """By folder [lines, ran]; the lines left out of them; what is wrong."""
        device, wrong = self.needs_device()
        ran, counted = self.ran(), {}
        left = {"needs_device": 0, "cannot_run": 0}
        for name, file in sorted(self.files.items()):
            text = (self.root / name).read_text().splitlines()
            marked = {n for n, line in enumerate(text, 1) if MARK.search(line)} & file["can"]
            for line in sorted(marked & ran[name]):
                wrong.append(f"{name}:{line} cannot run, it says, and ran")
            counted[name] = file["can"] - device[name] - marked
            left["needs_device"] += len(device[name])
            left["cannot_run"] += len(marked - device[name])
        folders = self.count(counted, ran)
        every = sum(n for n, _ in folders.values())
        if left["cannot_run"] * 100 > self.most_marked * every:
            wrong.append(f"{left['cannot_run']} of {every} lines say that they cannot run: more than "
                         f"{self.most_marked} %")
        return folders, left, wrong

    def device_figures(self):
        """The same of the lines that the host leaves out."""
        device, wrong = self.needs_device()
        return self.count(device, self.ran()), {}, wrong

    def count(self, lines_of_files, ran):
        """By folder [lines, ran]; what did not run is `missing`."""
        folders = collections.defaultdict(lambda: [0, 0])
        self.missing = {}
        for name, lines in sorted(lines_of_files.items()):
            if lines:
                folders[folder_of(name)][0] += len(lines)
                folders[folder_of(name)][1] += len(lines & ran[name])
                self.missing[name] = lines - ran[name]
        return dict(sorted(folders.items()))


def end_of(text, first):
    """The last line of the statement or block that begins on line `first`, of text that clang-format has laid out."""
    def indent(line):
        return len(line) - len(line.lstrip())

    for number in range(first + 1, len(text) + 1):
        line = text[number - 1]
        if line.strip() and not line.startswith("#") and indent(line) <= indent(text[first - 1]):
            closes = indent(line) == indent(text[first - 1]) and re.match(r"\s*\}(?! else)", line)
            return number if closes else number - 1
    return len(text)


def percent(lines, ran):
    return 100 * ran / lines if lines else 100.0


def fallen(folders, record):
    """What says so, for each folder that is more than one percentage point below the record."""
    out = []
    for folder, (lines, ran) in record.items():
        now = percent(*folders.get(folder, (0, 0)))
        if now < percent(lines, ran) - FALL:
            out.append(f"{folder} has fallen from {percent(lines, ran):.1f} % to {now:.1f} %: test the new lines, "
                       "or say why not and keep a new record (--record)")
    return out


def table(folders, record):
    rows = [f"{'folder':24} {'lines':>6} {'run':>6} {'%':>6} {'record':>6}"]
    for folder, (lines, ran) in [*folders.items(), ("all", total(folders))]:
        before = f"{percent(*record[folder]):6.1f}" if folder in record else ""
        rows.append(f"{folder:24} {lines:6} {ran:6} {percent(lines, ran):6.1f} {before}")
    return "\n".join(rows)


def total(folders):
    return [sum(column) for column in zip(*folders.values())] if folders else [0, 0]


def missing_lines(coverage, chosen):
    for name, lines in coverage.missing.items():
        if lines and re.search(chosen, name):
            text = (coverage.root / name).read_text().splitlines()
            print(f"{name}: {len(lines)} of {len(coverage.files[name]['can'])}")
            for line in sorted(lines):
                print(f"  {line:5} {text[line - 1].strip()[:110]}")


def report(coverage, failed, keep, say, device=""):
    """Whether all is well. `device`: its name, where the figures are of its lines."""
    record_file = coverage.root / (DEVICE_RECORD if device else RECORD)
    record = read_record(record_file, {"folders": {}})
    folders, left, wrong = coverage.device_figures() if device else coverage.figures()
    say(table(folders, record["folders"]))
    if left:
        say(f"left out: {left['needs_device']} lines that need a device, {left['cannot_run']} that cannot run")
    wrong += [f"{name} fails" for name in failed]
    if keep and not wrong:
        command = ("bash config/device-test.sh --coverage" if device else
                   "cmake --preset coverage && cmake --build --preset coverage --target coverage")
        record = {**stamp(coverage.root), "command": command,
                  "machine": device or machine(), "tests": len(coverage.tests), "folders": folders, **left}
        write_record(record_file, record)
    wrong += fallen(folders, record["folders"])
    for text in wrong:
        say(f"error: {text}")
    return not wrong


# ----------------------------------------------------------------------------------------------------------- self-test

TOY = {
    "src/one/one.h": "int one(int which);\n",
    "src/one/one.c": """#include "one.h"
int one(int which) {
  if (which == 1)
    return 10;
  if (which == 2)
    return 20;
  if (which == 3) {
    return 30;
  }
  return 0;  // cannot run: there are three
}
""",
    "src/main.c": """#include <stdlib.h>
#include "one/one.h"
int main(int argc, char** argv) { return argc > 1 && one(atoi(argv[1])) == 0; }
""",
    NEEDS_DEVICE: "src/one/one.c:/which == 3/ | three is for devices\n",
}


def make_toy(root):
    """Its build, whose tests run one(1) and one(2)."""
    for name, text in TOY.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    build = root / "build" / "coverage"
    build.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for name in ("one/one", "main"):
        subprocess.run(["gcc", "--coverage", "-c", root / f"src/{name}.c", "-o", build / (name.split("/")[-1] + ".o")],
                       check=True)
    subprocess.run(["gcc", "--coverage", build / "one.o", build / "main.o", "-o", build / "toy"], check=True)
    (build / "CTestTestfile.cmake").write_text("".join(f'add_test(toy.{n} "{build}/toy" "{n}")\n' for n in (1, 2)))
    return build


def self_test():
    def expect(what, found, wanted):
        if found != wanted:
            sys.exit(f"self-test: {what}: {found}, not {wanted}")

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        build = make_toy(root)
        said = []
        coverage = Coverage(root, build, say=lambda *_, **__: None)
        coverage.most_marked = 20  # one of six

        def figures(keep=False):
            said.clear()
            failed = coverage.run(2)
            coverage.read(coverage.names)
            return report(coverage, failed, keep, said.append)

        expect("all is well", (figures(keep=True), said[2:]), (True, []))
        record = json.loads((root / RECORD).read_text())
        expect("lines by folder", record["folders"], {"src": [1, 1], "src/one": [5, 5]})
        expect("lines left out", [record["needs_device"], record["cannot_run"]], [2, 1])
        by_line = coverage.tests_of()
        expect("tests by line", [by_line["src/one/one.c"][n] for n in (4, 6, 8)], [["toy.1"], ["toy.2"], []])
        ran = {f"like {n}": {"a.c": {1, 2, 3, 4}} for n in range(9)} | {"other": {"a.c": {1, 9}}}
        order = Coverage(root, build)
        order.tests = {name: {"ran": lines, "how": "passed", "seconds": 1} for name, lines in ran.items()}
        expect("what runs the rare lines is near", order.tests_of()["a.c"][1][0], "other")
        times = {f.name: f.stat().st_mtime_ns for f in (build / "coverage" / "tests").iterdir()}
        expect("well a second time", figures(), True)
        expect("what is known is not run", {f.name: f.stat().st_mtime_ns
                                            for f in (build / "coverage" / "tests").iterdir()}, times)
        tests = (build / "CTestTestfile.cmake").read_text()
        busy = f'add_test(toy.busy /bin/sh -c "test -e {build}/ran || ! touch {build}/ran")\n'
        (build / "CTestTestfile.cmake").write_text(tests + busy)
        expect("what fails beside others runs alone", figures(), True)
        (build / "CTestTestfile.cmake").write_text(f'add_test(toy.1 "{build}/toy" "1")\n')
        expect("a test is gone", figures(), False)
        expect("its folder is named", [t for t in said if "fallen" in t][0].split(":")[1].strip(),
               "src/one has fallen from 100.0 % to 60.0 %")
        (root / NEEDS_DEVICE).write_text("src/one/one.c:nothing | no such function\n")
        expect("a row of no lines", [t for t in coverage.needs_device()[1] if "no line" in t] != [], True)
        (root / NEEDS_DEVICE).write_text("src/one/two.c | calls CUDA\n")
        expect("a file that is not there", [t for t in coverage.needs_device()[1] if "no line" in t] != [], True)
        (root / "src/one/two.c").write_text("")
        expect("a file that is not compiled here", coverage.needs_device()[1], [])
    print("a fall is found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER", help="build/coverage unless it is named")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="tests at a time (as many as cores)")
    parser.add_argument("-R", default=".", metavar="REGEX", help="of the tests that are to run, these alone")
    parser.add_argument("--minutes", type=float, metavar="N", help="after N minutes end with the tests under way")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD}, of a device {DEVICE_RECORD}")
    parser.add_argument("--missing", metavar="REGEX", help="print lines that no test runs; runs no tests")
    parser.add_argument("--tests", metavar="FILE:LINE", help="print the tests that run a line; runs no tests")
    parser.add_argument("--device", action="store_true", help="tests of a device, and the lines that need one")
    parser.add_argument("--self-test", action="store_true", help="run all this on a small tree")
    a = parser.parse_args()
    if a.self_test:
        return self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    coverage = Coverage(root, (a.build or root / "build" / "coverage").resolve())
    try:
        if a.missing or a.tests:
            coverage.read()
            if a.missing:
                (coverage.device_figures if a.device else coverage.figures)()
                missing_lines(coverage, a.missing)
            else:
                file, _, line = a.tests.partition(":")
                for name in coverage.tests_of()[file][int(line)]:
                    print(f"{coverage.tests[name]['seconds']:7.1f} s  {name}")
            return 0
        set_environment(root)
        failed = coverage.run(a.j, a.R, "device" if a.device else "", a.minutes)
        if failed is None:
            raise Stop("the time is over; call it again to go on")
        coverage.read(coverage.names)
        device = device_here() if a.device else ""
        return 0 if report(coverage, failed, a.record, print, device) else 1
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
