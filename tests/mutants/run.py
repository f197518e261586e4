#!/usr/bin/env python3
"""Puts mistakes into the code, one at a time (mutants.toml), and sees whether the tests find them.

usage: run.py                runs what has not been run: near tests, then the rest of the quick tier
       run.py --all          and then, for those that no test has found, everything that there is
       run.py --list         what is known of each
       run.py --check        whether each mistake still finds its place in the code (a second; a test of the quick tier)
       run.py --table        adds what was found to record.json and writes docs/mutants.md

It works in a copy of the tree below build/mutants, with builds of its own, and keeps what it finds in a file there
after every step: it may be stopped at any time and goes on where it was. What is found needs no second look; what is
not is tried again when code or tests have changed.
"""

import argparse
import collections
import contextlib
import datetime
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

import tomllib
from builds import (
    Build,
    Stop,
    Tests,
    commit_of,
    copy_tree,
    machine,
    read_record,
    set_environment,
    write_record,
)

TABLE = "tests/mutants/mutants.toml"
RECORD = "tests/mutants/record.json"
DOCUMENT = "docs/mutants.md"
STEPS = {"near": "near tests", "quick": "the rest of the quick tier", "all": "all tests", "asan": "sanitizers"}

Mutant = collections.namedtuple("Mutant", "name file kind what is_ becomes near left")


def read_mutants(root):
    with open(root / TABLE, "rb") as file:
        rows = tomllib.load(file)["mutant"]
    return [Mutant(r["name"], r["file"], r["kind"], r["what"], r["is"], r["becomes"], r["near"], r.get("left", ""))
            for r in rows]


def mistakes_in_table(root, mutants):
    """Empty if each mutant has a name of its own and its text is once in its file."""
    found = []
    for name, times in collections.Counter(m.name for m in mutants).items():
        if times > 1:
            found.append(f"{name}: {times} mutants have this name")
    for m in mutants:
        path = root / m.file
        times = path.read_text().count(m.is_) if path.exists() else 0
        if times != 1:
            found.append(f"{m.name}: its text is {times} times in {m.file}, not once: {m.is_.strip().splitlines()[0]}")
        if m.is_ == m.becomes:
            found.append(f"{m.name}: nothing is changed")
        try:
            re.compile(m.near)
        except re.error as e:
            found.append(f"{m.name}: near tests '{m.near}': {e}")
    return found


def text_of(m):
    """Changes with what is done to the code, not with where the code lies."""
    return hashlib.sha256("\0".join([m.is_, m.becomes]).encode()).hexdigest()[:16]


def line_of(root, m):
    return (root / m.file).read_text().split(m.is_)[0].count("\n") + 1


def killer(entry):
    """The step whose tests found it, if one did."""
    return next((step for step in STEPS if entry["steps"].get(step, {}).get("killed")), None)


