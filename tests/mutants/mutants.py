#!/usr/bin/env python3
"""Draws mistakes, puts them into the code one at a time, and sees whether the nearest tests find them.

usage: mutants.py --seed S --count N          the first N mistakes of seed S, those that have not been run
       mutants.py ... --under src/layout      drawn below this folder alone
       mutants.py ... --changed COMMIT        drawn from lines that differ from COMMIT alone
       mutants.py ... --record                and keeps the score as tests/mutants/score.json
       mutants.py ... --show                  only says what is known; runs nothing
       mutants.py ... --device                on a GPU: drawn from lines that nothing else runs

A mistake is drawn from a line of code of src/ or plugin/, by folder as often: not of plugin/tools, nor where only a
device runs (tests/coverage/needs_device.txt); with --device it is drawn there, by line. It meets the tests that run its
line, as the coverage of build/coverage has them (build/device-coverage), until one finds it: sixty at most, for two
minutes (with --device ten); first those of a file of its name, then those that run most of its file, and what few
others run of it, for their time. A mistake that does not compile is drawn again; one that no test runs is found by
none. Which mistake has a number depends on the seed and on the code.

Trees with a build of their own, and what was found, are below build/mutants: it may be stopped at any time and goes on
where it was, on another machine with what the record says was found. What is not found, and is not in
equivalent.toml, is tried again when code or tests have changed. Ends with 1 if the score is below 90 %, or that of a
folder below 80 %.
"""

import argparse
import bisect
import collections
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import tomllib
from builds import (
    Build,
    Ctest,
    Stop,
    Tests,
    commit_of,
    copy_tree,
    files_of,
    gpu_of_turn,
    machine,
    read_record,
    set_environment,
    stamp,
    write_record,
    write_whole,
)

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "coverage"))
import coverage as coverages  # noqa: E402

SCORE = "tests/mutants/score.json"
EQUIVALENT = "tests/mutants/equivalent.toml"
NOT_DRAWN = ("plugin/tools/", "src/cuda/device_code/")  # the latter is not in these builds
SECONDS = {"host": 120, "device": 600}  # of tests, for one mistake: on a device some take three minutes each
NEAR = 60  # tests at most: each is a program to be built
DRAWS = 50  # of which one compiles
GOALS = {"all": 90, "folder": 80}  # percent
MOST_EQUIVALENT = 5  # percent

# ---------------------------------------------------------------------------------------------------------- operators

HIDDEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""",
                    re.DOTALL)


def code_of(text):
    """Its lines with comments, texts and the preprocessor's lines blanked: columns stay."""
    def blank(match):
        quote = match[0][0] if match[0][0] != "/" else " "
        inner = re.sub(r"[^\n]", " ", match[0][1:-1])
        return quote + inner + quote if len(match[0]) > 1 else quote

    lines, goes_on = [], False
    for line in HIDDEN.sub(blank, text).split("\n"):
        directive = goes_on or line.lstrip().startswith("#")
        goes_on = directive and line.endswith("\\")
        lines.append("" if directive else line.rstrip())
    return lines


RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
SWAPS = {  # operators between spaces, as clang-format has them: those of templates and references have none
    "relation": (r"(?<= )(<=|>=|==|!=|<|>)(?= |$)", RELATIONS),
    "plus or minus": (r"(?<= )(\+=|-=|\+|-)(?= |$)", {"+": "-", "-": "+", "+=": ("-=",), "-=": ("+=",)}),
    "and or or": (r"(?<= )(&&|\|\|)(?= |$)", {"&&": ("||",), "||": ("&&",)}),
    "shift": (r"(?<= )(<<=|>>=|<<|>>)(?= |$)", {"<<": (">>",), ">>": ("<<",), "<<=": (">>=",), ">>=": ("<<=",)}),
    "min or max": (r"\b(min|max)(?=(?:<[\w:]+>)?\()", {"min": ("max",), "max": ("min",)}),
}
STATEMENTS = [  # that are dropped, the first that fits; None: kept, since nothing would compile
    ("early return dropped", r"(return|PetscFunctionReturn)\b"),
    (None, r"(throw|case|default|using|namespace|static|const|constexpr|struct|class|enum|typedef|goto|break|continue|"
           r"friend|extern|for|while|do|switch)\b"),
    ("PetscCall dropped", r"PetscCall(MPI)?\("),
    ("assignment dropped", r"[\w.:>\[\]()*-]+ [-+*/|&^]?= |(\+\+|--)[\w.>\[\]-]+;"),
    ("call dropped", r"[\w.:>\[\]<-]+\("),
]


