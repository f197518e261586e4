"""Copies of the tree, their builds and ctest's runs: what scripts share that put mistakes into the code, or ask which
test runs what."""

import collections
import contextlib
import datetime
import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

NOT_RUN = r"mutants\."  # our own: a mistake that is in place is not to be found there

# Random cases are the same for all mistakes, whatever commit the tree is of. What MPI needs ctest's tests have.
ENVIRONMENT = {"COMPOUND_PROPERTY_SEED": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
               "GTEST_COLOR": "no"}  # ctest asks for colours else


class Stop(Exception):
    """Said to the user, without a trace."""


def set_environment(root):
    os.environ.update(ENVIRONMENT)
    if (root.parent / "shared" / "data").exists():  # which tests look for beside their own tree
        os.environ.setdefault("COMPOUND_DATA", str(root.parent / "shared" / "data"))


def said_by_git(root, *arguments):
    """Nothing where there is no git, or `root` is no repository."""
    if not shutil.which("git"):
        return None
    said = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return said.stdout if said.returncode == 0 else None


def commit_of(root):
    """That of a tree; COMPOUND_COMMIT names it where the tree is no repository."""
    return (said_by_git(root, "rev-parse", "--short", "HEAD") or os.environ.get("COMPOUND_COMMIT", "")).strip()


def stamp(root):
    """Of what is recorded now."""
    return {"date": f"{datetime.date.today()}", "commit": commit_of(root)}


def write_whole(file, text):
    """As a whole or not at all: a run that is stopped meanwhile leaves what was there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(file.name + ".new")
    new.write_text(text)
    new.replace(file)


def read_record(file, empty=None):
    """What a JSON file says; `empty` or {} where there is none."""
    return json.loads(file.read_text()) if file.exists() else empty or {}


def write_record(file, record, **how):
    write_whole(file, json.dumps(record, indent=1, **how) + "\n")


def files_of(root, untracked=True):
    """Names of what belongs to a tree; of one that is no repository, but may lie in one that ignores it, all but builds
    and hidden files."""
    if said_by_git(root, "rev-parse", "--show-prefix") == "\n":
        listed = said_by_git(root, "ls-files", "-z", *(["-co", "--exclude-standard"] if untracked else []))
        return sorted(f for f in listed.split("\0") if f and (root / f).is_file())
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", "__pycache__") and not f.startswith(".")]
        files += [os.path.relpath(os.path.join(folder, name), root) for name in names if not name.startswith(".")]
    return sorted(files)


def copy_tree(root, tree, counts=lambda name: True):
    """Only what differs is written, so that only that is built again. Returns a key that tells trees apart, by files
    that count."""
    files, key = files_of(root), hashlib.sha256()
    for name in files:
        content = (root / name).read_bytes()
        if counts(name):
            key.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
        to = tree / name
        if not to.exists() or to.read_bytes() != content:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to)
    kept = {tree / name for name in files}
    for folder, folders, names in os.walk(tree):
        if pathlib.Path(folder) == tree:
            folders[:] = [f for f in folders if f != "build"]
        for name in names:
            if pathlib.Path(folder, name) not in kept:
                pathlib.Path(folder, name).unlink()
    return key.hexdigest()[:16]


def end_session(process):
    """Ends a process and all that it started: MPI puts its processes in groups of their own, but not in a session."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == process.pid:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except (OSError, IndexError):
            pass  # it has ended
    process.kill()
    process.wait()


class Tests:
    """What one run of ctest said."""

    STARTED = re.compile(r"^\s*Start\s+\d+: (\S+)")
    # `***Failed`, and `Subprocess aborted***Exception:`
    ENDED = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) \.*\s*(.*?)\s+([0-9.]+) sec")
    CASE = re.compile(r"^(?:\d+: )?\[  FAILED  \] ([\w./]+)(?: \(|,|$)")

    def __init__(self):
        self.seconds, self.failed, self.skipped, self.cases, self.running = {}, {}, set(), [], {}
        self.text = collections.deque(maxlen=500)  # the end of what was printed
        self.lock = threading.Lock()

    def hear(self, line):
        with self.lock:
            self.text.append(line)
            if started := self.STARTED.match(line):
                self.running[started[1]] = time.monotonic()
            elif ended := self.ENDED.match(line):
                name, how, seconds = ended.groups()
                self.running.pop(name, None)
                self.seconds[name] = float(seconds)
                if how == "***Skipped":
                    self.skipped.add(name)
                elif how != "Passed":
                    self.failed[name] = how.replace("***", " ").strip()
            elif (case := self.CASE.match(line)) and case[1] not in self.cases:
                self.cases.append(case[1])

    def add(self, other):
        self.seconds |= other.seconds
        self.failed |= other.failed
        self.skipped |= other.skipped
        self.cases += other.cases

    def overdue(self, limit_of):
        with self.lock:
            now = time.monotonic()
            return [name for name, since in self.running.items() if now - since > limit_of(name)]


