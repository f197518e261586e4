"""What compound-bench, compound-tune, studies and docs/reproduction/reproduce.py write, as cases of one form: for
docs/reproduction/plot.py and the pages."""

import collections
import functools
import importlib.util
import json
import lzma
import os
import re


class Unfit(Exception):
    """What is wrong with a file, in words."""


# speed: relative to the case's yardstick; bytes: of its copy
Timed = collections.namedtuple("Timed", "name seconds speed bytes")
Timed.__new__.__defaults__ = (None, None)


class Case:
    """A matrix of a file. `data` is as the program wrote it, `of` how products of its plans are found there; `study` is
    the file's, of many matrices; `origin` what is known of the run: device, date, command."""

    def __init__(self, file, data, of, study=None, origin=None):
        self.file, self.data, self.of, self.study, self.origin = file, data, of, study, origin or {}
        text = self.get("description")
        self.name = text if text.endswith(self.block()) else f"{text}, {self.block()}"

    def get(self, *path):
        value = self.data
        for member in path:
            if not isinstance(value, dict) or member not in value:
                name = (
                    self.data.get("description", "of no description") if isinstance(self.data, dict)
                    else "of no description"
                )
                raise Unfit(f"{self.file}: matrix '{name}' has no member '{'.'.join(path)}'")
            value = value[member]
        return value

    def block(self):
        return "{}x{}".format(*self.get("block_shape")) if self.of is bench_times else self.get("block")

    def entries(self):
        return self.get("blocks") if self.of is bench_times else self.get("analysis", "blocks")

    def bytes(self):
        return self.get("candidates")[0]["compulsory_bytes"] if self.of is bench_times else self.get("compulsory_bytes")

    def read_gbs(self):
        return self.data["read_gbs"] if "read_gbs" in self.data else self.get("read", "gbs")

    def in_cache(self):
        """Whether what a product reads and writes fits in the last cache; False where that is not known."""
        return self.bytes() <= (self.origin.get("cache_bytes") or 0)

    def cache_gbs(self):
        """How fast the last cache is read: of a device by its table, of a host by the plain read of what lies there."""
        return self.origin.get("cache_gbs") or (self.read_gbs() if self.in_cache() else None)

    def flops(self):
        rows, cols = self.block().split("x")
        return 2.0 * self.entries() * int(rows) * int(cols)

    def times(self):
        times = self.of(self)
        if not times:
            raise Unfit(f"{self.file}: matrix '{self.name}' has no plan with a time")
        return times

    def best(self):
        return min(self.times(), key=lambda t: t.seconds)


def labels(cases):
    """Names of the matrices in a picture: without the size of blocks where it is that of all."""
    texts = [case.get("description") for case in cases]
    alike = len({case.block() for case in cases}) == 1 and len(set(texts)) == len(texts)
    return [text if len(text) <= 58 else text[:55] + "..." for text in
            (texts if alike else [case.name for case in cases])]


def origin_of(record, command=None):
    """Of a record: device, date and command, as far as it has them; of the last cache its bytes and GB/s."""
    device = record.get("device")
    machine = record.get("machine") if isinstance(record.get("machine"), dict) else {}
    facts = device if isinstance(device, dict) else {"name": device} if device else {}
    origin = {"device": facts.get("name") or machine.get("processor") or record.get("processor"),
              "date": str(record.get("date", ""))[:10],
              "command": command or record.get("command") or record.get("command_line"),
              "cache_bytes": facts.get("cache_bytes"), "cache_gbs": None}
    if facts:
        fit = sibling("fit-model")
        try:
            numbers = fit.device_table(fit.TABLES, {"device": facts.get("name")})[1]
        except SystemExit:  # no table of that device
            return origin
        origin.update(cache_bytes=numbers["cache"], cache_gbs=1e-9 / numbers["second_cache"])
    elif sizes := [int(found[1]) for cache in machine.get("caches", []) if (found := re.search(r" (\d+)K$", cache))]:
        origin["cache_bytes"] = 1024 * max(sizes)
    return origin


def bench_times(case):
    return [
        Timed(c["plan"] or c["name"], c["median_s"], c.get("times_baseline"), c.get("packed_bytes"))
        for c in case.get("candidates")
        if c.get("median_s", 0) > 0
    ]


def tune_times(case):
    return [Timed(p["plan"], p["median_s"], p.get("times_rule"), p.get("copy_bytes")) for p in case.get("plans")]