def closing(line, start):
    """Where the bracket that opens at `start` closes; -1 if it does not on this line."""
    depth = 0
    for at in range(start, len(line)):
        depth += (line[at] in "([{") - (line[at] in ")]}")
        if depth == 0:
            return at
    return -1


def statement_at(line):
    """Where a statement begins that is alone on its line, behind `if (...)` or `else`, or -1."""
    at = len(line) - len(line.lstrip())
    while True:
        head = re.match(r"(?:\} )?(?:else )?if (?:constexpr )?\(|(?:\} )?else |for \(|while \(", line[at:])
        if not head:
            return at
        if not head[0].endswith("("):
            at += len(head[0])
            continue
        end = closing(line, at + len(head[0]) - 1)
        if end < 0 or end + 2 > len(line) - 1:
            return -1
        at = end + 2


def begins_statement(code, number):
    """Whether the line before it has ended one."""
    before = number - 1
    while before > 0 and not code[before - 1].strip():
        before -= 1
    return before == 0 or code[before - 1].rstrip().endswith((";", "{", "}", ":"))


def sites(code, number, returned):
    """By operator the edits (start, end, replacement) of a line; `returned` is what its function may return early."""
    line, found = code[number - 1], collections.defaultdict(list)
    if not line.strip() or re.match(r"\s*(template\b|static_assert|using |namespace |public:|private:)", line):
        return found
    for operator, (pattern, becomes) in SWAPS.items():
        for match in re.finditer(pattern, line):
            found[operator] += [(match.start(1), match.end(1), other) for other in becomes[match[1]]]
    for match in re.finditer(r"(?<![\w.'])(\d+)(?![\w.'])", line):
        number_here = int(match[1])
        found["constant"] += [(*match.span(), str(n)) for n in (number_here - 1, number_here + 1) if n >= 0]
    for match in re.finditer(r"\b(?:if(?: constexpr)?|while) (\()", line):
        end = closing(line, match.start(1))
        if end > 0 and ";" not in line[match.start(1):end]:
            found["condition"].append((match.start(1) + 1, end, "!(" + "\0" + ")"))
    start = statement_at(line)
    statement = line[start:].rstrip() if start >= 0 else ""
    alone = start == len(line) - len(line.lstrip())
    if statement.endswith(";") and ";" not in statement[:-1] and (not alone or begins_statement(code, number)):
        kind = next((kind for kind, pattern in STATEMENTS if re.match(pattern, statement)), None)
        if kind == "early return dropped" and alone:
            kind = None  # the last of its function, or of a branch
        if kind:
            found[kind].append((start, start + len(statement), ";"))
        if kind and returned and alone:
            found["early return"].append((start, start, returned + " "))
    return found


def edited(line, edit):
    start, end, becomes = edit
    return line[:start] + becomes.replace("\0", line[start:end]) + line[end:]


# ------------------------------------------------------------------------------------------------------------- drawing

