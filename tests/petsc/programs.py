"""The PETSc in use, and its programs built against it: all that runs afterwards lies in one folder, which can be
carried."""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Unusable(Exception):
    """The folders and programs that were given do not fit; the message says why."""


class Petsc:
    """What pkg-config and petscconf.h say."""

    def __init__(self, pkgconfig):
        self.environment = dict(os.environ, PKG_CONFIG_PATH=pkgconfig, PKG_CONFIG_LIBDIR=pkgconfig)
        self.name = next((n for n in ("PETSc", "petsc") if self.ask("--exists", n) is not None), None)
        if not self.name:
            raise Unusable(f"no PETSc.pc in {pkgconfig}; name the folder that has it by --petsc-pkgconfig")
        self.release = self.ask("--modversion", self.name)
        self.library_folder = self.ask("--variable=libdir", self.name)
        self.compile_flags = shlex.split(self.ask("--cflags", self.name))
        self.link_flags = shlex.split(self.ask("--libs", self.name))
        with open(os.path.join(self.ask("--variable=includedir", self.name), "petscconf.h")) as file:
            self.conf = set(re.findall(r"^#define PETSC_(\w+)", file.read(), re.M))
        self.scalar = "complex" if "USE_COMPLEX" in self.conf else "real"

    def ask(self, *what):
        done = subprocess.run(["pkg-config", *what], env=self.environment, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def facts(self):
        return {"release": self.release, "scalar": self.scalar, "cuda": "HAVE_CUDA" in self.conf,
                "index": "64" if "USE_64BIT_INDICES" in self.conf else "32", "library_folder": self.library_folder}


def from_cache(build):
    """pkgconfig, mpicc, mpiexec, plugin of a configured build folder."""
    path = os.path.join(build, "CMakeCache.txt")
    if not os.path.exists(path):
        raise Unusable(f"{build} is no configured build folder (no CMakeCache.txt)")
    with open(path) as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
    return {"petsc_pkgconfig": os.path.join(cache["PETSC_PC_LIBDIR"], "pkgconfig"), "mpicc": cache["MPI_C_COMPILER"],
            "mpiexec": cache["MPIEXEC_EXECUTABLE"], "plugin": os.path.join(build, "plugin", "libpetsccompound.so")}


def name_of(source):
    return source.replace("/", "_")


def is_newer(path, *than):
    return os.path.exists(path) and all(os.path.getmtime(path) > os.path.getmtime(t) for t in than)


class Programs:
    """A folder with programs (bin), their data files (data) and manifest.json: the PETSc that they were built for, the
    data files' place, and the compiler's words on programs that could not be built."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.data = os.path.join(self.folder, "data")
        self.manifest_path = os.path.join(self.folder, "manifest.json")
        self.petsc, self.errors = {}, {}

    def path(self, source):
        return os.path.join(self.folder, "bin", name_of(source))

    def load(self):
        if not os.path.exists(self.manifest_path):
            raise Unusable(f"no programs in {self.folder} (manifest.json is missing); build them first by --build-only")
        with open(self.manifest_path) as file:
            manifest = json.load(file)
        self.petsc, self.errors = manifest["petsc"], manifest["errors"]

    def save(self):
        with open(self.manifest_path, "w") as file:
            json.dump({"petsc": self.petsc, "errors": self.errors}, file, indent=1)

    def build(self, names, petsc, sources, mpicc, jobs, data_files):
        """Programs `names` (such as mat/tests/ex5) that are older than their source; and copies of `data_files`."""
        os.makedirs(os.path.join(self.folder, "bin"), exist_ok=True)
        self.petsc = petsc.facts()
        for file in data_files:
            target = os.path.join(self.data, file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(os.path.join(sources.data, file), target)
        probe = os.path.join(self.folder, "probe.o")
        probe_source = os.path.join(HERE, "probe.c")
        include = os.path.join(HERE, "..", "..", "include")
        if not is_newer(probe, probe_source, os.path.join(petsc.library_folder, os.pardir)):
            error = compile_c([mpicc, "-O1", "-c", probe_source, "-o", probe, f"-I{include}", *petsc.compile_flags])
            if error:
                raise Unusable(f"tests/petsc/probe.c does not compile: {error}")

        def build_one(name):
            source, target = os.path.join(sources.src, name + ".c"), self.path(name)
            if not os.path.exists(source):
                return f"no {name}.c in the sources of PETSc {petsc.release}"
            if is_newer(target, source, probe):
                return None
            return compile_c([mpicc, "-O0", "-w", "-s", source, probe, "-o", target, f"-I{os.path.dirname(source)}",
                              *petsc.compile_flags, *petsc.link_flags, "-lm", "-ldl"])

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for name, error in zip(names, pool.map(build_one, names)):
                if error:
                    self.errors[name] = error
        self.save()


def compile_c(command):
    """The compiler's first words if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if re.search(r"error|undefined|cannot find", line)]
    return (errors or done.stderr.splitlines() or [f"code {done.returncode}"])[0]
