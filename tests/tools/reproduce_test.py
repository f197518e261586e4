#!/usr/bin/env python3
"""docs/reproduction/reproduce.py: docs/reproduction.md is what the records give, runs go on where they
ended, and every table gets its numbers.

The programs are played by this file, which writes what they write.
"""

import json
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

CASE = {"description": "7-point grid, 4^3 nodes", "block_shape": [3, 3], "block_rows": 64, "blocks": 352,
        "read": {"gbs": 4000.0}, "copy": {"gbs": 4000.0}}
QUARTILES = {"least": 4, "lower": 5, "median": 6, "upper": 6, "most": 7}
SECONDS = {"cusparse": 4e-6, "core": 2e-6, "layout": 2.5e-6, "hamilton": 8e-6}


# As the programs.


def option(words, name):
    return words[words.index(name) + 1] if name in words else ""


def whole(line):
    """Of a line of the papers' the plan as it is printed."""
    vectors = re.search(r"vectors=(\w+)", line)
    return line if vectors else f"entry=dense {line} values=double columns=32"


def bench(words):
    lines, layouts = [], []
    for line in filter(None, option(words, "-core_plans").split(";")):
        first, _, rest = line.partition(" ")
        if first == "layouts":
            layouts = rest.split()
        else:
            lines.append(("hamilton", rest) if first == "hamilton" else ("core", line))
    lines += [("cusparse", name) for name in option(words, "-cusparse").replace("all", "bsrmv-row,csr").split(",")
              if name]

    def timed(kind, line, name):
        return {"name": name, "kind": kind, "plan": whole(line), "median_s": SECONDS[kind], "samples_s": [1.0],
                "compulsory_bytes": 4e6, "packed_bytes": 4e6, "first_pack_s": 2e-5}

    case = {**CASE, "row_lengths": QUARTILES, "row_bandwidths": QUARTILES,
            "candidates": [timed(kind, line, f"{kind} {line}") for kind, line in lines]}
    case["layouts"] = [timed("layout", line, line) for line in layouts] + [{"name": "dia", "why": "too large"}]
    case["ksp"] = [{"type": t, "ksp": k, "pc": "none", "iteration_median_s": 1e-5 if t == "aijcusparse" else 5e-6}
                   for t, slash, k in (word.partition("/") for word in option(words, "-types").split(",")) if slash]
    return {"program": "compound-bench", "cases": [case]}


def analysis():
    return {"block_rows": 64, "blocks": 352, "mean_row": 5.5, "row_lengths": QUARTILES, "row_bandwidths": QUARTILES,
            "layouts": [{"layout": "sell:32", "bytes": 1.0, "padding": 1.0}],
            "block_sizes": [{"block": "1x1", "fill": 1.0, "bytes_of_given": 1.0}], "rule": "entry=dense csr"}


def cases_of(words):
    """Of each block size and each size of a generated matrix."""
    blocks = (option(words, "-regroup") or option(words, "-block_size")).split(",")
    return [{"description": option(words, "-pattern") or CASE["description"],
             "block": block if "x" in block else f"{block}x{block}", "analysis": analysis()}
            for _ in (option(words, "-megabytes") or "1").split(",") for block in blocks]


def by_both_models(plan, seconds):
    return {"plan": plan, "median_s": seconds, "predicted_s": 1.5 * seconds, "choi_s": 1.1 * seconds,
            "work": [1.0 + seconds * 1e6, *[1.0] * 10], "padding": 1.0, "copy_bytes": 100}