class Lines:
    """Lines of the tree as it is, and the tests that ran them in the tree whose coverage is known."""

    def __init__(self, root, build, of_device=False):
        self.root, self.of_device = root, of_device
        self.coverage = coverages.Coverage(root, build)
        self.coverage.read()
        self.device, wrong = self.coverage.needs_device()
        if wrong:
            raise Stop("\n".join(wrong))
        self.by_line = self.coverage.tests_of()
        self.texts, self.files_of = {}, {}

    def text(self, name):
        if name not in self.texts:
            self.texts[name] = (self.root / name).read_text()
        return self.texts[name]

    def code(self, name):
        return code_of(self.text(name))

    def owner(self, name, number):
        """The line of known coverage that stands for a line: of a statement of several lines an earlier one, or 0."""
        file = self.coverage.files[name]
        if "sorted" not in file:
            file["sorted"] = sorted(file["can"])
            file["spans"] = sorted((a, b) for a, b, _ in file["functions"])
        then = self.coverage.line_then(name, number)
        at = bisect.bisect_right(file["sorted"], then) - 1
        owner = file["sorted"][at] if at >= 0 else 0
        since = self.text(name).splitlines()[max(0, number - 1 - (then - owner)):number]
        if any(line.startswith("#") for line in since):  # perhaps not compiled here
            return 0
        # both in one function, which is no table and no declaration
        inside = [a for a, b in file["spans"] if a <= then <= b]
        return owner if inside and owner >= min(inside) else 0

    def is_left_out(self, name, number):
        """Where no mistake is drawn: it is not compiled here, or needs a device (with one: needs none)."""
        if name.startswith(NOT_DRAWN):
            return True
        owner = self.owner(name, number)
        return not owner or (owner in self.device[name]) != self.of_device

    def returned(self, name, number, code):
        """What the function of a line may return early."""
        then = self.coverage.line_then(name, number)
        starts = [a for a, b, _ in self.coverage.files[name]["functions"] if a < then <= b]
        if not starts:
            return ""
        begin = max(1, max(starts) + number - then)
        head = " ".join(code[max(0, begin - 2):begin + 2])
        if "PetscFunctionBegin" in " ".join(code[begin - 1:number - 1]):
            return "PetscFunctionReturn(PETSC_SUCCESS);"
        return "return;" if re.search(r"\bvoid\b", head.split("{")[0]) else "return {};"

    def tests(self, name, number):
        """That run the line, nearest first: src/a/b.cpp has b_test.cpp."""
        near, own = self.by_line[name].get(self.owner(name, number), []), pathlib.Path(name).stem.encode()
        return sorted(near, key=lambda test: own not in self.test_files(test))

    def test_files(self, test):
        """`b` of each b_test.cpp that is in a test's programs, which have the names of their files in them."""
        files = set()
        for program in self.coverage.tests[test]["stamps"]:
            if program.endswith(".gcno") or not os.path.exists(program):
                continue
            if program not in self.files_of:
                content = pathlib.Path(program).read_bytes()
                self.files_of[program] = {content[max(0, found.start() - 100):found.start()].rpartition(b"/")[2]
                                          for found in re.finditer(rb"_test\.cpp", content)}
            files |= self.files_of[program]
        return files


class Draw:
    """Mistakes by seed and number."""

    def __init__(self, lines, under="", changed=None):
        self.lines, self.folders = lines, collections.defaultdict(list)
        self.found = {}
        of_commit = changed_lines(lines.root, changed) if changed else None
        for name in sorted(lines.coverage.files):
            if not name.startswith(under) or not (lines.root / name).exists():
                continue
            code = lines.code(name)
            for number in range(1, len(code) + 1):
                if of_commit is not None and number not in of_commit[name]:
                    continue
                if not code[number - 1].strip() or number > len(lines.text(name).splitlines()):
                    continue
                if lines.is_left_out(name, number):
                    continue
                found = sites(code, number, lines.returned(name, number, code))
                found = {operator: edits for operator, edits in found.items() if edits}
                if found:
                    self.folders["" if lines.of_device else coverages.folder_of(name)].append((name, number))
                    self.found[name, number] = found
        if not self.folders:
            raise Stop("there is no line of code to draw a mistake from")

    def __call__(self, seed, index, attempt):
        chance = random.Random(f"{seed}/{index}/{attempt}")
        name, number = chance.choice(self.folders[chance.choice(sorted(self.folders))])
        found = self.found[name, number]
        operator = chance.choice(sorted(found))
        line = self.lines.text(name).splitlines()[number - 1]
        return {"file": name, "line": number, "operator": operator, "is": line,
                "becomes": edited(line, chance.choice(found[operator]))}


def changed_lines(root, commit):
    """By file the lines that differ from a commit's."""
    said = subprocess.run(["git", "diff", "-U0", "--no-color", commit, "--", *coverages.FOLDERS], cwd=root,
                          capture_output=True, text=True)
    if said.returncode != 0:
        raise Stop(f"--changed {commit}: {said.stderr.strip()}")
    lines, name = collections.defaultdict(set), ""
    for line in said.stdout.splitlines():
        if line.startswith("+++ "):
            name = line[6:]
        elif found := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            first, many = int(found[1]), int(found[2] or 1)
            lines[name].update(range(first, first + many))
    return lines