class Runner:
    def __init__(self, root, jobs=1, shard="", minutes=None, every=False, least_limit=60, say=print):
        self.root, self.jobs, self.every, self.least_limit = root, jobs, every, least_limit
        self.say = lambda text: say(f"{datetime.datetime.now():%H:%M:%S} {text}", flush=True)
        self.until = None if minutes is None else time.monotonic() + 60 * minutes
        part = "-" + shard.replace("/", "of") if shard else ""
        self.tree = root / "build" / "mutants" / f"tree{part}"
        self.state_file = root / "build" / "mutants" / f"state{part}.json"
        self.state = read_record(self.state_file, {"baseline": {}, "mutants": {}})
        self.known = known_of(root)
        self.mutants = read_mutants(root)
        if shard:
            mine, all_of_them = (int(n) for n in shard.split("/"))
            self.mutants = self.mutants[mine - 1::all_of_them]

    def save(self):
        write_record(self.state_file, self.state)

    def check_time(self):
        if self.until is not None and time.monotonic() > self.until:
            raise Stop("the time is over; call it again to go on")

    def copy_tree(self):
        """Sets `key`, which tells trees apart."""
        self.key = copy_tree(self.root, self.tree,
                             lambda name: not name.startswith("tests/mutants/") and name != DOCUMENT)

    def put(self, m):
        path = self.tree / m.file
        path.write_text(path.read_text().replace(m.is_, m.becomes))

    def take_back(self, m):
        (self.tree / m.file).write_bytes((self.root / m.file).read_bytes())

    def build(self, name):
        tier = "quick" if name == "quick" else "all"
        return Build(self.tree, name, "asan" if name == "asan" else "host", [f"-DCOMPOUND_TIER={tier}"], self.jobs)

    def prepare(self, name):
        """The build of the code as it is, whose tests must pass."""
        build = self.build(name)
        before = self.state["baseline"].get(name, {})
        self.say(f"building '{name}', without a mistake")
        build.configure()
        if not build.make():
            raise Stop(f"the code as it is does not build: {build.log}")
        if before.get("key") == self.key:
            return build
        self.say(f"testing '{name}', without a mistake")
        tests, seconds = build.test(".", "", False, lambda _: 3600, 24 * 3600)
        if tests.failed or not tests.seconds:
            raise Stop("tests of the code as it is fail, so that they can tell nothing: "
                       + ", ".join(f"{t} ({how})" for t, how in tests.failed.items()))
        self.state["baseline"][name] = {"key": self.key, "seconds": round(seconds), "tests": tests.seconds}
        self.save()
        self.say(f"{len(tests.seconds)} tests passed in {seconds:.0f} s")
        return build

    def entry(self, m):
        """What is known of it by now, begun anew where it, or the code under a survivor, has changed."""
        entries = self.state["mutants"]
        for known in (entries.get(m.name), self.known.get(m.name)):
            if known and known["text"] == text_of(m) and (killer(known) or known["key"] == self.key):
                entries[m.name] = known
                return known
        entries[m.name] = {"text": text_of(m), "key": self.key, "steps": {}}
        return entries[m.name]

    def step(self, m, build, step, runs, stop):
        """Tests a mutant that is built, by runs of (tests, left out) until one finds it; what came of it is kept."""
        usual = self.state["baseline"][build.name]["tests"]
        tests, seconds = Tests(), 0
        for chosen, left_out in runs:
            expected = sum(s for name, s in usual.items()
                           if re.search(chosen, name) and not (left_out and re.search(left_out, name)))
            of_run, took = build.test(chosen, left_out, stop, lambda name: self.least_limit + 4 * usual.get(name, 0),
                                      2 * self.least_limit + 4 * expected)
            tests.add(of_run)
            seconds += took
            if tests.failed:
                break
        entry = self.entry(m)
        entry.update(date=datetime.datetime.now().isoformat(timespec="minutes"), machine=machine(),
                     commit=commit_of(self.root))
        entry["steps"][step] = {"killed": tests.failed, "cases": tests.cases[:8], "seconds": round(seconds),
                                "tests": len(tests.seconds)}
        self.save()
        found = ", ".join(f"{name} ({how})" for name, how in tests.failed.items())
        self.say(f"{m.name}: {STEPS[step]}: {'found by ' + found if found else 'not found'} in {seconds:.0f} s")

    def built(self, m, build, targets):
        begin = time.monotonic()
        if build.make(targets):
            return True
        entry = self.entry(m)
        entry["not_built"] = build.end_of_log()
        self.save()
        self.say(f"{m.name}: does not build, mend it in {TABLE}: {entry['not_built']} "
                 f"({time.monotonic() - begin:.0f} s)")
        return False

    def run_quick(self, build):
        objects = build.objects_by_file()
        for m in sorted(self.mutants, key=lambda m: objects[m.file]):
            steps = self.entry(m)["steps"]
            if "quick" in steps or (killer(self.entry(m)) and not self.every):
                continue
            self.entry(m).pop("not_built", None)
            self.check_time()
            self.put(m)
            try:
                if "near" not in steps:
                    if not self.built(m, build, build.targets_of(m.near)):
                        continue
                    self.step(m, build, "near", [(m.near, "")], False)
                if killer(self.entry(m)) and not self.every:
                    continue
                self.check_time()
                if self.built(m, build, ["all"]):
                    self.step(m, build, "quick", [(".", m.near)], not self.every)
            finally:
                self.take_back(m)

    def run_all(self, step):
        def survivors():
            return [m for m in self.mutants if "near" in self.entry(m)["steps"] and not killer(self.entry(m))
                    and step not in self.entry(m)["steps"]]

        if not survivors():
            return
        self.check_time()
        build = self.prepare(step)
        for m in survivors():
            self.check_time()
            self.put(m)
            try:
                if self.built(m, build, ["all"]):
                    self.step(m, build, step, [(m.near, ""), (".", m.near)], True)
            finally:
                self.take_back(m)

    def run(self, steps, only=()):
        set_environment(self.root)
        if mistakes := mistakes_in_table(self.root, self.mutants):
            raise Stop("\n".join(mistakes))
        if unknown := set(only) - {m.name for m in self.mutants}:
            raise Stop("no mutant is named so: " + ", ".join(sorted(unknown)))
        if only:
            self.mutants = [m for m in self.mutants if m.name in only]
        self.copy_tree()
        build = self.prepare("quick")
        names = build.tests()
        for m in self.mutants:
            if not any(re.search(m.near, name) for name in names):
                raise Stop(f"{m.name}: its near tests, '{m.near}', are none of this build's")
        self.run_quick(build)
        for step in steps:
            self.run_all(step)
        left = [m.name for m in self.mutants if not killer(self.entry(m))]
        self.say(f"{len(self.mutants) - len(left)} of {len(self.mutants)} were found; not: {', '.join(left) or 'none'}")