def tune(words):
    if "-model" in words:
        cases = cases_of(words)
        for n, case in enumerate(cases):
            case["plans"] = [by_both_models(f"entry=dense {p}", (2 + n + m) * 1e-6)
                             for m, p in enumerate(option(words, "-plans").split(";"))]
            case["plans"].append({"plan": "entry=dense csr", "median_s": 3e-6, "predicted_s": 3e-6, "copy_bytes": 90,
                                  "padding": 1.0})
            case |= {"predicted_at": "2026-01-02T03:04:05Z", "timed_at": "2026-01-02T03:04:06Z"}
        return {"program": "compound-tune", "cases": cases}
    case = cases_of(words)[0]
    if plans := option(words, "-bytes"):
        case["counted"] = [{"asked": p, "plan": p, "bytes": 1000 * (i + 1), "allocated_bytes": 0, "padding": 1.0}
                           for i, p in enumerate(plans.split(";"))]
    else:
        case["plans"] = [{"plan": "entry=dense bellpack:32", "median_s": 2e-6, "predicted_s": 2.5e-6}]
    return {"program": "compound-tune", "cases": [case]}


def study(words):
    schedule = "values=double columns=32 rows lanes=1 unroll=1 threads=128 blocks=8"

    def line(layout, kind):
        return f"entry=dense {layout} vectors=1 {schedule} {kind} cached"

    rule = line("sell:32 words=32:column", "grid")
    screened = [[rule, 1.0, 3], [line("csr words=1:row", "static"), 3.0, 3],
                [line("ellr words=all:row", "static"), 1.5, 3], [line("ellr words=all:row", "dynamic"), 2.0, 3]]
    case = tune(words)["cases"][0]
    del case["plans"]
    return {"program": "compound-tune", "schema": "study 1", **case, "read": CASE["read"], "copy": CASE["copy"],
            "screened": screened, "again": [],
            "finals": [{"plan": rule, "seconds": 1e-6, "bytes": 1, "ratios": [1.0]}],
            "tested": [{"by": "rule", "plan": rule, "of_best": 1.0}]}


def play(name, words):
    if os.path.exists(os.environ["PLAY_FAILS"]) and "-n 80" in " ".join(words):
        return 1
    with open(os.environ["PLAY_LOG"], "a") as log:
        log.write(" ".join([name, *words]) + "\n")
    if "-compile" in words:
        return 0
    written = study(words) if "-study" in words else {"bench": bench, "tune": tune}[name](words)
    written.update({"date": "2026-01-02T03:04:05", "command_line": " ".join([name, *words]),
                    "machine": {"processor": "a processor"},
                    "versions": {"petsc_compound": "0", "petsc": "0", "petsc_scalar": "real"}})
    if "cuda" in words:
        written["device"] = {"name": "NVIDIA H100 80GB HBM3", "driver": 1}
    file = (
        os.path.join(option(words, "-study"), f"{abs(hash(tuple(words)))}.json") if "-study" in words
        else option(words, "-json")
    )
    with open(file, "w") as out:
        json.dump(written, out)
    return 0


# Tests.