# ------------------------------------------------------------------------------------------------------------- running

class Worker:
    """A tree, in which one mistake at a time is."""

    def __init__(self, runner, number):
        self.runner = runner
        self.tree = runner.folder / f"drawn-{number}"
        self.key = copy_tree(runner.root, self.tree, lambda f: f.startswith(("src/", "plugin/", "tests/"))
                             and not f.startswith(("tests/mutants/", "tests/coverage/")))
        self.build = Build(self.tree, "drawn", "host", runner.options, runner.jobs)
        self.gpu = gpu_of_turn(number) if runner.lines.of_device else {}
        self.sound = {}  # whether a test passes here without a mistake

    def configure(self):
        self.build.configure()
        built = Ctest(self.runner.lines.coverage.build, 1)
        if self.runner.lines.of_device:  # that build may be of an earlier machine
            built = self.build
            if not built.make(["compound_device_tests"]):
                raise Stop(f"the device's tests cannot be built: {built.log}")
        self.targets = self.build.targets_by_test(built)

    def place(self, entry):
        """The line where it is now, or 0: code has changed since it was drawn."""
        lines = self.runner.lines.text(entry["file"]).splitlines()
        same = [n for n, line in enumerate(lines, 1) if line == entry["is"]]
        return min(same, key=lambda n: abs(n - entry["line"]), default=0)

    def put(self, entry, number):
        lines = self.runner.lines.text(entry["file"]).split("\n")
        lines[number - 1] = entry["becomes"]
        self.write(entry, "\n".join(lines))

    def take_back(self, entry):
        self.write(entry, self.runner.lines.text(entry["file"]))

    def write(self, entry, text):
        """What is there already is left alone, and not compiled again."""
        path = self.tree / entry["file"]
        if path.read_text() != text:
            path.write_text(text)

    def run_test(self, name):
        """How it fails, or nothing; which case of it fails."""
        usual = self.runner.seconds[name]
        longest = self.runner.limit
        limit = min(longest, self.runner.least_limit + 4 * usual)
        tests, took = self.build.test(f"^{re.escape(name)}$", "", True, lambda _: limit, limit, self.gpu)
        how = tests.failed.get(name) or next(iter(tests.failed.values()), "")
        if not how:
            self.runner.seconds[name] = min(usual, took)
        if how == "hangs" and self.runner.least_limit + 4 * usual > longest:
            how = ""  # it is as long by itself
        return how, tests.cases[:1]

    def is_sound(self, name):
        """Whether a test that has found a mistake passes without it."""
        if name not in self.sound:
            how, cases = self.run_test(name) if self.build.make(self.targets[name]) else ("Not built", [])
            self.sound[name] = not how
            if how:
                self.runner.say(f"{name} fails by itself, and can find nothing: {' '.join([how, *cases])}")
        return self.sound[name]

    def meet(self, entry, number, near):
        """Builds it and runs the tests that are near. False: it does not compile."""
        begin, tested, entry["tests"] = time.monotonic(), 0.0, 0
        near = [name for name in near if name in self.targets and self.sound.get(name, True)]
        # Scripts need everything that there is: only where no program runs the line.
        near = [name for name in near if self.targets[name] != ["all"]] or near
        # Each program once before one of them on other processes or for another type; every other on several first.
        of_program = collections.defaultdict(list)
        for name in near:
            of_program[self.targets[name][0]].append(name)
        for names in list(of_program.values())[1::2]:
            names.sort(key=lambda name: name.endswith(".np1"))
        turn = {name: place for names in of_program.values() for place, name in enumerate(names)}
        near = sorted(near, key=turn.get)[:NEAR]
        try:
            for name in near:
                if tested > 0 and tested + self.runner.seconds[name] > self.runner.limit:
                    continue
                self.put(entry, number)
                if not self.build.make(self.targets[name]):
                    if not entry["tests"]:
                        entry["error"] = self.build.end_of_log()
                        return False
                    continue  # compiles where a nearer test needs it
                test_begin = time.monotonic()
                how, cases = self.run_test(name)
                tested += time.monotonic() - test_begin
                entry["tests"] += 1
                if not how:
                    continue
                self.take_back(entry)
                if self.is_sound(name):
                    entry["killed"] = {"test": name, "how": how, "case": cases[0] if cases else ""}
                    break
        finally:
            self.take_back(entry)
        entry["test_seconds"], entry["seconds"] = round(tested, 1), round(time.monotonic() - begin, 1)
        return True