def known_of(root):
    """What the record and the files of runs here say, of each mutant the newest, and of that what went furthest."""
    files = [root / RECORD, *sorted((root / "build" / "mutants").glob("state*.json"))]
    known = {}
    for file in files:
        entries = read_record(file, {"mutants": {}})["mutants"]
        for name, entry in entries.items():
            rank = (entry.get("date", ""), len(entry["steps"]))
            if name not in known or rank >= (known[name].get("date", ""), len(known[name]["steps"])):
                known[name] = entry
    return known


def outcome(entry):
    if entry.get("not_built"):
        return "not built"
    if step := killer(entry):
        return step
    return "survives " + " ".join(entry["steps"]) if entry["steps"] else "not run"


def found_by(entry):
    step = killer(entry)
    tests = [name + ("" if how == "Failed" else f" ({how})") for name, how in entry["steps"][step]["killed"].items()]
    text = f"{STEPS[step]}: {', '.join(tests[:3])}" + (f" and {len(tests) - 3} more" if len(tests) > 3 else "")
    cases = entry["steps"][step]["cases"]
    return text + (f": `{cases[0]}`" + (" ..." if len(cases) > 1 else "") if cases else "")


def document(root, mutants, known):
    """The text of docs/mutants.md."""
    entries = {m.name: known[m.name] for m in mutants if known.get(m.name, {}).get("text") == text_of(m)}
    by = collections.Counter(killer(e) or ("survives" if e["steps"] else "not run") for e in entries.values())
    by["not run"] += len(mutants) - len(entries)
    ran = [e for e in entries.values() if e["steps"]]
    out = ["# Mistakes that the tests find", "",
           "`tests/mutants/mutants.toml` lists mistakes in the code; `tests/mutants/run.py` puts them in, one at a",
           "time, and says which test finds each: the tests that are nearest to it, the rest of the quick tier, or",
           "only all tests there are (CONTRIBUTING.md says what a tier is). This page is written by `run.py --table`",
           "from `tests/mutants/record.json`.", "",
           "| found by | mistakes |", "|---|---|"]
    out += [f"| {text} | {by[step]} |" for step, text in STEPS.items() if by[step] or step in ("near", "quick", "all")]
    out += [f"| no test | {by['survives']} |"] + ([f"| not run yet | {by['not run']} |"] if by["not run"] else [])
    dates = sorted({e["date"][:10] for e in ran})
    machines, commits = sorted({e["machine"] for e in ran}), sorted({e["commit"] for e in ran})
    if ran:
        ran_on = (f"{dates[0]}{' to ' + dates[-1] if len(dates) > 1 else ''}, {'; '.join(machines)}, "
                  f"commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}.")
        out += ["", *textwrap.wrap(ran_on, 100)]
    survivors = [m for m in mutants if m.name in entries and entries[m.name]["steps"] and not killer(entries[m.name])]
    if survivors:
        out += ["", "## Found by no test", ""]
        out += ["| mistake | what is wrong | tried | why it is left |", "|---|---|---|---|"]
        out += [f"| {m.name} | {m.what} | {', '.join(STEPS[s] for s in entries[m.name]['steps'])} | {m.left or '?'} |"
                for m in survivors]
    out += ["", "## All", "", "| mistake | where | class | what is wrong | found by | s |", "|---|---|---|---|---|---|"]
    for m in mutants:
        entry = entries.get(m.name, {"steps": {}})
        seconds = sum(s["seconds"] for s in entry["steps"].values())
        by_what = found_by(entry) if killer(entry) else "nothing" if entry["steps"] else "not run"
        out.append(f"| {m.name} | {m.file}:{line_of(root, m)} | {m.kind} | {m.what} | {by_what} | {seconds} |")
    return "\n".join(out) + "\n"


