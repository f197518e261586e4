#!/usr/bin/env python3
"""A PETSc other than the one built for is one line and status 1, before PETSc sees the plugin.

What the package says of its PETSc is changed; in the place of the plugin lies a file that no loader takes, so that a
program which got as far as loading it would say something else.
"""

import os
import shutil

from support import Checks, arguments, fake_module, fake_petsc, need_petsc4py, package, record, run

CHANGES = {"release": {"version": "3.99.0"}, "scalar": {"scalar": "quaternion"}, "index": {"index": 16},
           "cuda": {}, "PETSC_DIR": {"folder": "/opt/another", "library": "/opt/another/lib/libpetsc.so"}}

# The five cases in one program, which goes on after each.
AFTER = """
import sys
import petsc4py
petsc4py.init(sys.argv[2:])
from petsc4py import PETSc
for folder in sys.argv[1].split(":"):
    for name in [name for name in sys.modules if name.startswith("petsccompound")]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    import petsccompound
    for call in (petsccompound.init, lambda: petsccompound.plan(PETSc.Mat()), petsccompound.options):
        try:
            call()
            print("accepted by", folder)
        except petsccompound.Stop as stop:
            print(stop.args[0])
"""


def check_each(args, env, checks, extra):
    petsc = record(args.build)["petsc"]
    sites = []
    for name, change in CHANGES.items():
        change = change or {"cuda": not petsc["cuda"]}
        site = package(args.build, f"{args.scratch}/{name}", plugin=False, **change)
        sites.append(site)
        begin = "import petsccompound; petsccompound."
        calls = [f"{begin}init({extra})"] if name != "scalar" else [
            f"{begin}init({extra})", f"{begin}options()", "import runpy; runpy.run_module('petsccompound')",
            "import sys, runpy; sys.argv[1:] = ['--check']; runpy.run_module('petsccompound', run_name='__main__')"]
        for call in calls:
            if "runpy.run_module('petsccompound')" in call:
                call = call[:-1] + ", run_name='__main__')"
            result = run([args.python, "-c", call], {**env, "PYTHONPATH": site})
            checks.one_line(result, ["petsccompound: built for PETSc ", f" runs PETSc {petsc['version']} ",
                                     f"(other: {name})", "install it again: PETSC_DIR=" + petsc["folder"],
                                     "pip install --no-cache-dir --force-reinstall"], f"{name}: {call}")
    code, output, errors = run([args.python, "-c", AFTER, ":".join(sites), *extra], env)
    lines = output.splitlines()
    checks.true(code == 0 and len(lines) == 3 * len(sites), f"after petsc4py.init: {code}\n{output}{errors}")
    for name, line in zip([name for name in CHANGES for _ in range(3)], lines):
        checks.true(f"(other: {name})" in line and "--no-cache-dir" in line, f"after petsc4py.init, {name}: {line}")


def check_others(args, env, checks):
    """No petsc4py, no plugin, a plugin that does not load, a static PETSc, PETSc not started."""
    site = package(args.build, f"{args.scratch}/plain", plugin=False)
    begin = "import petsccompound; petsccompound."
    start = ["-c", f"{begin}init()"]
    env = {**env, "PYTHONPATH": site}
    version = record(args.build)["petsc"]["version"]
    checks.one_line(run([args.python, "-S", *start], env), ["has no petsc4py", f"install petsc4py=={version}"],
                    "no petsc4py")
    checks.one_line(run([args.python, "-c", f"{begin}init(['-use_gpu_aware_mpi', '0'])"], env),
                    ["the plugin cannot be loaded", "--force-reinstall"], "a plugin that does not load")
    result = run([args.python, "-c", f"{begin}plan(None)"], env)
    checks.true(result[0] == 1 and "RuntimeError: PETSc is not running: call petsccompound.init() first" in result[2],
                f"plan() before init(): {result}")
    os.remove(f"{site}/petsccompound/libpetsccompound.so")
    checks.one_line(run([args.python, *start], env), ["no compiled plugin in", "pip install ."], "no plugin")
    site = package(args.build, f"{args.scratch}/static", plugin=False)
    compiler = shutil.which("cc")
    if not compiler:
        print("static PETSc: not checked, there is no C compiler (cc)")
        return
    source, library = f"{args.scratch}/static.c", f"{args.scratch}/static.so"
    with open(source, "w") as file:
        file.write("int PetscInitialize(void) { return 0; }\n")
    run([compiler, "-shared", "-fPIC", source, "-o", library], env)
    folder = fake_module(f"{args.scratch}/fake", "petsc4py", f"""
import sys, types
def init(args=None):
    module = types.ModuleType("petsc4py.PETSc")
    module.__file__ = {library!r}
    module.Sys = types.SimpleNamespace(isInitialized=lambda: True)
    sys.modules["petsc4py.PETSc"] = module
def get_config():
    return {{"PETSC_DIR": "/nonexistent", "PETSC_ARCH": ""}}
""")
    checks.one_line(run([args.python, *start], {**env, "PYTHONPATH": f"{folder}:{site}"}),
                    ["contains a static PETSc", "shared libraries"], "static PETSc")


def check_configured_first(args, env, checks):
    """What petsc4py's configuration names is compared before PETSc starts: that of a build with several PETSC_ARCH."""
    petsc = fake_petsc(f"{args.scratch}/two", arch="first", version="3.20.1")
    fake_petsc(petsc, arch="second", version="3.20.1", defines=["PETSC_USE_COMPLEX"])
    folder = fake_module(f"{args.scratch}/archs", "petsc4py", f"""
def init(args=None):
    raise RuntimeError("started")
def get_config():
    return {{"PETSC_DIR": {petsc!r}, "PETSC_ARCH": "first:second"}}
""")
    site = package(args.build, f"{args.scratch}/configured", plugin=False, folder=petsc, arch="first",
                   version="3.20.0", scalar="real", index=32, cuda=False, library=f"{petsc}/first/lib/libpetsc.so")
    env = {**env, "PYTHONPATH": f"{folder}:{site}"}
    start = [args.python, "-c", "import petsccompound; petsccompound.init()"]
    code, _, errors = run(start, env)
    checks.true(code == 1 and "RuntimeError: started" in errors, f"the same release and arch is refused: {errors}")
    checks.one_line(run(start, {**env, "PETSC_ARCH": "second"}), ["(other: scalar, PETSC_DIR)", "PETSC_ARCH=second"],
                    "another PETSC_ARCH")


def main():
    args, checks = arguments(__doc__), Checks()
    env = need_petsc4py(args)
    extra = ["-use_gpu_aware_mpi", "0"] if record(args.build)["petsc"]["cuda"] else []
    check_each(args, env, checks, extra)
    check_others(args, env, checks)
    check_configured_first(args, env, checks)
    checks.finish()


main()
