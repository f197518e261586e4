"""The PETSc of this program, by petsc4py; the plugin, loaded into it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ._built import Stop, built_for, check_fit, mending_command, plugin
from ._petsc import Petsc, PetscFiles

if TYPE_CHECKING:  # ctypes is imported when it is used: importing this package takes few milliseconds
    import ctypes


def import_petsc4py() -> Any:
    """The package petsc4py, which starts nothing; Stop if it is not here."""
    try:
        import petsc4py
    except ImportError as reason:
        own = built_for()
        raise Stop(f"{sys.executable} has no petsc4py ({reason}); the plugin was built for {own}: "
                   f"PETSC_DIR={own.folder} PETSC_ARCH={own.arch} {sys.executable} -m pip install "
                   f"petsc4py=={own.version}") from None
    return petsc4py


def petsc_if_running() -> Any:
    """The module petsc4py.PETSc if PETSc is initialised, else None. Imports nothing."""
    module = sys.modules.get("petsc4py.PETSc")
    return module if module is not None and module.Sys.isInitialized() else None


def configured() -> Petsc | None:
    """The PETSc of petsc4py, as its configuration and that folder's files say; None if they do not, as in an image
    without PETSc's headers."""
    configuration = import_petsc4py().get_config()
    archs = [arch for arch in configuration.get("PETSC_ARCH", "").split(os.pathsep) if arch]
    wanted = os.environ.get("PETSC_ARCH", "")
    arch = wanted if wanted in archs else archs[0] if archs else ""
    try:
        return PetscFiles(configuration.get("PETSC_DIR", ""), arch).petsc()
    except ValueError:
        return None


def library_of(extension: str) -> str:
    """The file that has the PETSc of petsc4py's extension module; empty if the loader does not say."""
    import ctypes

    class Place(ctypes.Structure):  # Dl_info of dladdr()
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p),
                    ("address", ctypes.c_void_p)]

    try:
        function = ctypes.cast(ctypes.CDLL(extension).PetscInitialize, ctypes.c_void_p)
        place = Place()
        if not ctypes.CDLL(None).dladdr(function, ctypes.byref(place)) or not place.file:
            return ""
    except (OSError, AttributeError):
        return ""
    return os.fsdecode(place.file)


def running() -> Petsc:
    """The PETSc that runs. Stop if it is static: such a PETSc loads no plugin."""
    PETSc = petsc_if_running()
    if PETSc is None:
        raise RuntimeError("PETSc is not running: call petsccompound.init() first")
    library = library_of(PETSc.__file__)
    if library and os.path.realpath(library) == os.path.realpath(PETSc.__file__):
        raise Stop(f"petsc4py ({PETSc.__file__}) contains a static PETSc, which loads no plugin; install petsc4py for "
                   f"a PETSc with shared libraries, such as {built_for()}")
    configuration = import_petsc4py().get_config()
    folder = configuration.get("PETSC_DIR", "")
    # Nothing in petsc4py says which of several PETSC_ARCH it loaded but its module.
    arch = getattr(PETSc, "__arch__", "") or ""
    return Petsc(folder, arch, ".".join(str(n) for n in PETSc.Sys.getVersion()),
                 "complex" if "complex" in PETSc.ScalarType.__name__ else "real", 8 * PETSc.IntType().itemsize,
                 PETSc.Sys.hasExternalPackage("cuda"), library)


def open_plugin() -> ctypes.CDLL:
    """The plugin's file, opened; Stop with the loader's reason if it cannot be."""
    import ctypes
    try:
        return ctypes.CDLL(plugin())
    except OSError as reason:
        raise Stop(f"the plugin cannot be loaded ({reason}); built for {built_for()}; {mending_command()}") from None


_loaded: ctypes.CDLL | None = None


def load() -> ctypes.CDLL:
    """The plugin, whose types the running PETSc knows.

    RuntimeError if PETSc is not running, Stop if it is not the PETSc that the plugin was built for.
    """
    global _loaded
    if _loaded is None:
        check_fit(running())
        _loaded = open_plugin()
    elif petsc_if_running() is None:
        raise RuntimeError("PETSc is not running any more")
    call(_loaded, "PetscCompoundInitialize")  # may be called again; types are forgotten by PetscFinalize()
    return _loaded


def call(library: ctypes.CDLL, name: str, *arguments: Any) -> None:
    """Calls a function of the plugin. Raises petsc4py's Error with PETSc's text if it fails.

    petsc4py has the text of errors of its own calls alone, so a handler of PETSc's errors notes it here.
    """
    import ctypes
    lines: list[str] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
                      ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
    def note(_comm: Any, line: int, function: bytes, file: bytes, code: int, repeats: int, text: bytes, _: Any) -> int:
        if not repeats:
            general = ctypes.c_char_p()
            library.PetscErrorMessage(code, ctypes.byref(general), None)
            lines[:] = [part.decode(errors="replace") for part in (general.value, text) if part]
        lines.insert(0, f"{os.fsdecode(function or b'?')}() at {os.fsdecode(file or b'?')}:{line}")
        return code

    library.PetscPushErrorHandler(note, None)
    try:
        code = getattr(library, name)(*arguments)
    finally:
        library.PetscPopErrorHandler()
    if code:
        error = sys.modules["petsc4py.PETSc"].Error(code)
        error._traceback = error._traceback_ = lines  # petsc4py 3.26 and 3.18
        raise error
