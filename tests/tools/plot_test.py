"""docs/reproduction/plot.py draws every kind of picture from files of every program, and says what is wrong with
others."""

import contextlib
import importlib
import io
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
plot = os.path.join(sys.argv[1], "docs/reproduction/plot.py")
study = os.path.join(sys.argv[1], "docs/reproduction/tuning-study-h200.json.xz")
failures = []


def python_with_matplotlib():
    """This one, or the system's."""
    for python in (sys.executable, shutil.which("python3", path=os.defpath)):
        if python and subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
            return python
    print("skipped: there is no matplotlib (Debian: python3-matplotlib)")
    sys.exit(SKIPPED)


PYTHON = python_with_matplotlib()
if PYTHON != sys.executable:
    os.execv(PYTHON, [PYTHON, *sys.argv])
TOP = sys.argv[1]
sys.path.insert(0, os.path.dirname(plot))
drawing = importlib.import_module("plot")


def plan(layout, threads, blocks):
    return (
        f"entry=dense {layout} words=32:column vectors=1 values=double columns=32 rows lanes=1 unroll=2 "
        f"threads={threads} blocks={blocks} grid stream"
    )


QUARTILES = {"least": 0, "lower": 3, "median": 5, "upper": 5, "most": 9}


def tune_case(number):
    plans = [
        {"plan": plan(layout, threads, blocks), "median_s": 1e-5 * (1 + i), "times_rule": 2 / (1 + i),
         "copy_bytes": 1000 + 10 * i, "predicted_s": 1.1e-5 * (1 + i)}
        for i, (layout, threads, blocks) in enumerate([("sell:32", 128, 8), ("sell:32", 256, 4), ("hdia:32", 128, 4),
                                                       ("csr", 256, 8)])
    ]
    analysis = {
        "blocks": 5000, "rule": plans[1]["plan"], "row_lengths": QUARTILES, "row_bandwidths": QUARTILES,
        "layouts": [{"layout": "sell:32", "bytes": 1.0, "padding": 1.1},
                    {"layout": "hdia:32", "bytes": 1.0, "padding": 2}, {"layout": "dia", "why": "too large"}],
    }
    return {"description": f"matrix {number}", "block": "3x3", "analysis": analysis, "compulsory_bytes": 4e5,
            "read": {"gbs": 100}, "plans": plans}


def tune():
    return {"program": "compound-tune", "schema": 1, "cases": [tune_case(1), tune_case(2)]}


def bench():
    candidates = [
        {"name": name, "plan": line, "median_s": s, "times_baseline": 1e-5 / s, "packed_bytes": size,
         "compulsory_bytes": 4e5}
        for name, line, s, size in [("baij", "", 1e-5, 0), ("core", plan("sell:32", 128, 8), 0.8e-5, 100),
                                    ("core", plan("csr", 256, 4), 0.9e-5, 90)]
    ]
    case = {
        "description": "matrix", "block_shape": [3, 3], "blocks": 5000, "row_lengths": QUARTILES,
        "row_bandwidths": QUARTILES, "read": {"gbs": 100},
        "candidates": candidates,
    }
    return {"program": "compound-bench", "cases": [case]}


def one_of_study():
    case = tune_case(1)
    lines = [p["plan"] for p in case["plans"]]
    samples = [{"plan": line, "seconds": 1e-5 * (1 + i), "bytes": 1000 - i, "ratios": [1 + i, 1 + i]}
               for i, line in enumerate(lines[:3])]
    return {
        **{k: v for k, v in case.items() if k != "plans"}, "schema": "study 1",
        "tested": [{"by": "rule", "plan": lines[0], "of_best": 1.0}], "finals": samples, "again": [],
        "screened": [[line, 1 + i, 3] for i, line in enumerate(lines)],
    }


