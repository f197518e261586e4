"""Which PETSc a build by pip is for.   python3 plugin/python/backend/find_petsc.py   prints it.

In this order:

1. PETSC_DIR and PETSC_ARCH, of the environment or of pip (--config-settings=cmake.define.PETSC_DIR=...)
2. petsc4py.get_config() of the user's interpreter
3. petsc.get_petsc_dir() there (the package `petsc`)
4. pkg-config's PETSc, else Debian's and Ubuntu's PETSc with real scalars

pip builds in isolation: the build's interpreter does not see the packages of the environment that is installed into.
So another process of the user's interpreter is asked, with the user's environment. The interpreter is the one that runs
the build (pip uses its own, and hides packages by PYTHONPATH), or else one of the processes that started the build
(python -m build and uv make an environment of their own), or else that of VIRTUAL_ENV or CONDA_PREFIX.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

from petsccompound._petsc import Petsc, PetscFiles

FOUR_WAYS = ("no PETSc was found. Name one by PETSC_DIR (and PETSC_ARCH), or install petsc4py, or the package petsc, "
             "into this environment, or let pkg-config find PETSc (PKG_CONFIG_PATH; Debian: libpetsc-real-dev)")

DEBIAN = "/usr/lib/petscdir/petsc3.*/*-real"

# What the user's interpreter is asked. Importing these two packages starts nothing.
QUESTION = """
import json, os
found = {}
try:
    import petsc4py
    config = petsc4py.get_config()
    archs = [a for a in config.get("PETSC_ARCH", "").split(os.pathsep) if a]
    arch = os.environ.get("PETSC_ARCH", "")
    found["petsc4py"] = {"version": petsc4py.__version__, "folder": config.get("PETSC_DIR", ""),
                         "arch": arch if arch in archs else archs[0] if archs else ""}
except Exception:
    pass
try:
    import petsc
    found["petsc"] = {"folder": petsc.get_petsc_dir(), "arch": ""}
except Exception:
    pass
print("petsc-compound asks:" + json.dumps(found))
"""


class NoPetsc(Exception):
    """One line: what is wrong and the remedy."""


@dataclass
class Found:
    files: PetscFiles
    how: str
    notes: list[str] = field(default_factory=list)

    @property
    def petsc(self) -> Petsc:
        return self.files.petsc()


@dataclass(frozen=True)
class Process:
    """A process that led to this one."""

    program: str  # its first word, as a path; empty if it is not known
    environment: dict[str, str]


def _process(number: int) -> tuple[Process, int] | None:
    """A process and the number of its parent; None where the system does not say."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file:
            word = os.fsdecode(file.read().split(b"\0")[0])
        with open(f"/proc/{number}/environ", "rb") as file:
            pairs = [os.fsdecode(pair).split("=", 1) for pair in file.read().split(b"\0") if b"=" in pair]
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            parent = int(file.read().rpartition(")")[2].split()[1])
        environment = dict(pairs)
        # Not /proc/N/exe: that follows the link of a virtual environment to the interpreter behind it.
        if "/" in word:
            program = os.path.join(os.readlink(f"/proc/{number}/cwd"), word)
        else:
            program = shutil.which(word, path=environment.get("PATH", os.defpath)) or ""
    except (OSError, ValueError, IndexError):
        return None
    return Process(program, environment), parent


def ancestors() -> list[Process]:
    """Those that led to this process, the nearest first."""
    found, number = [], os.getppid()
    while number > 1 and len(found) < 8:
        step = _process(number)
        if step is None:
            break
        found.append(step[0])
        number = step[1]
    return found


def user_environment(led_here: list[Process]) -> dict[str, str]:
    """This process's environment without what hides packages of the user's interpreter."""
    kept = dict(os.environ)
    if "pip-build-env-" in kept.get("PYTHONPATH", ""):  # pip's own; the process of pip still has the user's
        kept["PYTHONPATH"] = led_here[0].environment.get("PYTHONPATH", "") if led_here else ""
    for variable in ("PYTHONNOUSERSITE", "PYTHONHOME"):
        kept.pop(variable, None)
    return kept


def candidates(led_here: list[Process]) -> list[str]:
    """Interpreters to ask, the likeliest first."""
    named = os.environ.get("COMPOUND_BUILD_PYTHON")
    if named:
        return [named]
    result = [sys.executable]
    result += [process.program for process in led_here if os.path.basename(process.program).startswith("python")]
    for environment in [dict(os.environ)] + [process.environment for process in led_here]:
        for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            program = os.path.join(environment.get(variable) or "/nonexistent", "bin", "python")
            if os.path.exists(program):
                result.append(program)
    return list(dict.fromkeys(result))


