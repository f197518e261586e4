"""Reading records, and the formats that all tables share."""

import json
import lzma
import re
import statistics
import textwrap

FIGURES = {}  # by the name in the mark: what gives the lines
WIDTH = 120


def figure(name):
    def keep(function):
        FIGURES[name] = function
        return function
    return keep


class Wrong(Exception):
    """What is wrong with a page or a record, in words."""


class Missing(Exception):
    """A step that no record has yet."""


def read(file):
    if file.suffix == ".xz":
        with lzma.open(file, "rt", encoding="utf-8") as opened:
            return json.load(opened)
    return json.loads(file.read_text(encoding="utf-8"))


READ = {}  # pages share records


def record_of(top, file, *members):
    path = top / file
    try:
        found = READ.setdefault(path, read(path)) if path not in READ else READ[path]
        for member in members:
            found = found[member]
        return found
    except (OSError, ValueError, KeyError, lzma.LZMAError) as e:
        raise Wrong(f"{path}: is no record of {' of '.join(reversed(members))}: {e}") from e


REPRODUCTION = [f"docs/reproduction/reproduction-{gpu}.json.xz" for gpu in ("h100", "h200")]


def reproduced(top, step):
    """The runs of a step of docs/reproduction/reproduce.py, one list for each device that has it."""
    found = [steps[step] for file in REPRODUCTION if step in (steps := record_of(top, file, "steps"))]
    if not found:
        raise Wrong(f"no record of docs/reproduction has the step {step}; run docs/reproduction/reproduce.py --steps "
                    f"{step}")
    return found


def runs_of(top, name):
    return record_of(top, f"docs/data/figures/{name}.json.xz", "runs")


def step_of(top, where, name):
    """The run of a step of config/measure_figures.py; where is host or device."""
    if (top / f"docs/data/figures/{where}.json.xz").exists():
        for run in runs_of(top, where):
            if run["step"] == name:
                return run
    raise Missing("config/measure_figures.py" + (" --device" if where == "device" else "") + f" --only {name}")


def step_if_any(top, where, name):
    try:
        return step_of(top, where, name)
    except Missing:
        return None


# Formats.


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]


def short(value):
    """Three digits or so."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def microseconds(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def us(seconds):
    return short(1e6 * seconds)


def ms(seconds):
    return short(1e3 * seconds)


def times(value):
    return f"{value:.2f}x"


def ends(values, form=times):
    """Least and most, as one where they read the same."""
    least, most = form(min(values)), form(max(values))
    return least if least == most else f"{least} to {most}"


def least_median_most(values):
    return min(values), statistics.median(values), max(values)


def wrapped(text):
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def of_device(run):
    """Name of the device, and versions."""
    device, versions = run["device"], run.get("versions", {})
    name = device if isinstance(device, str) else device["name"]
    runtime = None if isinstance(device, str) else device.get("runtime")
    cuda = f"{runtime // 1000}.{runtime % 1000 // 10}" if runtime else versions.get("cuda")
    return ", ".join([name, *([f"CUDA {cuda}"] if cuda else []),
                      *([f"PETSc {versions['petsc']}"] if "petsc" in versions else [])])


def source(runs, spread=None, before="", command=True, statistic="medians"):
    """The lines below a table: where it comes from. `runs`: one or several, of which the first gives device, versions
    and command; spread is a part of one."""
    runs = runs if isinstance(runs, list) else [runs]
    run = runs[0]
    of_spread = "" if spread is None else ", spread " + (f"up to {100 * spread:.0f} %" if spread >= 0.01 else
                                                         "below 1 %")
    dates = ends([r["date"][:10] for r in runs], str)
    commit = ", commit " + " and ".join(sorted({r["commit"][:7] if r.get("commit") else "not recorded" for r in runs}))
    rounds = ends([r["rounds"] for r in runs], str)
    ranks = f", {run['ranks']} processes" if run.get("ranks", 1) > 1 else ""
    text = f"*{before}{of_device(run)}, {dates}{commit}{ranks}; {statistic} of {rounds} rounds{of_spread}"
    line = re.sub(r" -json \S+$", "", run["command_line"])
    if command and max(map(len, line.split())) > WIDTH - 2:  # no line of text holds it
        return [*wrapped(text + ":*"), "", "    " + line]
    return wrapped(text + (f":* `{line}`" if command else ".*"))


def origin(runs):
    """Device and dates, as the line below a table."""
    devices = " and ".join(sorted({run["device"]["name"] for run in runs}))
    dates = sorted({run["date"] for run in runs})
    return f"{devices}, {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "")


def nodes_text(nodes):
    return f"{nodes / 1000:.1f}k" if nodes < 10000 else f"{nodes / 1000:.0f}k"


def block_of(case):
    return "x".join(str(n) for n in case["block_shape"])