def run(kind, files, out, *options):
    """In this process, which has matplotlib already."""
    command = [plot, kind, *files, "-o", out, *options]
    said = io.StringIO()
    sys.argv, before = command, sys.argv
    code = 0
    try:
        with contextlib.redirect_stderr(said):
            drawing.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        said.write(f"{end.code}\n")
    finally:
        sys.argv = before
        sys.modules["matplotlib.pyplot"].close("all")
    return subprocess.CompletedProcess(command, code, "", said.getvalue())


def version(svg):
    return re.search(r"Matplotlib v[\d.]+", svg).group()


def without_ids(svg):
    """Names of clip paths are hashes of numbers whose last bits differ from processor to processor."""
    return re.sub(r"\bp[0-9a-f]{10}\b", "clip", svg)


def expect(condition, message):
    if not condition:
        failures.append(message)


def counted():
    return {"program": "compound-tune", "schema": 1,
            "cases": [{"description": "m", "block": "1x1",
                       "counted": [{"asked": "csr", "bytes": 10}, {"asked": "dia", "why": "no"},
                                   {"asked": "ellr", "bytes": 12}]}]}


def scheduled():
    content = one_of_study()
    content["screened"] = [[plan("sell:32", t, b).replace("grid", word), 1 + t / 100 + b / 10, 3] for t in (64, 128)
                           for b in (4, 8) for word in ("static", "dynamic")] + content["screened"]
    return content


def beside_cusparse():
    content = bench()
    for c, kind in zip(content["cases"][0]["candidates"], ("cusparse", "core", "core")):
        c["kind"] = kind
    return content


def many_series():
    """More candidates than there are colours, each matrix in both precisions."""
    content = bench()
    case = content["cases"][0]
    case["candidates"] = [{"name": f"sell:{2**i}", "kind": "core", "plan": plan(f"sell:{2**i}", 128, 8),
                           "median_s": 1e-5 * (1 + i), "compulsory_bytes": 4e5} for i in range(9)]
    case["candidates"] += [{**c, "name": f"alg{i}", "kind": "cusparse", "plan": ""}
                           for i, c in enumerate(case["candidates"][:4])]
    content["cases"] = [{**case, "description": f"{word}-3x3"} for word in ("float", "double")]
    content.update(device={"name": "NVIDIA H200"}, date="2026-11-23T00:00:00Z", command_line="compound-bench -grid 27")
    return content


def looks_differ(saved):
    """Of 13 series each has its own colour and marker, the legend is no part of the axes, and sizes are said once."""
    file = os.path.join(folder, "many.svg")
    done = run("flops", [saved("many.json", many_series())], file, "--title", "Speeds & more", "--paper", "20:a paper")
    expect(done.returncode == 0, f"13 series: {done}")
    with open(file) as picture:
        drawn = picture.read()
    axes = drawn[drawn.index('<g id="axes_1">'):drawn.index('<g id="axes_2">')]
    looks = set(re.findall(r'<use xlink:href="#(m\w+)"[^>]*style="fill: (#\w+); stroke: #ffffff', axes))
    expect(len(looks) == 13, f"13 series have {len(looks)} looks: {looks}")
    expect('id="legend_1"' in drawn and 'id="legend_1"' not in axes, "the legend stands outside of the axes")
    expect("3x3, 3x3" not in drawn, "the size is said once")
    expect("single precision" in drawn and "a paper" in drawn, "panels, and the paper's value")
    expect("<title id=\"title\">Speeds &amp; more</title>" in drawn, "the title that is asked for")
    for fact in ("NVIDIA H200", "2026-11-23", "compound-bench -grid 27"):
        expect(fact in re.search("<desc[^>]*>(.*)</desc>", drawn)[1], f"the description tells {fact}")
    expect("is not VALUE:NAME" in run("flops", [saved("many.json", many_series())], file, "--paper", "x").stderr,
           "a paper's value that is none")


