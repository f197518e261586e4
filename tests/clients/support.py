"""What the tests of installed trees and client programs share: running, skipping, comparing."""

import argparse
import glob
import math
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def arguments(doc, **extra):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, help="an installed tree")
    parser.add_argument("--build", required=True, help="name of the build in it, such as 3.18-real-32")
    parser.add_argument("--scratch", required=True, help="folder for what the test makes")
    parser.add_argument("--petsc-pkgconfig", required=True, help="folders with PETSc's .pc file, separated by colons")
    parser.add_argument("--petsc-dir", default="", help="PETSC_DIR of client programs")
    parser.add_argument("--scalar", default="real")
    parser.add_argument("--python", default="python3", help="the interpreter that has the client's packages")
    parser.add_argument("--mpicc", default="mpicc")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--type", default="baijcompound", choices=["baijcompound", "aijcompound"],
                        help="of the matrices")
    for name, options in extra.items():
        parser.add_argument("--" + name.replace("_", "-"), **options)
    args = parser.parse_args()
    args.prefix, args.scratch = os.path.abspath(args.prefix), os.path.abspath(args.scratch)
    os.makedirs(args.scratch, exist_ok=True)
    return args


def skip(reason):
    """Ends the test as skipped: it is not meant for this build."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def missing(reason):
    """Ends the test as skipped; as failed where the client has to be there (config/test.sh --clients)."""
    if os.environ.get("COMPOUND_CLIENTS_REQUIRED"):
        sys.exit(f"missing, and COMPOUND_CLIENTS_REQUIRED is set: {reason}")
    skip(reason)


class Client:
    """Runs programs against one build of an installed tree."""

    def __init__(self, args):
        self.args = args
        found = [f"{args.prefix}/{lib}/pkgconfig" for lib in installed_libraries(args.prefix)]
        self.pkgconfig_path = ":".join(found + [args.petsc_pkgconfig])
        self.plugin = self.pkgconfig("--variable=plugin", f"petsccompound-{args.build}")
        self.petsc_pc = next((n for n in ("PETSc", "petsc") if self.has_pc(n)), "PETSc")

    def environment(self, extra=None):
        env = dict(os.environ, PKG_CONFIG_PATH=self.pkgconfig_path)
        env.pop("PETSC_OPTIONS", None)
        if self.args.petsc_dir:
            env["PETSC_DIR"] = self.args.petsc_dir
            env.pop("PETSC_ARCH", None)
        env.update(extra or {})
        if self.args.build.endswith("-cuda"):  # such a PETSc stops under an MPI that knows no GPU, unless told
            env["PETSC_OPTIONS"] = env.get("PETSC_OPTIONS", "") + " -use_gpu_aware_mpi 0"
        return env

    def has_pc(self, name):
        return subprocess.run(["pkg-config", "--exists", name], env=self.environment()).returncode == 0

    def pkgconfig(self, *what):
        return self.run(["pkg-config", *what], ranks=0).strip()

    def compile(self, source, program, packages, extra=()):
        flags = self.pkgconfig("--cflags", "--libs", *packages).split()
        flags.append(f"-Wl,-rpath,{self.pkgconfig('--variable=libdir', self.petsc_pc)}")
        self.run([self.args.mpicc, "-O1", *extra, source, "-o", program, *flags, "-lm"], ranks=0)
        return program

    def compile_elasticity(self, program, extra=()):
        common = glob.glob(f"{TOP}/examples/common/*.c")
        return self.compile(f"{TOP}/examples/elasticity.c", program, [self.petsc_pc], extra=[*common, *extra])

    def try_run(self, command, ranks=None, env=None, cwd=None, timeout=180):
        ranks = self.args.ranks if ranks is None else ranks
        if ranks > 1:
            command = [self.args.mpiexec, "-n", str(ranks), *command]
        command = [str(c) for c in command]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout,
                                  env=self.environment(env), cwd=cwd or self.args.scratch)
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode(errors="replace") + (late.stderr or b"").decode(errors="replace")
            return -1, f"{said}\nno end after {timeout} s"
        return done.returncode, done.stdout + done.stderr

    def run(self, command, **how):
        code, output = self.try_run(command, **how)
        if code != 0:
            sys.exit(f"{' '.join(map(str, command))}\nended with code {code}:\n{output[-6000:]}")
        return output


def installed_libraries(prefix):
    """lib, lib64, lib/<machine>: wherever pkg-config files lie in the tree."""
    for folder, _, _ in os.walk(prefix):
        if os.path.basename(folder) == "pkgconfig":
            yield os.path.relpath(os.path.dirname(folder), prefix)


def fresh_folder(*parts):
    folder = os.path.join(*parts)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


class Checks:
    """Counts what was checked, prints what failed, ends the test."""

    def __init__(self, mat_type="baijcompound"):
        self.mat_type, self.count, self.failures = mat_type, 0, []

    def true(self, ok, message):
        self.count += 1
        if not ok:
            self.failures.append(message)

    def close(self, found, wanted, tolerance, what):
        distance = abs(found - wanted)
        self.true(math.isfinite(found) and distance <= tolerance * max(abs(wanted), 1e-300),
                  f"{what}: found {found:.15g}, wanted {wanted:.15g} to {tolerance:g} relative")

    def iterations(self, found, wanted, what):
        self.true(abs(found - wanted) <= max(2, 0.01 * wanted), f"{what}: {found} iterations, with aij {wanted}")

    def compound(self, output, ranks, what):
        """The matrix is of our type and our kernels ran it (the plan is printed by -mat_view ::ascii_info or
        -ksp_view)."""
        name = ("mpi" if ranks > 1 else "seq") + self.mat_type
        self.true(re.search(rf"\b{name}\b", output), f"{what}: no {name} in the output:\n{output[-3000:]}")
        self.true("compound plan: entry=" in output, f"{what}: no plan of the compound type in the "
                  f"output:\n{output[-3000:]}")

    def finish(self):
        print("\n".join([f"{self.count} checks, {len(self.failures)} failures", *self.failures]))
        sys.exit(1 if self.failures or not self.count else 0)


def numbers(text):
    return [float(n) for n in NUMBER.findall(text)]


def printed(output):
    """Lines `name: value` as a dictionary; views of objects, which are indented, are left out."""
    return dict(re.findall(r"^([a-z][a-z ]*): +(.*)$", output, re.M))