def write_table(root):
    mutants, known = read_mutants(root), known_of(root)
    known = {m.name: known[m.name] for m in mutants if known.get(m.name, {}).get("text") == text_of(m)}
    write_record(root / RECORD, {"mutants": known})
    (root / DOCUMENT).write_text(document(root, mutants, known))
    print(f"wrote {RECORD} and {DOCUMENT}: {len(known)} of {len(mutants)} mutants have been run")


# A tree of one program, for the test of all this.
TOY = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.22)
project(toy C)
enable_testing()
add_executable(toy main.c)
foreach(what near rest wait)
  add_test(NAME toy.${what} COMMAND toy ${what})
endforeach()
if(COMPOUND_TIER STREQUAL "all")
  add_test(NAME toy.slow COMMAND toy slow)
endif()
""",
    "CMakePresets.json": """{"version": 3, "configurePresets": [{"name": "host", "generator": "Ninja"}]}""",
    ".gitignore": "/build/\n",
    "main.c": """#include <string.h>
#include <unistd.h>
int near_one(void) { return 1; }
int rest_one(void) { return 1; }
int slow_one(void) { return 1; }
int seen_by_none(void) { return 1; }
int ready(void) { return 1; }
int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "near") == 0) return near_one() != 1;
  if (argc > 1 && strcmp(argv[1], "slow") == 0) return slow_one() != 1;
  if (argc > 1 && strcmp(argv[1], "wait") == 0) while (!ready()) sleep(1);
  return rest_one() != 1;
}
""",
}


def toy_mutant(function, name="", result="0", near="toy.near"):
    """One whose function returns something else."""
    return f"""