def of_two_layouts():
    content = one_of_study()
    content["screened"] = [
        [f"entry=dense {layout} words={words}:row vectors=1 values=double columns=32 rows lanes=1 unroll=1 "
         f"threads={t} blocks={b} static cached", 1 + t / 100 + b / 10, 3]
        for layout, words in (("csr", 1), ("ellr", "all")) for t in (64, 128) for b in (4, 8)] + content["screened"]
    return content


def of_tuning_and_cusparse():
    """Records of both, of one matrix."""
    return {"schema": "reproduction 1",
            "steps": {"tuned": {"x": {"program": "compound-tune", "cases": [of_two_layouts()]},
                                "y": {"program": "compound-tune", "cases": [one_of_study()]}},
                      "vendor": {"x": beside_cusparse()}}}


OF_ONE = {"footprint": (counted(), "bytes over those of the first plan"), "flops": (bench(), "operations a second"),
          "schedules": (scheduled(), "dynamic, matrix 1"),
          "two_layouts": (of_two_layouts(), "ELL-SoA-AoS, matrix 1"),
          "cusparse": (beside_cusparse(), "over the fastest of cuSPARSE")}
KINDS = {"speedup": "speed of the fastest plan", "roofline": "operations a byte",
         "schedule": "blocks on a multiprocessor", "memory": "bytes of the packed storage",
         "model": "predicted, microseconds", "padding": "slots an entry", "sparsity": "entries of a row"}
UNABLE = {("bench", "model"): "predicted_s", ("bench", "padding"): "has no member 'analysis.layouts'",
          ("one_of_study", "model"): "predicted_s"}

