"""The build backend of pyproject.toml: scikit-build-core's, told which PETSc to build for.

Before anything is downloaded or compiled it says which PETSc that is and how it was found, or ends with one line that
says what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from find_petsc import Found, NoPetsc, find
from scikit_build_core import build as skbuild
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist  # noqa: F401

Settings = "dict[str, Any] | None"

# What the sources need of the language and its library.
PROGRAM = """
#include <concepts>
#include <ranges>
#include <span>
#include <vector>
template <std::integral N> N sum(std::span<const N> numbers) {
  N all = 0;
  for (const N n : numbers | std::views::filter([](N i) { return i > 0; })) all += n;
  return all;
}
int main() {
  const std::vector<int> numbers{1, -2, 3};
  return sum<int>(numbers) == 4 ? 0 : 1;
}
"""


def _stop(reason: object) -> None:
    sys.stdout.flush()
    raise SystemExit(f"petsc-compound: {reason}")


def _defined(settings: Any, name: str) -> str | None:
    """A -D option that pip's config settings bring; None if they do not."""
    value = (settings or {}).get(f"cmake.define.{name}", (settings or {}).get(f"skbuild.cmake.define.{name}"))
    return None if value is None else str(value)


def _compiler(settings: Any) -> str:
    """The C++ compiler that CMake will take, or a line if none takes C++20."""
    asked = _defined(settings, "CMAKE_CXX_COMPILER") or os.environ.get("CXX", "").split(" ")[0]
    names = [asked] if asked else ["c++", "g++", "clang++"]
    found = next((path for path in map(shutil.which, names) if path), None)
    remedy = "install GCC 11 or newer, or Clang 16 or newer (Debian: g++), or name one by CXX"
    if not found:
        _stop(f"there is no C++ compiler ({', '.join(names)}); {remedy}")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = subprocess.run([str(found), "-std=c++20", "-c", source, "-o", os.path.join(folder, "program.o")],
                              capture_output=True, text=True)
    if done.returncode:
        version = subprocess.run([str(found), "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        _stop(f"the C++ compiler {found} ({version}) does not take C++20; {remedy}")
    return str(found)


def _wrappers(found: Found, settings: Any) -> dict[str, str]:
    """-D options that name the MPI of PETSc; a line if there is no MPI to compile with."""
    result = {}
    for language, variable, usual in (("C", "CC", "mpicc"), ("CXX", "CXX", "mpicxx")):
        option = f"MPI_{language}_COMPILER"
        if _defined(settings, option) or os.environ.get("MPI_HOME"):
            continue
        own = found.files.variables.get(variable, "").split(" ")[0]
        wrapper = shutil.which(own) if os.path.basename(own).startswith("mpi") else None
        if wrapper and os.path.isabs(own):  # else CMake looks for it by itself
            result[option] = wrapper
        elif not wrapper and not shutil.which(usual) and (not own or os.path.basename(own).startswith("mpi")):
            _stop(f"there is no MPI to compile with: {usual} is not on PATH"
                  f"{f', and neither is {own}, which PETSc was built with' if own and own != usual else ''}; "
                  "install the MPI of that PETSc (Debian: libopenmpi-dev), or name its folder by MPI_HOME")
    return result


def _prepared(settings: Any) -> dict[str, Any]:
    """The config settings with what the build needs to know; prints what it is for."""
    try:
        found = find(_defined(settings, "PETSC_DIR"), _defined(settings, "PETSC_ARCH"))
    except NoPetsc as reason:
        _stop(reason)
    print(f"petsc-compound is built for {found.petsc}\nfound by {found.how}", *found.notes, sep="\n", flush=True)
    compiler = _compiler(settings)
    defines = {"PETSC_DIR": found.files.folder, "PETSC_ARCH": found.files.arch, "CMAKE_CXX_COMPILER": compiler,
               **_wrappers(found, settings)}
    # Machine code for the devices that PETSc's own kernels are for.
    if found.petsc.cuda and found.files.capabilities:
        defines["COMPOUND_DEVICE_CODE_CAPABILITIES"] = ";".join(found.files.capabilities)
    result = dict(settings or {})
    for name, value in defines.items():
        if _defined(settings, name) is None:
            result[f"cmake.define.{name}"] = value
    # PETSC_DIR of the environment has been heard; CMake is told the result.
    os.environ.pop("PETSC_DIR", None)
    os.environ.pop("PETSC_ARCH", None)
    return result


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    _prepared(config_settings)
    return skbuild.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    _prepared(config_settings)
    return skbuild.get_requires_for_build_editable(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    return skbuild.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Settings = None) -> str:
    return skbuild.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    return skbuild.build_wheel(wheel_directory, _prepared(config_settings), metadata_directory)


def build_editable(wheel_directory: str, config_settings: Settings = None,
                   metadata_directory: str | None = None) -> str:
    return skbuild.build_editable(wheel_directory, _prepared(config_settings), metadata_directory)
