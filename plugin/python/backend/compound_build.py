"""The build backend of pyproject.toml: scikit-build-core's, for the PETSc that is found.

Before anything is downloaded or compiled it says which PETSc that is and how it was found, or ends with one line that
says what is missing.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from find_petsc import NoPetsc, find
from find_tools import NoTool, check_compiler, mpi_wrappers
from scikit_build_core import build as skbuild
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist  # noqa: F401

Settings = "dict[str, Any] | None"


def _defined(settings: Any, name: str) -> str | None:
    """A -D option that pip's config settings bring; None if they do not."""
    value = (settings or {}).get(f"cmake.define.{name}", (settings or {}).get(f"skbuild.cmake.define.{name}"))
    return None if value is None else str(value)


def _prepared(settings: Any) -> dict[str, Any]:
    """The config settings with what the build needs to know; prints what it is for. One line and status 1 where
    something is missing."""
    named = [name for name in ("MPI_C_COMPILER", "MPI_CXX_COMPILER") if _defined(settings, name) is not None]
    try:
        found = find(_defined(settings, "PETSC_DIR"), _defined(settings, "PETSC_ARCH"))
        print(f"petsc-compound is built for {found.petsc}\nfound by {found.how}", *found.notes, sep="\n", flush=True)
        check_compiler(_defined(settings, "CMAKE_CXX_COMPILER") or "")
        defines = {"PETSC_DIR": found.files.folder, "PETSC_ARCH": found.files.arch,
                   **mpi_wrappers(found.files, named)}
    except (NoPetsc, NoTool) as reason:
        sys.stdout.flush()
        raise SystemExit(f"petsc-compound: {reason}") from None
    # Machine code for the devices that PETSc's own kernels are for.
    if found.petsc.cuda and found.files.capabilities:
        defines["COMPOUND_DEVICE_CODE_CAPABILITIES"] = ";".join(found.files.capabilities)
    result = dict(settings or {})
    for name, value in defines.items():
        if _defined(settings, name) is None:
            result[f"cmake.define.{name}"] = value
    # CMake gets the PETSc that was found as a definition, and must not read another one from the environment.
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