def middle(values):
    return sorted(values)[len(values) // 2]


def study_times(case):
    """Of the last round that a plan was in; screened plans are known relative to the rule's."""
    rule = case.get("tested")[0]["plan"]
    finals = {x["plan"]: x for x in case.get("finals")}
    if rule not in finals:
        raise Unfit(f"{case.file}: matrix '{case.name}': the rule's plan has no time among 'finals'")
    rule_s = finals[rule]["seconds"]
    ratios = {line: ratio for line, ratio, _ in case.get("screened")}
    for round_ in (case.get("again"), case.get("finals")):
        ratios.update({x["plan"]: middle(x["ratios"]) for x in round_ if x["ratios"]})
    ratios[rule] = 1.0
    return [Timed(line, rule_s * r, 1 / r, finals.get(line, {}).get("bytes")) for line, r in ratios.items()]


@functools.cache
def read_state(file, time_ns):
    """Of a file as it was at that time: the page asks for a file many times."""
    opened = lzma.open if file.endswith(".xz") else open
    with opened(file, "rt", encoding="utf-8") as content:
        return json.load(content)


def content_of(file):
    return read_state(file, os.stat(file).st_mtime_ns)


def cases_of(name):
    """Of a file; FILE:STEP: of one step of records; FILE:STEP:MATRIX: the one of that name."""
    file, step, matrix = name, "", ""
    if ":" in name and not os.path.exists(name):
        file, _, step = name.rpartition(":")
        if ":" in file and not os.path.exists(file):
            (file, _, step), matrix = file.rpartition(":"), step
    try:
        data = content_of(file)
    except OSError as e:
        raise Unfit(f"{file}: cannot be read: {e.strerror or e}") from e
    except (ValueError, lzma.LZMAError, EOFError) as e:
        raise Unfit(f"{file}: is no JSON: {e}") from e
    if not isinstance(data, dict):
        data = {}
    if "matrices" in data or str(data.get("schema", "")).startswith("study"):
        cases = [Case(file, matrix, study_times, data, origin_of(data)) for matrix in data.get("matrices", [data])]
    elif data.get("program") in ("compound-bench", "compound-tune"):
        of = bench_times if data["program"] == "compound-bench" else tune_times
        cases = [Case(file, case, of, origin=origin_of(data)) for case in data.get("cases", [])]
    elif str(data.get("schema", "")).startswith("reproduction"):
        cases = [case for case in cases_of_records(file, step, data["steps"])
                 if matrix in ("", case.get("description"))]
    else:
        raise Unfit(f"{file}: is not of compound-bench, compound-tune or a study; give what their -json or -study "
                    "writes")
    if not cases:
        raise Unfit(f"{file}: has no matrices")
    return cases


def cases_of_records(file, step, steps):
    if step not in steps:
        raise Unfit(f"{file}: has no step '{step}'; name one as {file}:STEP, of {', '.join(steps)}")
    cases = []
    command = f"python3 docs/reproduction/reproduce.py --steps {step}"
    for run, record in steps[step].items():
        of = (
            bench_times if record["program"] == "compound-bench" else study_times if "screened" in record["cases"][0]
            else tune_times
        )
        cases += [Case(file, {**case, "description": run if len(record["cases"]) == 1 else case["description"]}, of,
                       origin=origin_of(record, command)) for case in record["cases"]]
    return cases


def words_of(plan):
    """The numbers of a plan line, and its layout."""
    numbers = {name: int(value) for name, value in re.findall(r"\b(threads|blocks|lanes|unroll)=(\d+)", plan)}
    layout = next((w for w in plan.split() if re.match("(csr|sell|ellr|bellpack|hdia|dia|ccoo)(:|$)", w)), None)
    return numbers, layout


def family(plan):
    layout = words_of(plan)[1]
    return layout.split(":")[0] if layout else plan.split(":")[0]


@functools.cache
def sibling(name):
    """A program of this folder, as a module."""
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predictions(cases):
    """(layout, measured, predicted): of compound-tune what it predicted, of a study by models that are fitted to the
    other matrices."""
    found = [
        (family(p["plan"]), p["median_s"], p["predicted_s"]) for case in cases if case.of is tune_times
        for p in case.get("plans") if "predicted_s" in p
    ]
    studied = [case for case in cases if case.of is study_times and {"rule", "tried"} <= case.data.keys()]
    if len(studied) > 1:
        fit = sibling("fit-model")
        for m, times in fit.by_the_others([fit.Matrix(case.data, fit.device_table(fit.TABLES, case.study)[1])
                                           for case in studied]):
            found += [(family(line), m.seconds[line], s) for line, s in times.items()]
    if not found:
        raise Unfit(f"{cases[0].file}: has no predicted times; give what compound-tune -device cuda -json writes "
                    "('predicted_s'), or a study of several matrices with 'rule' and 'tried'")
    return found
