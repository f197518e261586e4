#!/usr/bin/env python3
"""Which PETSc a build by pip is for, in the order that is promised, from inside an isolated build too; and the one line
that says what is missing. With folders and packages that are made up; nothing is compiled or installed.
"""

import os
import sys

from support import BACKEND, Checks, arguments, environment, fake_module, fake_petsc, run

PACKAGES = os.path.dirname(BACKEND)
DEFAULT = 'import sys; sys.argv = ["find_petsc.py"]; sys.path[:0] = [{backend!r}, {packages!r}]; '
FIND = DEFAULT.format(backend=BACKEND, packages=PACKAGES) + """
import find_petsc
find_petsc.DEBIAN = {debian!r}
try:
    result = find_petsc.find()
    print("for", result.petsc, "by", result.how, *result.notes)
except find_petsc.NoPetsc as reason:
    sys.exit(f"petsc-compound: {{reason}}")
"""
TOOLS = DEFAULT.format(backend=BACKEND, packages=PACKAGES) + """
import find_tools
from petsccompound._petsc import PetscFiles
try:
    find_tools.check_compiler()
    print(find_tools.mpi_wrappers(PetscFiles({petsc!r}), []))
except find_tools.NoTool as reason:
    sys.exit(f"petsc-compound: {{reason}}")
"""
# As pip does: the same interpreter, whose packages are hidden.
AS_PIP = """
import os, subprocess, sys
hidden = dict(os.environ, PYTHONPATH="/tmp/pip-build-env-made-up/site", PYTHONNOUSERSITE="1")
sys.exit(subprocess.run([sys.executable, "-c", sys.argv[1]], env=hidden).returncode)
"""
# As python -m build does: another interpreter, with an environment of its own.
AS_BUILD = "import subprocess, sys; sys.exit(subprocess.run([sys.argv[2], '-c', sys.argv[1]]).returncode)"


class Finder:
    def __init__(self, args, checks):
        self.checks, self.debian = checks, "/nonexistent/*"
        self.python = self.interpreter(f"{args.scratch}/plain")
        self.env = environment(PKG_CONFIG="/nonexistent/pkg-config")

    @staticmethod
    def interpreter(folder):
        """Of an environment without packages; its folder of packages is .../packages."""
        code, output, errors = run([sys.executable, "-m", "venv", "--without-pip", folder], environment())
        if code:
            sys.exit(f"python3 -m venv failed (Debian: python3-venv):\n{output}{errors}")
        return f"{folder}/bin/python"

    def ask(self, program=None, before=(), named=True, **env):
        """Runs the search in that interpreter; `named`: without looking at the processes that led here."""
        program = program or self.python
        env = {**self.env, **env}
        if named:
            env["COMPOUND_BUILD_PYTHON"] = program
        return run([program, *before, "-c" if not before else FIND.format(debian=self.debian),
                    *([] if before else [FIND.format(debian=self.debian)])], env)

    def found(self, result, wanted, what):
        code, output, errors = result
        for word in wanted:
            self.checks.true(code == 0 and word in output, f"{what}: '{word}' is not in\n{output}{errors}")


def petsc4py_for(folder, petsc, arch=""):
    return fake_module(folder, "petsc4py", f"""__version__ = "3.20.1"
def get_config():
    return {{"PETSC_DIR": {petsc!r}, "PETSC_ARCH": {arch!r}}}
""")


def check_order(args, finder):
    """Each of the four ways, while those after it are there, too."""
    scratch = args.scratch
    folders = {name: fake_petsc(f"{scratch}/{name}") for name in ("debian", "pkg_config", "package", "four", "named")}
    fake_petsc(f"{scratch}/named", arch="complex", defines=["PETSC_USE_COMPLEX", "PETSC_HAVE_CUDA"])
    finder.checks.one_line(finder.ask(), ["no PETSc was found", "PETSC_DIR", "petsc4py", "the package petsc",
                                          "pkg-config"], "none of the four ways")
    finder.debian = folders["debian"]
    finder.found(finder.ask(), [f"in {folders['debian']} by Debian's packages"], "Debian's")
    env = {"PKG_CONFIG": "pkg-config", "PKG_CONFIG_PATH": folders["pkg_config"] + "/lib/pkgconfig"}
    finder.found(finder.ask(**env), [f"in {folders['pkg_config']} by pkg-config"], "pkg-config")
    site = fake_module(f"{scratch}/site", "petsc", f"def get_petsc_dir():\n    return {folders['package']!r}\n")
    env["PYTHONPATH"] = site
    finder.found(finder.ask(**env), [f"in {folders['package']} by the package petsc of"], "the package petsc")
    petsc4py_for(site, "/nonexistent")
    finder.found(finder.ask(**env), [f"in {folders['package']} by the package petsc", "note: petsc4py",
                                     "names /nonexistent, which is not there"], "a petsc4py from elsewhere")
    petsc4py_for(site, folders["four"])
    finder.found(finder.ask(**env), [f"in {folders['four']} by petsc4py 3.20.1 of {finder.python}"], "petsc4py")
    env["PETSC_DIR"] = folders["named"]
    finder.found(finder.ask(**env), [f"in {folders['named']} by PETSC_DIR", "(real, 32-bit indices, no CUDA)",
                                     "note: petsc4py 3.20.1", "is for another PETSc"], "PETSC_DIR")
    env["PETSC_ARCH"] = "complex"
    finder.found(finder.ask(**env), ["PETSC_ARCH=complex", "(complex, 32-bit indices, CUDA)"], "PETSC_ARCH")
    petsc4py_for(site, folders["named"], "complex:other")
    finder.found(finder.ask(PYTHONPATH=site), ["PETSC_ARCH=complex) by petsc4py"], "petsc4py of several PETSC_ARCH")