[[mutant]]
name = "{name or function}"
file = "main.c"
kind = "bound"
what = "{function}"
is = '''int {function}(void) {{ return 1; }}'''
becomes = '''int {function}(void) {{ return {result}; }}'''
near = '{near}'
"""


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in TOY.items():
            (root / name).write_text(text)
        for name in (TABLE, DOCUMENT):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
        table = (toy_mutant("near_one") + toy_mutant("rest_one") + toy_mutant("ready", near="toy.wait")
                 + toy_mutant("slow_one") + toy_mutant("seen_by_none"))
        (root / TABLE).write_text(table)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)

        def run(steps, **options):
            runner = Runner(root, jobs=2, least_limit=8, say=lambda *_, **__: None, **options)
            runner.run(steps)
            return {name: outcome(entry) for name, entry in runner.state["mutants"].items()}

        def expect(what, found, wanted):
            if found != wanted:
                sys.exit(f"self-test: {what}: {found}, not {wanted}")

        mutants = read_mutants(root)
        expect("a table that is right", mistakes_in_table(root, mutants), [])
        expect("texts that are not there", len(mistakes_in_table(root, [mutants[0]._replace(is_="nowhere")])), 1)
        expect("two of one name", len(mistakes_in_table(root, mutants + [mutants[0]])), 1)
        quick = {"near_one": "near", "rest_one": "quick", "ready": "near", "slow_one": "survives near quick",
                 "seen_by_none": "survives near quick"}
        expect("the quick tier", run([]), quick)
        everything = {**quick, "slow_one": "all", "seen_by_none": "survives near quick all"}
        expect("all", run(["all"]), everything)
        hangs = known_of(root)["ready"]["steps"]["near"]["killed"]
        expect("a test that hangs", hangs, {"toy.wait": "hangs"})
        (root / TABLE).write_text(table + toy_mutant("seen_by_none", "broken", "no number"))
        expect("one that is no C", run([])["broken"], "not built")
        (root / TABLE).write_text(table)
        with contextlib.redirect_stdout(io.StringIO()):
            write_table(root)
        expect("the table", "| slow_one | main.c:5 | bound | slow_one | all tests: toy.slow |" in
               (root / DOCUMENT).read_text(), True)
        shutil.rmtree(root / "build")
        expect("what the record knows is not run again", run([])["slow_one"], "all")
        (root / "main.c").write_text(TOY["main.c"].replace("!= 1", "== 1"))
        try:
            run([])
            sys.exit("self-test: tests that fail by themselves were taken for good ones")
        except Stop as stop:
            expect("tests that fail by themselves", "toy.near (Failed)" in str(stop), True)
    print("the runner does as it says")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only look whether each mistake finds its place")
    parser.add_argument("--list", action="store_true", help="only say what is known of each")
    parser.add_argument("--table", action="store_true", help=f"write {RECORD} and {DOCUMENT}")
    parser.add_argument("--self-test", action="store_true", help="run all this on a tree of one small program")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--all", action="store_true", help="those that the quick tier does not find meet all tests")
    parser.add_argument("--asan", action="store_true", help="and then all tests with sanitizers")
    parser.add_argument("--every", action="store_true", help="the whole quick tier for each: all that find it")
    parser.add_argument("--minutes", type=float, metavar="N", help="after N minutes end with the step under way")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="jobs at a time (as many as cores)")
    parser.add_argument("--shard", default="", metavar="I/N", help="the Ith of N shares, in a tree of its own")
    a = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    if a.shard and not re.fullmatch(r"[1-9]\d*/[1-9]\d*", a.shard):
        parser.error(f"--shard {a.shard}: say 1/4 for the first of four shares")
    if a.self_test:
        return self_test()
    mutants = read_mutants(root)
    if a.check:
        mistakes = mistakes_in_table(root, mutants)
        print("\n".join(mistakes) or f"{len(mutants)} mutants find their places")
        return 1 if mistakes else 0
    if a.list:
        known = known_of(root)
        for m in mutants:
            entry = known.get(m.name, {})
            print(f"{m.name:24} {m.file:36} {outcome(entry) if entry.get('text') == text_of(m) else 'not run'}")
        return 0
    if a.table:
        return write_table(root)
    steps = (["all"] if a.all else []) + (["asan"] if a.asan else [])
    try:
        Runner(root, a.j, a.shard, a.minutes, a.every).run(steps, a.only)
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
