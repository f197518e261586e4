"""The compilers of a build by pip: a C++20 compiler, and the MPI of PETSc."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile

from petsccompound._petsc import PetscFiles

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


class NoTool(Exception):
    """One line: what is missing and the remedy."""


def check_compiler(asked: str = "") -> None:
    """NoTool if the C++ compiler that CMake will take, which is the one asked for or the first that is there, does not
    take C++20."""
    asked = asked or os.environ.get("CXX", "")
    commands = [shlex.split(asked)] if asked else [["c++"], ["g++"], ["clang++"]]
    found = next((words for words in commands if shutil.which(words[0])), None)
    remedy = "install GCC 11 or newer, or Clang 16 or newer (Debian: g++), or name one by CXX"
    if not found:
        raise NoTool(f"there is no C++ compiler ({', '.join(words[0] for words in commands)}); {remedy}")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = subprocess.run([*found, "-std=c++20", "-c", source, "-o", os.path.join(folder, "program.o")],
                              capture_output=True, text=True)
    if done.returncode:
        version = subprocess.run([*found, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        raise NoTool(f"the C++ compiler {' '.join(found)} ({version}) does not take C++20; {remedy}")


def mpi_wrappers(files: PetscFiles, named: list[str]) -> dict[str, str]:
    """-D options of CMake that name the MPI of a PETSc, but those that are named; none where CMake finds it by itself.
    NoTool if there is no MPI to compile with."""
    result = {}
    for language, variable, usual in (("C", "CC", "mpicc"), ("CXX", "CXX", "mpicxx")):
        option = f"MPI_{language}_COMPILER"
        if option in named or os.environ.get("MPI_HOME"):
            continue
        own = files.variables.get(variable, "").split(" ")[0]
        if own and not os.path.basename(own).startswith("mpi"):
            continue  # a compiler that knows MPI without a wrapper, as Cray's
        if own and os.path.isabs(own) and shutil.which(own):
            result[option] = own
        elif not shutil.which(own or usual) and not shutil.which(usual):
            theirs = f", nor is {own}, which PETSc was built with," if own not in ("", usual) else ""
            raise NoTool(f"there is no MPI to compile with: {usual} is not on PATH{theirs}; install the MPI of that "
                         "PETSc (Debian: libopenmpi-dev), or name its folder by MPI_HOME")
    return result
