"""The table of `python -m petsccompound --check`."""

from __future__ import annotations

import ctypes
import glob
import os
import sys

from . import _machine, _running
from ._built import Stop, built_for, plugin, record
from ._petsc import Petsc


def _without_petsc4py(own: Petsc) -> str:
    """Starts the PETSc that the plugin is linked with, and ends it again."""
    library = _running.open_plugin()
    words = [b"petsccompound"] + ([b"-use_gpu_aware_mpi", b"0"] if own.cuda else [])
    count, texts = ctypes.c_int(len(words)), (ctypes.c_char_p * (len(words) + 1))(*words)
    pointer = ctypes.pointer(texts)
    for start in (lambda: library.PetscInitialize(ctypes.byref(count), ctypes.byref(pointer), None, None),
                  library.PetscCompoundInitialize, library.PetscFinalize):
        if start():
            raise Stop(f"{own} does not take the plugin; PETSc says why above")
    return f"not installed for {sys.executable}"


def _with_petsc4py(own: Petsc) -> str:
    from ._start import init
    init(["-use_gpu_aware_mpi", "0"] if own.cuda else None)
    petsc4py = sys.modules["petsc4py"]
    return f"{petsc4py.__version__} ({os.path.dirname(os.path.abspath(petsc4py.__file__))})"


def _petsc4py(own: Petsc) -> str:
    from importlib.util import find_spec
    return _with_petsc4py(own) if find_spec("petsc4py") else _without_petsc4py(own)


def _backend() -> str:
    version = record()["cuda_toolkit"]
    return f"built with CUDA {version}" if version else "not built: no CUDA toolkit was found"


def _devices() -> str:
    found = [f"{device.name} (capability {device.capability})" for device in _machine.devices()]
    return ", ".join(found) or "none that CUDA's driver shows"


def _driver() -> str:
    version = _machine.driver_version()
    return f"runs CUDA {version}" if version else "none (libcuda.so.1 does not open, or shows no device)"


def _kernels() -> str:
    folder = _machine.kernel_cache()
    if not folder or folder == "off":
        return "off" if folder else "none: neither XDG_CACHE_HOME nor HOME is a path"
    files = glob.glob(os.path.join(glob.escape(folder), "*.cubin"))
    size = sum(os.path.getsize(name) for name in files)
    return f"{folder}: {len(files)} kernels, {size / 1e6:.1f} MB"


def _wisdom() -> str:
    from ._wisdom import wisdom
    found = wisdom()
    if not found.file:
        return "off"
    return found.problem or f"{found.file}: {len(found.entries)} plans, {len(found.here)} for this machine"


def rows() -> list[tuple[str, str]]:
    """[(what, value)]. Stop if PETSc does not take the plugin."""
    from . import __version__
    own = built_for()
    return [("petsc-compound", __version__), ("plugin", plugin()), ("PETSc", f"{own.version} in {own.folder}"
             + (f" (PETSC_ARCH={own.arch})" if own.arch else "")), ("scalar", own.scalar),
            ("index width", f"{own.index} bits"), ("PETSc with CUDA", "yes" if own.cuda else "no"),
            ("petsc4py", _petsc4py(own)), ("processor", _machine.processor()), ("CUDA backend", _backend()),
            ("device", _devices()), ("driver", _driver()),
            ("NVRTC", _machine.nvrtc() or "none: kernels that are not built in cannot be compiled"),
            ("kernel cache", _kernels()), ("wisdom", _wisdom()), ("result", "the plugin fits this PETSc")]


def table() -> str:
    """The rows, in two columns."""
    lines = rows()
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {value}" for name, value in lines)
