"""What the tests of the Python package share: a package as an install makes it, fake PETSc folders, running, checks."""

import argparse
import json
import os
import shutil
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PACKAGE = os.path.join(TOP, "plugin", "python", "petsccompound")
BACKEND = os.path.join(TOP, "plugin", "python", "backend")
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def arguments(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="a build folder, with plugin/ and python/built_for.json")
    parser.add_argument("--scratch", required=True, help="folder for what the test makes")
    parser.add_argument("--python", default="/usr/bin/python3", help="the interpreter that has petsc4py")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--ranks", type=int, default=1)
    args = parser.parse_args()
    args.build, args.scratch = os.path.abspath(args.build), os.path.abspath(args.scratch)
    shutil.rmtree(args.scratch, ignore_errors=True)
    os.makedirs(args.scratch)
    return args


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def missing(reason):
    """Ends the test as skipped; as failed where the client has to be there (config/test.sh --clients)."""
    if os.environ.get("COMPOUND_CLIENTS_REQUIRED"):
        sys.exit(f"missing, and COMPOUND_CLIENTS_REQUIRED is set: {reason}")
    skip(reason)


def record(build):
    with open(os.path.join(build, "python", "built_for.json"), encoding="utf-8") as file:
        return json.load(file)


def package(build, where, plugin=True, **changes):
    """A folder for PYTHONPATH with the package as pip installs it; `changes` are made to what it says of its PETSc.

    plugin=False: a file that no loader takes lies in the plugin's place, so that loading it would be noticed.
    """
    inside = os.path.join(where, "petsccompound")
    shutil.rmtree(inside, ignore_errors=True)
    os.makedirs(inside)
    for name in os.listdir(PACKAGE):
        if name.endswith(".py") or name == "py.typed":
            os.symlink(os.path.join(PACKAGE, name), os.path.join(inside, name))
    library = os.path.join(inside, "libpetsccompound.so")
    if plugin:
        os.symlink(os.path.join(build, "plugin", "libpetsccompound.so"), library)
    else:
        with open(library, "w") as file:
            file.write("not a library")
    said = record(build)
    said["petsc"].update(changes)
    with open(os.path.join(inside, "built_for.json"), "w", encoding="utf-8") as file:
        json.dump(said, file)
    return where


def environment(**extra):
    """This process's without what would change PETSc or the package; None removes a variable."""
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **{k: v for k, v in extra.items() if v is not None})
    for name in ("PETSC_OPTIONS", "PYTHONPATH", "PETSC_DIR", "PETSC_ARCH", "VIRTUAL_ENV", "CONDA_PREFIX"):
        if name not in extra or extra[name] is None:
            env.pop(name, None)
    return env


def run(command, env, cwd=None, timeout=120):
    """(status, output, what went to stderr)."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", env=env,
                          cwd=cwd, timeout=timeout, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def fake_petsc(folder, arch="", version="3.20.1", defines=(), shared=True, private=True, pc=True, compiler="mpicc"):
    """A folder that has, of a PETSc, what a build looks at before it compiles anything."""
    inside = os.path.join(folder, arch)
    for name in ("include", "lib/pkgconfig", "lib/petsc/conf"):
        os.makedirs(os.path.join(inside, name), exist_ok=True)
    os.makedirs(os.path.join(folder, "include", "petsc", "private"), exist_ok=True)
    names = ["PETSC_HAVE_MADE_UP", *defines, *(["PETSC_USE_SHARED_LIBRARIES"] if shared else [])]
    numbers = zip(("MAJOR", "MINOR", "SUBMINOR"), version.split("."))
    files = {os.path.join(folder, "include", "petscversion.h"):
             "".join(f"#define PETSC_VERSION_{part} {number}\n" for part, number in numbers),
             os.path.join(inside, "include", "petscconf.h"): "".join(f"#define {name} 1\n" for name in names),
             os.path.join(inside, "lib", "petsc", "conf", "petscvariables"):
             f"CC = {compiler}\nCXX = {compiler.replace('mpicc', 'mpicxx')}\nPETSC_LIB_BASIC = -lpetsc\n"}
    if pc:
        files[os.path.join(inside, "lib", "pkgconfig", "PETSc.pc")] = (
            f"prefix={inside}\nName: PETSc\nDescription: made up\nVersion: {version}\nLibs: -lpetsc\n")
    if shared:
        files[os.path.join(inside, "lib", "libpetsc.so")] = ""
    if private:
        files[os.path.join(folder, "include", "petsc", "private", "matimpl.h")] = ""
    for path, text in files.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def fake_module(folder, name, text):
    """A package of one file, for PYTHONPATH."""
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, name, "__init__.py"), "w", encoding="utf-8") as file:
        file.write(text)
    return folder


class Checks:
    """Counts what was checked, prints what failed, ends the test."""

    def __init__(self):
        self.count, self.failures = 0, []

    def true(self, ok, message):
        self.count += 1
        if not ok:
            self.failures.append(message)

    def one_line(self, result, words, what):
        """A program that ended with status 1 and said one line, which has the words."""
        code, output, errors = result
        said = [line for line in errors.splitlines() if line.strip()]
        self.true(code == 1, f"{what}: status {code}, wanted 1:\n{output}{errors}")
        self.true(len(said) == 1, f"{what}: {len(said)} lines, wanted one:\n{errors}")
        for word in words:
            self.true(word in errors, f"{what}: '{word}' is not in\n{errors}")

    def finish(self):
        print("\n".join([f"{self.count} checks, {len(self.failures)} failures", *self.failures]))
        sys.exit(1 if self.failures or not self.count else 0)


def need_petsc4py(args):
    """Ends the test as skipped unless the interpreter has petsc4py for the PETSc of the build. Returns the environment
    in which it has."""
    petsc = record(args.build)["petsc"]
    env = environment(PETSC_DIR=petsc["folder"], PETSC_ARCH=petsc["arch"] or None)
    code, output, errors = run([args.python, "-c", "import petsc4py, os; print(os.path.realpath("
                                "petsc4py.get_config()['PETSC_DIR']))"], env)
    if code or output.strip() != os.path.realpath(petsc["folder"]):
        missing(f"{args.python} has no petsc4py for {petsc['folder']} ({(output + errors).strip().splitlines()[-1]}); "
                f"Debian: python3-petsc4py-{petsc['scalar']}")
    return env