def ask(program: str, environment: dict[str, str]) -> dict[str, dict[str, str]]:
    """What an interpreter has of petsc4py and petsc; nothing if it cannot be asked."""
    try:
        done = subprocess.run([program, "-c", QUESTION], cwd="/", env=environment, capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    for line in done.stdout.splitlines():
        if line.startswith("petsc-compound asks:"):
            return json.loads(line.partition(":")[2])
    return {}


def of_user() -> tuple[str, dict[str, dict[str, str]]]:
    """The first interpreter that has one of the packages, and what it has."""
    led_here = ancestors()
    environment = user_environment(led_here)
    for program in candidates(led_here):
        answer = ask(program, environment)
        if answer:
            return program, answer
    return "", {}


def _by_pkg_config() -> str:
    """A folder that holds lib/pkgconfig with PETSc; empty if pkg-config finds none."""
    program = shutil.which(os.environ.get("PKG_CONFIG", "pkg-config"))
    for name in ("PETSc", "petsc") if program else ():
        for variable in ("pcfiledir", "prefix"):
            done = subprocess.run([str(program), f"--variable={variable}", name], capture_output=True, text=True)
            folder = done.stdout.strip()
            if variable == "pcfiledir" and os.path.basename(os.path.dirname(folder)) == "lib":
                folder = os.path.dirname(os.path.dirname(folder))
            if folder and PetscFiles(folder).pkg_config_folder:
                return folder
    return ""


def _of_debian() -> str:
    found = sorted(glob.glob(DEBIAN))
    return found[-1] if found else ""


def _checked(files: PetscFiles, how: str) -> Found:
    problem = files.problem()
    if problem:
        raise NoPetsc(f"{problem} (it was named by {how})")
    return Found(files, how)


def find(petsc_dir: str | None = None, petsc_arch: str | None = None) -> Found:
    """The PETSc to build for. The arguments are what config settings say, None where they do not.

    NoPetsc if there is none, or if the first one that is named cannot be used: another one would be a surprise.
    """
    program, answer = of_user()
    theirs = answer.get("petsc4py")
    setting = petsc_dir is not None
    folder = petsc_dir if setting else os.environ.get("PETSC_DIR", "")
    if folder:
        arch = petsc_arch if petsc_arch is not None else os.environ.get("PETSC_ARCH", "")
        files = PetscFiles(folder, arch)
        if arch and not os.path.isdir(os.path.join(files.folder, arch)):  # left over from another PETSC_DIR
            if files.pkg_config_folder == os.path.join(files.folder, "lib", "pkgconfig"):
                files = PetscFiles(folder)
        found = _checked(files, "the config setting PETSC_DIR" if setting else "PETSC_DIR of the environment")
        if theirs and os.path.isdir(theirs["folder"]):
            other = PetscFiles(theirs["folder"], theirs["arch"])
            if not other.problem() and not other.petsc().same_place(found.petsc):
                found.notes.append(f"note: petsc4py {theirs['version']} of {program} is for another PETSc, "
                                   f"{other.petsc()}: the plugin will not run with it")
        return found
    notes = []
    if theirs:
        if os.path.isdir(theirs["folder"]):
            return _checked(PetscFiles(theirs["folder"], theirs["arch"]),
                            f"petsc4py {theirs['version']} of {program}")
        notes.append(f"note: petsc4py of {program} names {theirs['folder'] or 'no folder'}, which is not there")
    if "petsc" in answer:
        found = _checked(PetscFiles(answer["petsc"]["folder"]), f"the package petsc of {program}")
    elif _by_pkg_config():
        found = _checked(PetscFiles(_by_pkg_config()), "pkg-config")
    elif _of_debian():
        found = _checked(PetscFiles(_of_debian()), "Debian's packages")
    else:
        raise NoPetsc(FOUR_WAYS)
    found.notes += notes
    return found


if __name__ == "__main__":
    try:
        result = find()
    except NoPetsc as reason:
        sys.exit(f"petsc-compound: {reason}")
    print("\n".join([f"petsc-compound is built for {result.petsc}", f"found by {result.how}", *result.notes]))