def check_isolation(args, finder):
    """The user's packages are found from inside a build that does not see them."""
    petsc = fake_petsc(f"{args.scratch}/outer")
    site = petsc4py_for(f"{args.scratch}/outer_site", petsc)
    wanted = [f"in {petsc} by petsc4py"]
    finder.found(finder.ask(before=["-c", AS_PIP], named=False, PYTHONPATH=site), wanted, "packages by PYTHONPATH, pip")
    outer = Finder.interpreter(f"{args.scratch}/outer_venv")
    code, packages, _ = run([outer, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], environment())
    petsc4py_for(packages.strip(), petsc)
    finder.found(finder.ask(outer, ["-c", AS_PIP], named=False), wanted, "packages of an environment, pip")
    inner = finder.python
    env = {**finder.env, "PKG_CONFIG": "/nonexistent"}
    result = run([outer, "-c", AS_BUILD, FIND.format(debian="/nonexistent"), inner], env)
    finder.found(result, [*wanted, f"of {outer}"], "python -m build")
    result = run([inner, "-c", FIND.format(debian="/nonexistent")],
                 {**env, "VIRTUAL_ENV": f"{args.scratch}/outer_venv"})
    finder.checks.true(result[0] == 0, f"VIRTUAL_ENV: {result}")


def check_refused(args, finder):
    """A PETSc that no plugin can be built for is one line: which, why, and the remedy; no other one is taken."""
    finder.debian = fake_petsc(f"{args.scratch}/another")
    cases = {"missing": (None, ["there is no folder"]),
             "empty": ("", ["no PETSc was built there"]),
             "static": ({"shared": False}, ["static PETSc", "--with-shared-libraries=1"]),
             "mpiuni": ({"defines": ["PETSC_HAVE_MPIUNI"]}, ["without MPI", "--with-mpi=1"]),
             "private": ({"private": False}, ["no headers petsc/private"]),
             "single": ({"defines": ["PETSC_USE_REAL_SINGLE"]}, ["double precision"]),
             "old": ({"version": "3.17.4"}, ["PETSc 3.17.4, which is too old"]),
             "pc": ({"pc": False}, ["lib/pkgconfig/PETSc.pc"])}
    for name, (facts, words) in cases.items():
        folder = f"{args.scratch}/{name}"
        if facts == "":
            os.makedirs(folder)
        elif facts is not None:
            fake_petsc(folder, **facts)
        finder.checks.one_line(finder.ask(PETSC_DIR=folder), [folder, "named by PETSC_DIR", *words], name)
    site = petsc4py_for(f"{args.scratch}/static_site", f"{args.scratch}/static")
    finder.checks.one_line(finder.ask(PYTHONPATH=site), ["static PETSc", "named by petsc4py"], "a static petsc4py")


def check_tools(args, finder):
    """No compiler, one without C++20, no MPI."""
    petsc = fake_petsc(f"{args.scratch}/tools")
    there = f"{args.scratch}/bin"
    os.makedirs(there)
    text = TOOLS.format(petsc=petsc)
    env = {**finder.env, "PATH": there}
    env.pop("CXX", None)
    env.pop("MPI_HOME", None)
    python = os.path.realpath(finder.python)
    finder.checks.one_line(run([python, "-c", text], env), ["no C++ compiler (c++, g++, clang++)", "GCC 11"],
                           "no compiler")

    def program(name, status):
        with open(f"{there}/{name}", "w") as file:
            file.write(f"#!/bin/sh\nexit {status}\n")
        os.chmod(f"{there}/{name}", 0o755)
    program("c++", 1)
    finder.checks.one_line(run([python, "-c", text], env), ["c++ () does not take C++20"], "an old compiler")
    program("c++", 0)
    finder.checks.one_line(run([python, "-c", text], env), ["no MPI to compile with: mpicc is not on PATH",
                                                            "libopenmpi-dev"], "no MPI")
    program("mpicc", 0)
    program("mpicxx", 0)
    code, output, errors = run([python, "-c", text], env)
    finder.checks.true(code == 0 and output == "{}\n", f"compilers on PATH: {output}{errors}")
    fake_petsc(petsc, compiler=f"{there}/mpicc")
    code, output, errors = run([python, "-c", text], env)
    finder.checks.true(f"'MPI_CXX_COMPILER': '{there}/mpicxx'" in output, f"the MPI of PETSc: {output}{errors}")


def main():
    args, checks = arguments(__doc__), Checks()
    finder = Finder(args, checks)
    check_order(args, finder)
    check_isolation(args, finder)
    check_refused(args, finder)
    check_tools(args, finder)
    checks.finish()


main()
