"""What a PETSc is: its release, scalars, index width, device support and place.

The build reads this of a folder (plugin/python/backend), the module of the PETSc that runs and of the one that it was
built for. Nothing here imports petsc4py or loads a library.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

OLDEST, NEWEST = (3, 18), (3, 26)


@dataclass(frozen=True)
class Petsc:
    """One PETSc, as far as a plugin has to fit it."""

    folder: str  #: PETSC_DIR
    arch: str  #: PETSC_ARCH; empty for a PETSc that was installed to a prefix
    version: str  #: "3.18.5"
    scalar: str  #: "real" or "complex"
    index: int  #: bits of a PetscInt: 32 or 64
    cuda: bool
    library: str  #: path of the shared library; empty if it is not known

    @property
    def release(self) -> str:
        """The first two numbers of the version: what a plugin depends on."""
        return ".".join(self.version.split(".")[:2])

    @property
    def kind(self) -> str:
        """ "PETSc 3.18.5 (real, 32-bit indices, no CUDA)" """
        return f"PETSc {self.version} ({self.scalar}, {self.index}-bit indices, {'CUDA' if self.cuda else 'no CUDA'})"

    def __str__(self) -> str:
        arch = f" (PETSC_ARCH={self.arch})" if self.arch else ""
        return f"{self.kind} in {self.folder}{arch}"

    def same_place(self, other: Petsc) -> bool:
        """Whether both are one file, or one folder where a file is not known. Links are followed: Debian has many."""
        if self.library and other.library:
            return os.path.realpath(self.library) == os.path.realpath(other.library)
        return os.path.realpath(os.path.join(self.folder, self.arch)) == os.path.realpath(
            os.path.join(other.folder, other.arch))


def differences(built_for: Petsc, found: Petsc) -> list[str]:
    """In which of release, scalars, index width, device support and place two PETSc differ; empty if a plugin that was
    built for the one fits the other."""
    names = []
    for name in ("release", "scalar", "index", "cuda"):
        if getattr(built_for, name) != getattr(found, name):
            names.append(name)
    if not built_for.same_place(found):
        names.append("PETSC_DIR")
    return names


class PetscFiles:
    """The files of a PETSc in a folder.

    `problem()` says why a plugin cannot be built for it, `petsc()` what it is.
    """

    def __init__(self, folder: str, arch: str = "") -> None:
        self.folder, self.arch = os.path.abspath(folder), arch
        self._includes = [os.path.join(self.folder, arch, "include"), os.path.join(self.folder, "include")]
        self._conf = self._read("petscconf.h")
        self.variables = dict(re.findall(r"^(\w+) = (.*)$", self._read_variables(), re.M))

    def _read(self, name: str) -> str:
        for folder in self._includes:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    return file.read()
        return ""

    def _read_variables(self) -> str:
        path = os.path.join(self.folder, self.arch, "lib", "petsc", "conf", "petscvariables")
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _has(self, name: str) -> bool:
        return re.search(rf"^#define {name}\b", self._conf, re.M) is not None

    @property
    def pkg_config_folder(self) -> str:
        """The folder with PETSc.pc or petsc.pc; empty if there is none."""
        for folder in (os.path.join(self.folder, self.arch), self.folder):
            for name in ("PETSc.pc", "petsc.pc"):
                if os.path.isfile(os.path.join(folder, "lib", "pkgconfig", name)):
                    return os.path.join(folder, "lib", "pkgconfig")
        return ""

    @property
    def library(self) -> str:
        """The shared library; empty if there is none."""
        folder = os.path.join(self.folder, self.arch, "lib")
        names = re.findall(r"-l(petsc\w*)", self.variables.get("PETSC_LIB_BASIC", ""))
        for name in names or ["petsc"]:
            for ending in ("so", "dylib"):
                if os.path.exists(os.path.join(folder, f"lib{name}.{ending}")):
                    return os.path.join(folder, f"lib{name}.{ending}")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        found = [name for name in names if re.fullmatch(r"libpetsc\w*\.so", name) and "compound" not in name]
        return os.path.join(folder, found[0]) if found else ""

    @property
    def plugin_folder(self) -> str:
        """What PETSc puts for ${PETSC_LIB_DIR} in its options; empty if it does not say."""
        found = re.search(r'^#define PETSC_LIB_DIR "(.*)"', self._conf, re.M)
        return found[1] if found else ""

    @property
    def capabilities(self) -> list[str]:
        """Compute capabilities that PETSc's own kernels were compiled for: ["90"]."""
        return sorted(set(re.findall(r"\b(?:sm|compute)_(\d+)", self.variables.get("CUDAC_FLAGS", ""))))

    def petsc(self) -> Petsc:
        """What it is. ValueError where the files do not say."""
        version = self._read("petscversion.h")
        numbers = [re.search(rf"^#define PETSC_VERSION_{part} +(\d+)", version, re.M)
                   for part in ("MAJOR", "MINOR", "SUBMINOR")]
        if not self._conf or not all(numbers):
            raise ValueError(f"{self.folder} has no petscconf.h and petscversion.h")
        return Petsc(self.folder, self.arch, ".".join(n[1] for n in numbers if n),
                     "complex" if self._has("PETSC_USE_COMPLEX") else "real",
                     64 if self._has("PETSC_USE_64BIT_INDICES") else 32, self._has("PETSC_HAVE_CUDA"), self.library)

    def problem(self) -> str:
        """Why a plugin cannot be built for this PETSc, with the remedy; empty if it can."""
        where = f"PETSC_DIR={self.folder}" + (f" PETSC_ARCH={self.arch}" if self.arch else "")
        if not os.path.isdir(self.folder):
            return f"there is no folder {self.folder}"
        if not self._conf:
            return f"{where} has no include/petscconf.h: no PETSc was built there (PETSC_ARCH names a folder in it)"
        if not self.pkg_config_folder:
            return (f"{where} has no lib/pkgconfig/PETSc.pc: install that PETSc whole (make install), or its package "
                    "for development")
        found = self.petsc()
        number = tuple(int(part) for part in found.release.split("."))
        if number < OLDEST:
            return f"{where} is PETSc {found.version}, which is too old: 3.18 to 3.26 are supported"
        if self._has("PETSC_HAVE_MPIUNI"):
            return f"{where} is a PETSc without MPI (MPIUNI): build PETSc with an MPI (--with-mpi=1)"
        if not self._has("PETSC_USE_SHARED_LIBRARIES") or not found.library:
            return f"{where} is a static PETSc, which loads no plugin: build PETSc with --with-shared-libraries=1"
        if any(self._has(f"PETSC_USE_REAL_{name}") for name in ("SINGLE", "__FLOAT128", "___FP16")):
            return f"{where} does not use double precision, the only one supported: configure --with-precision=double"
        if not any(os.path.isfile(os.path.join(i, "petsc", "private", "matimpl.h")) for i in self._includes):
            return (f"{where} has no headers petsc/private, which a matrix type needs: "
                    "install PETSc's development files whole (include/petsc/private)")
        return ""