class Copy:
    """Of docs/reproduction/, with programs that are played."""

    def __init__(self, top, folder):
        self.top, self.folder = top, folder
        shutil.copytree(os.path.join(top, "docs/reproduction"), self.path("docs/reproduction"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        os.makedirs(self.path("src/planner"))
        for name in ("device_tables.inc", "default_plan.cpp", "device_rule.cpp", "device_policy.cpp"):
            shutil.copy(os.path.join(top, "src/planner", name), self.path("src/planner"))
        self.page = os.path.join(top, "docs/reproduction.md")
        for name in ("bench", "tune"):
            with open(self.path(name), "w") as out:
                out.write(f"#!/bin/sh\nexec {sys.executable} {os.path.abspath(__file__)} play {name} \"$@\"\n")
            os.chmod(self.path(name), stat.S_IRWXU)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def reproduce(self, *options, wanted=0):
        environment = {**os.environ, "PLAY_LOG": self.path("log"), "PLAY_FAILS": self.path("fails"),
                       "COMPOUND_DATA": ""}
        command = [sys.executable, "-B", self.path("docs/reproduction/reproduce.py"), *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == wanted, (
            f"{command}\nended with {done.returncode}, not {wanted}: {done.stdout}{done.stderr}"
        )
        return done.stdout

    def steps(self, *options, wanted=0):
        return self.reproduce("--bench", self.path("bench"), "--tune", self.path("tune"), "--folder", self.path("runs"),
                              "--to", self.path("page.md"), *options, wanted=wanted)

    def runs(self):
        with open(self.path("log")) as log:
            return log.read().splitlines()

    def rule(self):
        """As a run of today keeps it."""
        code = "from experiments.records import hash_of_rule; print(hash_of_rule())"
        said = subprocess.run([sys.executable, "-B", "-c", code], cwd=self.path("docs/reproduction"),
                              capture_output=True, text=True, check=True)
        return said.stdout.strip()

    def change(self, device, change):
        """The records of a device, by `change` of their steps."""
        file = self.path(f"docs/reproduction/reproduction-{device}.json.xz")
        with lzma.open(file, "rt") as opened:
            records = json.load(opened)
        change(records["steps"])
        with lzma.open(file, "wt") as out:
            json.dump(records, out)

    def made(self):
        """The page, each paragraph and each item of a list in a line."""
        with open(self.path("page.md"), encoding="utf-8") as page:
            return re.sub(r"(?<=\S)\n(?!\n|\||#|!|\d+\. ) *", " ", page.read())


def test_the_page_is_what_the_records_give(copy):
    copy.reproduce("--check", "--to", copy.page)


def test_predictions_younger_than_their_times_are_refused(copy):
    def change(steps):
        case = steps["tuned-2010"]["igl_hand-double"]["cases"][2]
        case["predicted_at"] = "2126-11-27T18:55:32Z"

    copy.change("h100", change)

    said = copy.reproduce("--check", "--to", copy.page, wanted=1)

    assert "tuned-2010: igl_hand-double: 2x3: predictions of" in said and "are younger" in said, said


def test_records_of_another_heuristic_are_named(copy):
    rule = copy.rule()
    copy.change("h100", lambda steps: [run.update(rule=rule) for run in steps["tuned-2010"].values()])
    with open(copy.path("src/planner/device_rule.cpp"), "a") as source:
        source.write("// a comment changes nothing\n")
    before = copy.reproduce("--check", "--to", copy.page)
    with open(copy.path("src/planner/device_rule.cpp"), "a") as source:
        source.write("int another;\n")

    after = copy.reproduce("--check", "--to", copy.page)

    assert "tuned-2010" not in before and "tuned-2010 (32 of 32 runs)" in after, f"{before}\n{after}"


def test_a_changed_record_is_another_page(copy):
    def change(steps):
        steps["memory-2015"]["pde50"]["cases"][0]["counted"][0]["bytes"] *= 2

    copy.change("host", change)

    said = copy.reproduce("--check", "--to", copy.page, wanted=1)

    assert "is not what the records give" in said and "pde50" in said, said


def test_runs_that_are_missing_are_named(copy):
    def change(steps):
        del steps["cusparse-single"]["dragon"], steps["cusparse-single"]["nut_37k"]

    copy.change("h100", change)
    copy.reproduce("--page", "--to", copy.path("page.md"))

    page = copy.made()
    there = re.findall(r"--steps (\S+)`\. Not run: dragon, nut_37k\.", page)
    assert there == ["cusparse-single"], f"{there}\n{page}"


def test_a_page_of_no_device(copy):
    for gpu in ("h100", "h200"):
        os.remove(copy.path(f"docs/reproduction/reproduction-{gpu}.json.xz"))

    copy.reproduce("--page", "--to", copy.path("page.md"))

    page = copy.made()
    assert page.count("*Not run yet:*") == 12 and "Not run: " not in page, page


def test_gains_of_some_layouts_are_lower_bounds(copy):
    copy.reproduce("--page", "--to", copy.path("page.md"))

    rows = [line for line in copy.made().splitlines() if re.search(r"\| (double|single) \| ", line)]
    some = ["layouts were timed" in row for row in rows]
    assert True in some and False in some and some == [row.count("at least") == 2 for row in rows], "\n".join(rows)


def test_a_search_of_all_layouts_has_the_gains_themselves(copy):
    copy.reproduce("--page", "--to", copy.path("page.md"))

    page = copy.made()
    joint = page.split("## Layout beyond schedule")[1].split("\n## ")[0]
    of_13 = [line for line in joint.splitlines() if re.match(r"\| (mhd1280b|RFdevice|fem_filter|mono_500Hz) ", line)]
    assert len(of_13) == 8 and not any("at least" in line or "were timed" in line for line in of_13), joint
    assert "The 13 matrices have all 16 layouts, 1,920 plans in each precision" in joint, joint
    assert re.search(r"by the papers' 16 layouts 1\.\d\d to [\d.]+; by all plans of this plugin 1\.\d\d to",
                     summary_of(page)[1]), summary_of(page)[1]
    assert "of the papers' layouts (all 16)" in page, page


def test_layouts_in_single_precision_have_rows_of_their_own(copy):
    def change(steps):
        """A plan of the paper's single precision is the fastest of all, by far."""
        run = steps["joint-2020-single"]["bunny"]
        line = next(p[0] for p in run["cases"][0]["screened"] if "ellr words=1:row vectors=all" in p[0])
        run["cases"][0]["screened"] = [p for p in run["cases"][0]["screened"] if p[0] != line] + [[line, 0.01, 1]]
        for round_ in ("again", "finals"):
            run["cases"][0][round_] = [p for p in run["cases"][0][round_] if p["plan"] != line]

    copy.change("h100", change)
    copy.reproduce("--page", "--to", copy.path("page.md"))

    page = copy.made()
    rows = {precision: [line for line in page.splitlines() if f"| quaternion | {precision} |" in line
                        and line.startswith("| bunny (exact)")] for precision in ("double", "single")}
    assert [len(found) for found in rows.values()] == [1, 1], rows
    assert "ELL-AoS-SoA" in rows["single"][0] and "ELL-AoS-AoS 1.46" in rows["single"][0], rows["single"]
    assert "ELL-AoS-SoA" not in rows["double"][0], rows["double"]


def summary_of(page):
    return re.findall(r"^\d+\. (.*)", re.split("## What holds on an H.00", page)[1].split("## ")[0], re.M)


def test_the_summary_is_of_the_records(copy):
    def change(steps):
        """A thousand times as fast: a layout and the default plan of bunny, BELLPACK, coordinates, diagonals; as slow:
        the default plan of all others."""
        fast, slow = 1e-3, 1e3
        for name, run in steps["cusparse-double"].items():
            for c in run["cases"][0]["candidates"]:
                is_default = c["name"] == "auto"
                of_bunny = name == "bunny" and (is_default or "sell:16" in c["name"])
                c["median_s"] *= fast if of_bunny else slow if is_default else 1
        for step, plan in (("blocks-2010", "bellpack"), ("coordinates-2020", "ccoo"), ("formats-2015", "hdia")):
            for run in steps[step].values():
                for c in run["cases"][0]["candidates"] + run["cases"][0].get("layouts", []):
                    c["median_s"] *= fast if plan in c["name"] else 1
        for solve in steps["bicgstab-2020"]["ecology1"]["cases"][0]["ksp"]:
            solve["iteration_median_s"] *= fast if solve["type"] == "baijcompoundccoo" else 1

    copy.reproduce("--page", "--to", copy.path("page.md"))
    before = summary_of(copy.made())
    copy.change("h100", change)
    copy.reproduce("--page", "--to", copy.path("page.md"))
    after = summary_of(copy.made())

    assert 0 < len(before) <= 12, before
    changed = [n for n, (a, b) in enumerate(zip(before, after), 1) if a != b]
    assert changed == [1, 4, 7, 9, 10, 11], f"{changed}\n" + "\n".join(after)
    many = r"\d{2,}\.\d\d"
    for number, said in ((1, rf"quaternion [\d.]+ to {many}"),
                         (4, rf"precision, 0\.00 times its speed at the median, 0\.00 to {many} "
                          r"\(below 1: mhd1280b 0\.00, RF"),
                         (7, rf"scalars: {many} to {many} of cu"),
                         (9, rf"best is {many} to {many} for .* less for none"),
                         (10, rf"but {many} to {many} of the speed"), (11, rf"to {many} with compressed")):
        assert re.search(said, after[number - 1]), f"no '{said}' in '{after[number - 1]}'"


def test_runs_go_on_where_they_ended(copy):
    open(copy.path("fails"), "w").close()
    said = copy.steps("--steps", "memory-2015", wanted=1)
    assert re.search(r"memory-2015: not done \(ended with status 1.*\): pde80", said), said
    before = copy.runs()

    os.remove(copy.path("fails"))
    copy.steps("--steps", "memory-2015")

    new = copy.runs()[len(before):]
    assert len(before) == 10 and len(new) == 2 and all("-n 80" in run for run in new), f"{before}\n{new}"


def test_runs_without_their_file_are_left_out(copy):
    said = copy.steps("--steps", "sampled-2010")
    assert "no file of bcsstk13: left out" in said and not os.path.exists(copy.path("log")), said


def test_no_time_is_told(copy):
    said = copy.steps("--steps", "memory-2015", "--seconds", "1", wanted=1)
    assert said.count("not done (no time)") == 12, said


def test_every_step_fills_its_tables(copy):
    copy.steps("--device", "cuda")

    page = copy.made()
    assert "Not run" not in page and "not known yet" not in page.lower(), page
    for row in ("| mhd1280b | stand-in: 7-point grid, 4^3 nodes | complex-csr | 4.0 | 2.00 | CSR-AoS-AoS | 2.00 | "
                "CSR-SoA-SoA 1.00 / 1.00 | 2.0 | 2.00 | - |",
                "| pde80 | exact | 19.3 / 0.282 | 18.4 / 0.282 | 15 / 0.352 | 14.7 / 0.352 | 14.9 / 0.352 | "
                "0.176 (csr) | 1.24 / 1.60 |",
                "| pde80 | 0.98, 1.20, 1.24 | 0.80, 0.80 | 1.08, 0.91, 1.01 | 1.00, 1.00 |",
                "| pde80 | exact | 0.282 | 0.282 | 0.352 | 0.352 | 0.352 | 0.176 (csr) |",
                "| ecology1 | exact | ccoo:256:1 |", "| ecology1 | 10.0 | 5.0 (2.00) |",
                "| 3x3 | 3.17 | 3.17 | 3.17 | 3.17 | 3.17 | 1.58 | 2.00 | 2.00 | 50 | 10 |",
                "| dense, 32 MB, double | Choi's, of this device | 44 | 10.0 | 10.0 | 10.0 | 10.0 |",
                "| bcsstk16 | ", "ELL-SoA-AoS | at least 2.00 | sell:32 | at least 3.00 | 0.75 |"):
        assert row in page, f"no '{row}' in\n{page}"


def test_unknown_steps_and_programs_are_errors(copy):
    copy.steps("--steps", "memory", wanted=1)
    copy.steps("--bench", copy.path("none"), wanted=1)


def main(top):
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    if os.environ.get("COMPOUND_TIER") != "all":
        tests = {"the page alone": test_the_page_is_what_the_records_give}
    for name, test in tests.items():
        with tempfile.TemporaryDirectory() as folder:
            test(Copy(top, folder))
        print(name)


if __name__ == "__main__":
    if sys.argv[1] == "play":
        sys.exit(play(sys.argv[2], sys.argv[3:]))
    main(sys.argv[1])