class Runner:
    least_limit = 20.0

    def __init__(self, root, coverage_build, seed, under="", changed=None, trees=1, jobs=1, minutes=None, options=(),
                 device=False, say=print):
        self.root, self.seed, self.trees, self.jobs, self.options = root, seed, trees, jobs, options
        self.say = lambda text: say(f"{datetime.datetime.now():%H:%M:%S} {text}", flush=True)
        self.until = None if minutes is None else time.monotonic() + 60 * minutes
        self.folder = root / "build" / "mutants"
        self.selection = " ".join(filter(None, [device and "device", f"seed {seed}", under and f"under {under}",
                                                changed and f"changed {changed}"]))
        self.state_file = self.folder / "drawn.json"
        self.state = read_record(self.state_file)
        self.mine = self.state.setdefault(self.selection, {})
        for row in read_score(root).get(self.selection, {}).get("mutants", []):
            if row["outcome"] == "found" and str(row["index"]) not in self.mine:  # on another machine
                killed = {"test": row["test"], "case": row["case"]}
                self.mine[str(row["index"])] = {"attempt": 0, **row, "gone": False, "killed": killed}
        self.lines = Lines(root, coverage_build, device)
        self.limit = SECONDS["device" if device else "host"]
        # Of each test, the fewest so far: those of the coverage ran side by side, and may have compiled kernels.
        self.seconds = {name: test["seconds"] for name, test in self.lines.coverage.tests.items()}
        self.drawn_from = (under, changed)
        self.equivalent = read_equivalent(root)
        self.lock = threading.Lock()

    def save(self):
        write_record(self.state_file, self.state)

    def one(self, worker, index):
        entry = self.mine.get(str(index))
        if entry and (entry["killed"] or entry["key"] == worker.key or changes_nothing(entry, self.equivalent)):
            return
        first = entry["attempt"] if entry else 0
        missed = bool(entry) and not entry["gone"]
        for attempt in range(first, first + DRAWS):
            if not entry:
                entry = {"attempt": attempt, **self.draw(self.seed, index, attempt)}
                missed = False
            entry.update(killed=None, key=worker.key, commit=commit_of(self.root),
                         date=datetime.datetime.now().isoformat(timespec="minutes"))
            number = worker.place(entry)
            entry["gone"] = not number or self.lines.is_left_out(entry["file"], number)
            near = [] if entry["gone"] else self.lines.tests(entry["file"], number)
            if not near or worker.meet(entry, number, near):
                break
            entry = None
        else:
            raise Stop(f"{self.selection}, {index}: none of {DRAWS} mistakes compiles")
        entry.update(near=len(near), missed=missed)
        with self.lock:
            self.mine[str(index)] = entry
            self.save()
        self.say(f"{index}: {entry['file']}:{entry['line']} {entry['operator']}: {outcome(entry)}")

    def run(self, count):
        """Whether all have been run."""
        self.draw = Draw(self.lines, *self.drawn_from)
        queue = list(range(count))[::-1]
        errors = []

        def work(number):
            try:
                worker = Worker(self, number)
                worker.configure()
                while queue and not errors and not (self.until and time.monotonic() > self.until):
                    self.one(worker, queue.pop())
            except Stop as stop:
                errors.append(stop)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, self.trees + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return not queue

    def entries(self, count):
        return {int(n): entry for n, entry in self.mine.items() if int(n) < count}


def outcome(entry):
    if entry["killed"]:
        return f"found by {entry['killed']['test']} {entry['killed']['case']}".rstrip()
    if entry["gone"]:
        return "its line is gone, or left out"
    if not entry["near"]:
        return "no test runs it"
    return f"not found by {entry['tests']} of {entry['near']} near tests"


def read_equivalent(root):
    file = root / EQUIVALENT
    rows = tomllib.loads(file.read_text()).get("mutant", []) if file.exists() else []
    return {(r["file"], r["is"].strip(), r["becomes"].strip()): r["reason"] for r in rows}