class Ctest:
    """The tests of a folder; `launcher` is a command that runs ctest's."""

    def __init__(self, folder, jobs, launcher=()):
        self.folder, self.jobs, self.launcher = folder, jobs, launcher

    def listed(self):
        """All that ctest knows of each."""
        shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.folder, capture_output=True, text=True)
        if shown.returncode != 0:
            raise Stop(f"ctest lists no tests in {self.folder}: {shown.stderr.strip()}")
        return [t for t in json.loads(shown.stdout)["tests"] if not re.search(NOT_RUN, t["name"])]

    def tests(self):
        """Their names, and each one's command."""
        return {t["name"]: t.get("command", []) for t in self.listed()}

    def test(self, chosen, left_out, stop, limit_of, timeout, environment=None):
        """Runs tests; ends them where one takes longer than its limit, or all take longer than `timeout`."""
        arguments = [*self.launcher, "ctest", "--output-on-failure", f"-j{self.jobs}", "-R", chosen]
        arguments += ["-E", "|".join(filter(None, [NOT_RUN, left_out]))]
        arguments += ["--stop-on-failure"] if stop else []
        tests = Tests()
        begin = time.monotonic()
        process = subprocess.Popen(arguments, cwd=self.folder, env={**os.environ, **(environment or {})},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)

        def listen():
            for line in process.stdout:
                tests.hear(line)

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            while process.poll() is None:
                late = tests.overdue(limit_of)
                if late or time.monotonic() - begin > timeout:
                    for name in late or list(tests.running) or ["(all together)"]:
                        tests.failed[name] = "hangs"
                    break
                time.sleep(0.1)
        finally:
            end_session(process)
        listener.join(10)
        return tests, time.monotonic() - begin


@contextlib.contextmanager
def ctest_apart(build, launcher=()):
    """The tests of a build, in a folder of its own: two ctest in one folder write the same log."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n')
        yield Ctest(pathlib.Path(folder), 1, launcher)


def labels_of(test):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])


def programs_of(test):
    return [word for word in test.get("command", []) if os.path.isabs(word) and os.path.isfile(word)]


def stamps_of(files):
    """Which files these are, by their times and sizes; of those that are there."""
    stats = {str(f): os.stat(f) for f in files if os.path.exists(f)}
    return {name: f"{s.st_mtime_ns} {s.st_size}" for name, s in stats.items()}


class Build(Ctest):
    """One build of the copied tree."""

    def __init__(self, tree, name, preset, options, jobs):
        super().__init__(tree / "build" / preset, jobs)  # the tiers share programs: to configure anew is enough
        self.tree, self.name, self.preset, self.options = tree, name, preset, options
        self.log = tree.parent / f"{tree.name}-{name}.log"

    def command(self, arguments, cwd):
        with open(self.log, "w") as log:
            return subprocess.run(arguments, cwd=cwd, stdout=log, stderr=subprocess.STDOUT).returncode == 0

    def configure(self):
        if not self.command(["cmake", "--preset", self.preset, "-B", str(self.folder), "-DCOMPOUND_TESTS=ON",
                             "-DCOMPOUND_DEVICE_CODE=OFF", *self.options], self.tree):
            raise Stop(f"configuring build '{self.name}' failed: {self.log}")

    def make(self, targets=("all",)):
        """Whether it was built."""
        return self.command(["ninja", f"-j{self.jobs}", *targets], self.folder)

    def end_of_log(self):
        lines = self.log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if "error" in line]
        return (errors or lines[-3:])[0][-300:] if lines else ""

    def targets_by_test(self, built=None):
        """What is to be built for each test: its programs, or everything where it is not a program of ours. `built` is
        a finished build like this one: ctest does not name programs that are not there."""
        built = built or self
        listed = subprocess.run(["ninja", "-t", "targets", "all"], cwd=self.folder, capture_output=True, text=True)
        known = {line.rsplit(": ", 1)[0] for line in listed.stdout.splitlines()}
        targets = {}
        for name, command in built.tests().items():
            programs = {os.path.relpath(word, built.folder) for word in command if os.path.isabs(word)} & known
            targets[name] = sorted(programs) or ["all"]
        return targets

    def targets_of(self, near):
        """What is to be built for these tests."""
        targets = {t for name, needed in self.targets_by_test().items() if re.search(near, name) for t in needed}
        return ["all"] if "all" in targets else sorted(targets)

    def objects_by_file(self):
        """How many objects depend on each file of the tree."""
        deps = subprocess.run(["ninja", "-t", "deps"], cwd=self.folder, capture_output=True, text=True)
        number = collections.Counter()
        for line in deps.stdout.splitlines():
            if line.startswith("    "):
                number[os.path.relpath(os.path.join(self.folder, line.strip()), self.tree)] += 1
        return number


@functools.cache
def gpus_here():
    """Their names."""
    if not shutil.which("nvidia-smi"):
        return []
    said = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    return said.stdout.splitlines() if said.returncode == 0 else []


def device_here():
    if not gpus_here():
        raise Stop("there is no device here: nvidia-smi names none")
    return gpus_here()[0]


def gpu_of_turn(number):
    """The environment of what runs beside others: each of several GPUs in its turn, unless one was chosen."""
    if "CUDA_VISIBLE_DEVICES" in os.environ or len(gpus_here()) < 2:
        return {}
    return {"CUDA_VISIBLE_DEVICES": str(number % len(gpus_here()))}


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                 platform.machine())
    return f"{model}, {os.cpu_count()} cores"