with tempfile.TemporaryDirectory() as folder:
    def saved(name, content):
        file = os.path.join(folder, name)
        with open(file, "w") as out:
            out.write(content if isinstance(content, str) else json.dumps(content))
        return file

    out = os.path.join(folder, "out.svg")
    alone = subprocess.run([PYTHON, plot, "speedup", saved("alone.json", tune()), "-o", out], capture_output=True,
                           text=True)
    expect(alone.returncode == 0 and os.path.getsize(out) > 0, f"as a program: {alone}")
    for kind, title in KINDS.items():
        for make in (tune, bench, one_of_study):
            file = saved(make.__name__ + ".json", make())
            done = run(kind, [file], out)
            wrong = UNABLE.get((make.__name__, kind))
            if wrong:
                expect(done.returncode == 1 and wrong in done.stderr and file in done.stderr,
                       f"{kind} of {make.__name__}: {done}")
                continue
            expect(done.returncode == 0, f"{kind} of {make.__name__}: {done}")
            with open(out) as picture:
                drawn = picture.read()
            expect(title in drawn, f"{kind} of {make.__name__}: no '{title}' in the picture")
            expect(re.search(r"<title id=\"title\">\w[^<]{10,}</title>\s*<desc id=\"desc\">[^<]{20,}</desc>", drawn),
                   f"{kind} of {make.__name__}: title and description for readers who do not see it")
            os.remove(out)
    for kind, (content, title) in OF_ONE.items():
        done = run(kind, [saved("one.json", content)], out)
        expect(done.returncode == 0 and title in open(out).read(), f"{kind}: {done}")
        os.remove(out)
        other = run(kind, [saved("other.json", one_of_study() if kind != "footprint" else bench())], out)
        expect(other.returncode == 1 and "other.json" in other.stderr and "Traceback" not in other.stderr,
               f"{kind} of another file: {other}")
    both = saved("both.json", of_tuning_and_cusparse())
    done = run("tuned", [both + ":tuned", both + ":vendor"], out)
    expect(done.returncode == 0 and "all plans, tuned" in open(out).read(), f"tuned: {done}")
    done = run("tuned", [both + ":tuned"], out)
    expect(done.returncode == 1 and "no matrix has products of cuSPARSE" in done.stderr, f"tuned alone: {done}")
    done = run("two_layouts", [both + ":tuned:x"], out)
    expect(done.returncode == 0 and "ELL-SoA-AoS, x" in open(out).read(), f"one matrix of a step: {done}")
    done = run("two_layouts", [both + ":tuned:z"], out)
    expect(done.returncode == 1 and "has no matrices" in done.stderr, f"no matrix of that name: {done}")
    looks_differ(saved)
    records = saved("records.json", {"schema": "reproduction 1", "steps": {"a": {"x": bench()}, "b": {"y": counted()}}})
    expect(run("footprint", [records + ":b"], out).returncode == 0, "a step of records")
    expect("has no step ''; name one as" in run("footprint", [records], out).stderr, "no step of records")
    compressed = os.path.join(folder, "studies.json.xz")
    with lzma.open(compressed, "wt") as file:
        json.dump({"schema": "studies 1", "matrices": [one_of_study(), one_of_study()]}, file)
    expect(run("speedup", [compressed, saved("t.json", tune())], out).returncode == 0, "several files, one compressed")

    # The pictures of the documents are those of the recorded study, and small.
    for kind in ("schedule", "model"):
        expect(run(kind, [study], out).returncode == 0, f"{kind} of the study")
        with open(os.path.join(TOP, f"docs/images/tuning-{kind}.svg")) as picture:
            shown = picture.read()
        expect(len(shown) < 100e3, f"{kind}: {len(shown)} bytes")
        with open(out) as picture:
            drawn = picture.read()
        if version(drawn) == version(shown):  # others draw otherwise
            expect(without_ids(drawn) == without_ids(shown),
                   f"docs/images/tuning-{kind}.svg is not what docs/reproduction/plot.py {kind} draws")

    docs = os.path.join(folder, "docs")
    os.makedirs(os.path.join(docs, "images"))
    done = subprocess.run([PYTHON, "-B", os.path.join(TOP, "docs/reproduction/reproduce.py"), "--pictures",
                           "--to", os.path.join(docs, "reproduction.md")], capture_output=True, text=True)
    expect(done.returncode == 0, f"pictures of the reproduction: {done}")
    with open(os.path.join(TOP, "docs/reproduction.md")) as page:
        shown_there = re.findall(r"images/(reproduction-[-\w]+\.svg)", page.read())
    expect(sorted(shown_there) == sorted(os.listdir(os.path.join(docs, "images"))),
           f"pictures of the page: {shown_there}")
    for name in shown_there:
        with open(os.path.join(docs, "images", name)) as a, open(os.path.join(TOP, "docs/images", name)) as b:
            drawn, shown = a.read(), b.read()
        expect(version(drawn) != version(shown) or without_ids(drawn) == without_ids(shown),
               f"docs/images/{name} is not what docs/reproduction/reproduce.py --pictures draws")

    without = tune()
    del without["cases"][1]["analysis"]["row_lengths"]
    broken = tune()
    broken["cases"][0]["plans"][0] = {"median_s": 1}
    for kind, content, said in [
        ("speedup", "{", "is no JSON"), ("speedup", "[1]", "is not of compound-bench"),
        ("speedup", {"program": "compound-tune", "cases": []}, "has no matrices"),
        ("speedup", {"program": "compound-tune", "cases": [3]}, "of no description"),
        ("sparsity", without, "matrix 'matrix 2' has no member 'analysis.row_lengths'"),
        ("speedup", broken, "a member is missing"),
        ("sparsity", {**tune(), "cases": [{**tune_case(1), "analysis": {"row_lengths": 3}}]}, "has not all of least"),
    ]:
        done = run(kind, [saved("wrong.json", content)], out)
        expect(done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr,
               f"'{said}' of {content}: {done}")
    expect("cannot be read" in run("speedup", [os.path.join(folder, "none.json")], out).stderr,
           "a file that is missing")
    good = saved("t.json", tune())
    expect("invalid choice: 'pie'" in run("pie", [good], out).stderr, "a kind that is none")
    expect("plot.py: speedup" in run("speedup", [good], os.path.join(folder, "out.txt2")).stderr,
           "a format that is none")

print(f"{len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures else 0)
