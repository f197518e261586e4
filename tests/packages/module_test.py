#!/usr/bin/env python3
"""All functions of the module, on some processes, started before and after petsc4py; and the commands of a shell."""

import os
import re
import subprocess
import sys

from support import PACKAGE, TOP, Checks, arguments, environment, need_petsc4py, package, record, run

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")


def check_functions(args, env, checks, extra):
    launcher = [args.mpiexec, "-n", args.ranks] if args.ranks > 1 else []
    for number, words in enumerate(([], ["--after", "--aij"])):
        env["XDG_CACHE_HOME"] = f"{args.scratch}/cache{number}"
        code, output, errors = run([*launcher, args.python, PROGRAM, *words, *extra], env)
        checks.true(code == 0 and "all functions work" in output, f"program.py {words}: {code}\n{output}{errors}")
        print(output, end="")


def check_commands(args, env, checks, extra):
    """What `python -m petsccompound` prints; its options load the plugin."""
    command = [args.python, "-m", "petsccompound"]
    plugin = f"{args.scratch}/petsccompound/libpetsccompound.so"
    for words, wanted in (([], f"-dll_append {plugin}\n"), (["--plugin"], f"{plugin}\n"), (["--version"], "0.1.0\n")):
        code, output, errors = run([*command, *words], env)
        checks.true(code == 0 and output == wanted, f"-m petsccompound {words}: {code}, {output}{errors}")
    code, output, errors = run([*command, "--check"], env)
    petsc = record(args.build)["petsc"]
    for row in (f"PETSc +{petsc['version']} in {petsc['folder']}", f"scalar +{petsc['scalar']}",
                f"index width +{petsc['index']} bits", r"petsc4py +\d", "device +[^ ]", "driver +[^ ]", "NVRTC +[^ ]",
                "kernel cache +/", "wisdom +/", "result +the plugin fits this PETSc"):
        checks.true(re.search(f"^{row}", output, re.M), f"--check prints no '{row}':\n{output}{errors}")
    checks.true(code == 0, f"--check: status {code}\n{errors}")
    # -S hides petsc4py: the table then starts the PETSc that the plugin is linked with.
    code, output, errors = run([args.python, "-S", "-m", "petsccompound", "--check"], env)
    checks.true(code == 0 and "not installed for" in output and "fits this PETSc" in output,
                f"--check without petsc4py: {code}\n{output}{errors}")
    checks.true(run([*command, "--nonsense"], env)[0] == 2, "--nonsense is accepted")
    # The list of options() does what init() does, beside other libraries and options.
    text = ("import sys, petsccompound, petsc4py\n"
            "words = petsccompound.options(['program', '-ksp_rtol', '0.5', *sys.argv[1:]], mat_type='baijcompound')\n"
            "assert words[:2] == ['program', '-dll_append'], words\n"
            "petsc4py.init(words)\n"
            "from petsc4py import PETSc\n"
            "A = PETSc.Mat().create(); A.setSizes(6, bsize=3); A.setFromOptions()\n"
            "assert PETSc.Options().getReal('ksp_rtol') == 0.5\n"
            "print(A.getType())")
    code, output, errors = run([args.python, "-c", text, *extra], env)
    checks.true(code == 0 and "seqbaijcompound" in output, f"options(): {code}\n{output}{errors}")
    text = ("import petsccompound\nprint(*petsccompound.options('-a 1 -dll_append /x.so,/y.so -b', c=None, d=True))\n"
            "import sys; assert 'petsc4py.PETSc' not in sys.modules")
    code, output, errors = run([args.python, "-c", text], {**env, "PETSC_OPTIONS": "-dll_append /z.so,/y.so"})
    checks.true(output == f"-dll_append {plugin},/z.so,/y.so,/x.so -c -d true -a 1 -b\n",
                f"options() beside other libraries: {output}{errors}")


def check_link(args, env, checks):
    """--link makes a link where the PETSc that it was built for looks, --unlink removes it and nothing else."""
    from support import fake_petsc
    petsc = fake_petsc(f"{args.scratch}/petsc")
    with open(f"{petsc}/include/petscconf.h", "a") as file:
        file.write(f'#define PETSC_LIB_DIR "{petsc}/lib"\n')
    site = package(args.build, f"{args.scratch}/linking", folder=petsc, library="")
    env = {**env, "PYTHONPATH": site}
    command, link = [args.python, "-m", "petsccompound"], f"{petsc}/lib/libpetsccompound.so"
    for words, there, said in ((["--unlink"], False, "there is no link"), (["--link"], True, "${PETSC_LIB_DIR}"),
                               (["--link"], True, link), (["--unlink"], False, f"removed {link}")):
        code, output, errors = run([*command, *words], env)
        checks.true(code == 0 and said in output and os.path.islink(link) == there,
                    f"{words}: {code}, link there: {os.path.islink(link)}\n{output}{errors}")
    open(link, "w").close()
    checks.one_line(run([*command, "--link"], env), ["is a file, not a link"], "--link onto a file")
    os.remove(link)
    os.symlink(f"{petsc}/lib/libpetsc.so", link)
    checks.one_line(run([*command, "--unlink"], env), ["leads to another plugin"], "--unlink of another's")


def check_texts(checks):
    """One version; the dataclass has the fields of the header, and the module imports on its own in little time."""
    def found(path, pattern):
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            return re.findall(pattern, file.read(), re.M)
    versions = {path: found(path, pattern) for path, pattern in (
        ("CMakeLists.txt", r"^project\(petsc-compound VERSION ([\d.]+)"), ("pyproject.toml", r'^version = "([\d.]+)"'),
        ("plugin/python/petsccompound/__init__.py", r'^__version__ = "([\d.]+)"'))}
    checks.true(len({tuple(v) for v in versions.values()}) == 1 and all(versions.values()), f"versions: {versions}")
    fields = found("include/petsccompound.h", r"^  PetscInt64 (\w+);")
    own = found("plugin/python/petsccompound/_matrix.py", r"^    (\w+): int  #:")
    checks.true(fields == own and fields, f"MatCompoundInfo has {fields}, Info has {own}")
    done = subprocess.run([sys.executable, "-S", "-c", "import sys; sys.path.insert(0, sys.argv[1]); import "
                           "petsccompound; print(*sys.modules)", os.path.dirname(PACKAGE)], capture_output=True,
                          text=True, env=environment())
    late = {"json", "ctypes", "shlex", "importlib.metadata", "numpy", "petsc4py"} & set(done.stdout.split())
    checks.true(done.returncode == 0 and not late, f"importing the module imports {late}\n{done.stderr}")


def main():
    args, checks = arguments(__doc__), Checks()
    env = need_petsc4py(args)
    env["PYTHONPATH"] = package(args.build, args.scratch)
    env["XDG_CACHE_HOME"] = f"{args.scratch}/cache"
    extra = ["-use_gpu_aware_mpi", "0"] if record(args.build)["petsc"]["cuda"] else []
    check_functions(args, env, checks, extra)
    if args.ranks == 1:
        check_commands(args, env, checks, extra)
        check_link(args, env, checks)
        check_texts(checks)
    checks.finish()


main()
