"""What tests were tested by: coverage, failing allocations, mistakes that were drawn."""

from .records import figure, record_of, table, wrapped

COVERAGE = "tests/coverage/record.json"
DEVICE_COVERAGE = "tests/coverage/device.json"
FUZZED = "tests/fuzz/record.json"
MEMORY = {"host": "tests/memory/record.json", "host, 3 processes": "tests/memory/record_np3.json",
          "pretended device": "tests/memory/device.json",
          "pretended device, 3 processes": "tests/memory/device_np3.json"}
MISTAKES = "tests/mutants/score.json"
SANITIZERS = "tests/sanitizers/record.json"
SOAK = "tests/soak/record.json"
RECORDS = [COVERAGE, DEVICE_COVERAGE, FUZZED, *MEMORY.values(), MISTAKES, SANITIZERS, SOAK]


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else ""


def by_folder(run, also=""):
    folders = run["folders"].items()
    every, ran = (sum(counts[k] for _, counts in folders) for k in (0, 1))
    rows = [[f"`{name}`", f"{lines:,}", percent(some, lines)] for name, (lines, some) in folders]
    return [*table(["folder", "lines", "run, %"], [*rows, ["all", f"{every:,}", percent(ran, every)]]), "",
            *wrapped(f"*{run['machine']}, {run['date']}, commit {run['commit'][:7]}; {run['tests']} tests.{also}*")]


@figure("coverage")
def coverage(top):
    run = record_of(top, COVERAGE)
    return by_folder(run, f" {run['needs_device']:,} lines that need a device are not among these.")


@figure("device-coverage")
def device_coverage(top):
    return by_folder(record_of(top, DEVICE_COVERAGE))


@figure("out-of-memory")
def out_of_memory(top):
    rows = []
    for where, path in MEMORY.items():
        run = record_of(top, path)
        all_ = run["scenarios"]
        sites, tried, clean, went_on = (sum(s[key] for s in all_) for key in ("sites", "tried", "clean", "went_on"))
        rows.append([where, str(len(all_)), f"{sites:,}", str(run["sites"] or "all"), f"{tried:,}", f"{clean:,}",
                     f"{went_on:,}" if run["processes"] == 1 else "not counted", run["date"], run["commit"][:7]])
    return [*table(["memory of", "scenarios", "allocations", "of each scenario", "failed", "ended clean",
                    "went on by another plan", "date", "commit"], rows), "",
            *wrapped(f"*{run['machine']}, PETSc {run['petsc']}. Where a number of each scenario fails, these are as "
                     "far apart as they can be. Where all fail on one process, each does alone and with all after "
                     "it.*")]


@figure("drawn-mistakes")
def drawn_mistakes(top):
    rows = []
    for name, run in record_of(top, MISTAKES).items():
        count = run["found"] + run["not_found"]
        at_first = str(run["found"] - run["found_later"]) if "found_later" in run else "not kept"
        rows.append([name, at_first, str(run["found"]), str(count), percent(run["found"], count), run["date"],
                     run["commit"][:7]])
    return table(["drawn", "found at first", "found now", "of", "%", "date", "commit"], rows)


@figure("fuzzed")
def fuzzed(top):
    rows = [[f"`{target}`", f"{run['runs']:,}", f"{run['seconds'] / 3600:.2f}", run["since"], run["date"],
             run["commit"][:7]] for target, run in record_of(top, FUZZED).items()]
    return table(["target", "runs", "hours", "since", "last", "commit"], rows)


@figure("compute-sanitizer")
def compute_sanitizer(top):
    rows = []
    for tool, run in record_of(top, SANITIZERS).items():
        clean = run["clean"].values()
        machines = ", ".join(sorted({c["machine"] for c in clean}))
        rows.append([tool, str(len(clean)), str(run["of"]), min(c["date"] for c in clean), machines])
    return table(["tool", "tests without a finding", "of", "since", "on"], rows)


@figure("soak")
def soak(top):
    record = record_of(top, SOAK)
    rows = []
    for scenario in sorted({scenario for run in record.values() for scenario in run}):
        by_processes = [run.get(scenario, {}) for run in record.values()]
        cells = []
        for runs in by_processes:
            rounds = [f"{runs[n]['rounds']:,}" if n in runs else "not run" for n in "123"]
            cells.append(" / ".join(rounds) if runs else "not run")
        rows.append([f"`{scenario}`", *cells])
    runs = [run for scenarios in record.values() for runs in scenarios.values() for run in runs.values()]
    first = min(runs, key=lambda run: run["date"])
    return [*table(["scenario", *record], rows), "",
            *wrapped(f"*Rounds on 1 / 2 / 3 processes, since {first['date']}, commit {first['commit'][:7]}.*")]