def changes_nothing(entry, equivalent):
    return not entry["killed"] and (entry["file"], entry["is"].strip(), entry["becomes"].strip()) in equivalent


def score_of(entries, equivalent):
    """What is published: counts, all and by folder, and each mistake."""
    score = {"drawn": len(entries), "found": 0, "not_found": 0, "equivalent": 0, "gone": 0,
             "not_compiled": sum(e["attempt"] for e in entries.values()), "folders": {}, "mutants": []}
    for index, entry in sorted(entries.items()):
        kind = ("found" if entry["killed"] else "equivalent" if changes_nothing(entry, equivalent) else
                "gone" if entry["gone"] else "not_found")
        score[kind] += 1
        if kind in ("found", "not_found"):
            of_folder = score["folders"].setdefault(coverages.folder_of(entry["file"]), {"found": 0, "not_found": 0})
            of_folder[kind] += 1
        row = {key: entry[key] for key in ("file", "line", "operator", "commit", "attempt")}
        row.update(index=index, outcome=kind, seconds=entry.get("seconds", 0), becomes=entry["becomes"].strip())
        row["is"] = entry["is"].strip()
        if entry["killed"]:
            row["test"], row["case"] = entry["killed"]["test"], entry["killed"]["case"]
            if "missed" in entry:
                row["missed"] = entry["missed"]
        elif kind != "gone":
            reason = equivalent.get((entry["file"], row["is"], row["becomes"]))
            row["why"] = reason if kind == "equivalent" else outcome(entry)
        score["mutants"].append(row)
    found = [row for row in score["mutants"] if row["outcome"] == "found"]
    if all("missed" in row for row in found):
        score["found_later"] = sum(row["missed"] for row in found)
    score["folders"] = dict(sorted(score["folders"].items()))
    return score


def percent(counts):
    ran = counts["found"] + counts["not_found"]
    return 100 * counts["found"] / ran if ran else 100.0


def short_of(score):
    """What is below its goal."""
    out = []
    if percent(score) < GOALS["all"]:
        out.append(f"the score is {percent(score):.1f} %, below {GOALS['all']} %")
    out += [f"{folder} has {percent(c):.1f} %, below {GOALS['folder']} %" for folder, c in score["folders"].items()
            if percent(c) < GOALS["folder"]]
    if score["equivalent"] * 100 > MOST_EQUIVALENT * score["drawn"]:
        out.append(f"{score['equivalent']} of {score['drawn']} change nothing, it says: more than {MOST_EQUIVALENT} %")
    return out


def show(score, say):
    for row in score["mutants"]:
        if row["outcome"] in ("not_found", "equivalent"):
            say(f"{row['index']}: {row['file']}:{row['line']} {row['operator']}: {row['why']}\n"
                f"    - {row['is']}\n    + {row['becomes']}")
    say(f"{'folder':20} {'found':>6} {'not':>6} {'%':>6}")
    for folder, counts in [*score["folders"].items(), ("all", score)]:
        say(f"{folder:20} {counts['found']:6} {counts['not_found']:6} {percent(counts):6.1f}")
    say(f"found after code or tests had changed: {score.get('found_later', 'not kept')}")
    say(f"drawn {score['drawn']}; change nothing {score['equivalent']}; their lines are gone {score['gone']}; "
        f"drawn again as they do not compile {score['not_compiled']}")


def read_score(root):
    return read_record(root / SCORE)


def keep_score(root, selection, score):
    kept = read_score(root)
    kept[selection] = {**stamp(root), "machine": machine(), **score}
    write_record(root / SCORE, kept)


# ----------------------------------------------------------------------------------------------------------- self-test

TOY = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.22)
project(toy C)
enable_testing()
add_executable(toy src/main.c src/one/one.c)
add_test(NAME toy.one COMMAND toy 7)
add_custom_target(compound_device_tests DEPENDS toy)
""",
    "CMakePresets.json": """{"version": 3, "configurePresets": [{"name": "host", "generator": "Ninja"}]}""",
    ".gitignore": "/build/\n",
    "src/one/one.c": """int one(int given);
int one(int given) {
  int sum = 0;
  if (given > 1000) sum = 9;
  for (int i = 0; i < given; ++i) {
    sum += 2;
  }
  return sum;
}
""",
    "src/main.c": """#include <stdlib.h>
int one(int given);
int main(int argc, char** argv) { return argc < 2 || one(atoi(argv[1])) != 14; }
""",
    coverages.NEEDS_DEVICE: "",
}


def self_test():
    def expect(what, found, wanted):
        if found != wanted:
            sys.exit(f"self-test: {what}: {found}, not {wanted}")

    def of_line(line, returned="", before=";"):
        return {operator: [edited(line, edit) for edit in edits]
                for operator, edits in sites(code_of(before + "\n" + line), 2, returned).items() if edits}

    expect("relations", of_line("a(x < 2)")["relation"], ["a(x <= 2)", "a(x >= 2)"])
    expect("a template is none", of_line("std::vector<int> a;"), {})
    expect("texts are none", of_line('f("a < 1"); // b + 2'), {"call dropped": ["; // b + 2"]})
    expect("conditions", of_line("if (a(b)) {"), {"condition": ["if (!(a(b))) {"]})
    expect("calls behind a condition", of_line("if (a) b();")["call dropped"], ["if (a) ;"])
    expect("PetscCall", of_line("  PetscCall(f(a));")["PetscCall dropped"], ["  ;"])
    expect("assignments", of_line("a->b[i] = c;")["assignment dropped"], [";"])
    expect("a declaration is none", of_line("const int a = b;"), {})
    expect("the end of a statement is none", of_line("  b);", "return;", "a(c,"), {})
    expect("an early return", of_line("  f();", "return;")["early return"], ["  return; f();"])
    expect("a return that is dropped", of_line("if (a) return b;")["early return dropped"], ["if (a) ;"])
    tests = Tests()
    for how in ("   Passed", "***Failed", "***Skipped", "Subprocess aborted***Exception:"):
        tests.hear(f"1/1 Test #1: {how.strip(' *:')[-6:]} ............{how}    0.63 sec")
    expect("how tests end", (list(tests.failed), list(tests.skipped)), (["Failed", "eption"], ["kipped"]))
    expect("the rest", of_line("a = std::min(b >> c, d);")["min or max"], ["a = std::max(b >> c, d);"])

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        coverage_build = coverages.make_toy(root)
        for name, text in TOY.items():
            (root / name).write_text(text)
        for name in ("one/one", "main"):
            subprocess.run(["gcc", "--coverage", "-c", root / f"src/{name}.c", "-o",
                            coverage_build / (name.split("/")[-1] + ".o")], check=True)
        subprocess.run(["gcc", "--coverage", coverage_build / "one.o", coverage_build / "main.o", "-o",
                        coverage_build / "toy"], check=True)
        (coverage_build / "CTestTestfile.cmake").write_text(f'add_test(toy.one "{coverage_build}/toy" "7")\n')
        coverages.Coverage(root, coverage_build, say=lambda *_, **__: None).run(1)

        def run(count, **options):
            runner = Runner(root, coverage_build, 1, under="src/one", say=lambda *_, **__: None, **options)
            runner.least_limit = 2.0
            expect("all have been run", runner.run(count), True)
            return runner

        listed = files_of(root)
        (root / ".git").rename(root / "hidden")
        without = [name for name in files_of(root) if not name.startswith("hidden/")]
        (root / "hidden").rename(root / ".git")
        expect("files without git", without, [name for name in listed if not name.startswith(".")])
        copy = root / "build/copy"
        copy_tree(root, copy)
        expect("files of a copy that git ignores", files_of(copy), without)
        shutil.rmtree(copy)

        few, state = run(2), root / "build/mutants/drawn.json"
        first = {n: few.mine[n]["becomes"] for n in few.mine}
        runner = run(10, trees=2)
        expect("the same ones, whatever their number", {n: runner.mine[n]["becomes"] for n in first}, first)
        score = score_of(runner.entries(10), {})
        outcomes = {row["becomes"]: row["outcome"] for row in score["mutants"]}
        for entry in runner.mine.values():
            if "sum += 2" in entry["is"] or "i < given" in entry["is"]:
                line = entry["becomes"].strip()
                expect(f"'{line}'", outcomes[line], "found")
        expect("some are found and some are not", (score["found"] > 0, score["not_found"] > 0), (True, True))
        expect("a score below its goal", len(short_of(score)) > 0, True)
        survivor = next(row for row in score["mutants"] if row["outcome"] == "not_found")
        reason = {("src/one/one.c", survivor["is"], survivor["becomes"]): "nothing is changed"}
        expect("one that changes nothing", score_of(runner.entries(10), reason)["equivalent"] > 0, True)
        before = state.read_text()
        expect("what is known is not run again", (run(10), state.read_text())[1], before)

        def tried_again(code):
            known = {n: entry["key"] for n, entry in json.loads(state.read_text())["seed 1 under src/one"].items()}
            (root / "src/main.c").write_text(TOY["src/main.c"] + code)
            return {n for n, entry in run(10).mine.items() if entry["key"] != known[n]}

        not_found = {str(row["index"]) for row in score["mutants"] if row["outcome"] == "not_found"}
        expect("what is not found is tried again", tried_again("/* other code */\n"), not_found)
        write_whole(root / EQUIVALENT, "[[mutant]]\nfile = 'src/one/one.c'\n" + "".join(
            f"{key} = '{survivor[key]}'\n" for key in ("is", "becomes")) + "reason = 'nothing is changed'\n")
        expect("what changes nothing is not", tried_again(""), set())
        (root / coverages.NEEDS_DEVICE).write_text("src/one/* | runs on a device\n")
        row = score_of(run(1, device=True).entries(1), {})["mutants"][0]
        expect("one of a device", (row["file"], row["outcome"] in ("found", "not_found")), ("src/one/one.c", True))
    print("mistakes are drawn, and found or not")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which mistakes are drawn")
    parser.add_argument("--count", type=int, default=150, metavar="N", help="the first N of them")
    parser.add_argument("--under", default="", metavar="FOLDER", help="of lines below it alone")
    parser.add_argument("--changed", metavar="COMMIT", help="of lines that differ from this commit alone")
    parser.add_argument("-j", type=int, default=1, metavar="J", help="trees at a time")
    parser.add_argument("--jobs", type=int, metavar="N", help="compilers at a time in each (cores by trees)")
    parser.add_argument("--minutes", type=float, metavar="M", help="after M minutes end with the mistakes under way")
    parser.add_argument("--record", action="store_true", help=f"keep the score in {SCORE}")
    parser.add_argument("--show", action="store_true", help="only print what is known")
    parser.add_argument("--device", action="store_true", help="of lines that a GPU alone runs")
    parser.add_argument("--coverage", type=pathlib.Path, metavar="FOLDER",
                        help="build/coverage unless it is named; with --device build/device-coverage")
    parser.add_argument("--self-test", action="store_true", help="run all this on a small tree")
    a = parser.parse_args()
    if a.self_test:
        return self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    set_environment(root)
    # Compiling takes longer than running; the widest vectors only where they run.
    # An index out of range is found, as by the sanitizers of the tier all.
    flags = "-O1 -DNDEBUG -D_GLIBCXX_ASSERTIONS"
    options = ["-DCOMPOUND_TIER=quick", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}", "-DCOMPOUND_SIMD=native",
               "-DCOMPOUND_TESTS_OF=core;plugin;tools", "-DCOMPOUND_EXAMPLES=OFF"]
    if a.device:
        os.environ["COMPOUND_DEVICE_REQUIRED"] = "1"  # a test that is skipped finds nothing
        options += ["-DCOMPOUND_CUDA=ON", "-DCOMPOUND_TEST_RANKS=1;2", "-DCOMPOUND_TEST_PREFIX=device-coverage."]
    try:
        coverage = a.coverage or root / "build" / ("device-coverage" if a.device else "coverage")
        runner = Runner(root, coverage.resolve(), a.seed, a.under, a.changed, a.j,
                        a.jobs or max(1, os.cpu_count() // a.j), a.minutes, options, a.device)
        complete = a.show or runner.run(a.count)
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1
    score = score_of(runner.entries(a.count), runner.equivalent)
    show(score, print)
    if a.record:
        keep_score(root, runner.selection, score)
    if not complete:
        print("the time is over; call it again to go on", file=sys.stderr)
    short = short_of(score)
    for text in short:
        print(text, file=sys.stderr)
    return 0 if complete and not short else 1


if __name__ == "__main__":
    sys.exit(main())
