"""The plugin file of this package, and the PETSc that it was built for."""

from __future__ import annotations

import os
import sys

from ._petsc import Petsc, differences

RECORD = "built_for.json"


class Stop(SystemExit):
    """Ends a program with one line and status 1, before PETSc sees the plugin; can be caught by those that have a use
    for that. The text is in `args[0]`."""

    def __init__(self, text: str) -> None:
        super().__init__(f"petsccompound: {text}")


def find_file(name: str) -> str:
    """A file of this package; empty if it is not there. An editable install has two folders."""
    import petsccompound
    for folder in petsccompound.__path__:
        path = os.path.join(os.path.abspath(folder), name)
        if os.path.isfile(path):
            return path
    return ""


def plugin() -> str:
    """The path of the compiled plugin, libpetsccompound.so.

    Returns:
        An absolute path. PETSc takes it for ``-dll_append``; a program in another language may load it, too.

    Raises:
        Stop: (a SystemExit of status 1) if the package has no compiled plugin, as in a source tree.
    """
    path = find_file("libpetsccompound.so")
    if not path:
        import petsccompound
        raise Stop(f"no compiled plugin in {os.path.abspath(list(petsccompound.__path__)[0])}: this is the source, not "
                   "an installed package; install it (pip install .)")
    return path


def record() -> dict:
    """What the build wrote: the PETSc, whether there is a CUDA backend."""
    path = find_file(RECORD)
    if not path:
        plugin()  # says that nothing is built here
        raise Stop(f"{RECORD} is missing beside {plugin()}; {mending_command()}")
    import json
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def built_for() -> Petsc:
    """The PETSc that the plugin was built for."""
    petsc = record()["petsc"]
    return Petsc(petsc["folder"], petsc["arch"], petsc["version"], petsc["scalar"], int(petsc["index"]),
                 bool(petsc["cuda"]), petsc["library"])


def _source() -> str:
    """The folder that pip installed from, else where to be: metadata knows a folder, not an archive that is gone."""
    import json
    from importlib import metadata
    from urllib.parse import unquote, urlparse
    try:
        text = metadata.distribution("petsc-compound").read_text("direct_url.json")
        path = unquote(urlparse(json.loads(text)["url"]).path) if text else ""
    except (metadata.PackageNotFoundError, ValueError, KeyError):
        path = ""
    return path if path and os.path.exists(path) else "."


def mending_command(petsc: Petsc | None = None) -> str:
    """The command that builds the package anew. Without --no-cache-dir pip hands out the wheel that it kept."""
    variables = f"PETSC_DIR={petsc.folder} PETSC_ARCH={petsc.arch} " if petsc else ""
    source = _source()
    hint = " (in the folder of its source)" if source == "." else ""
    return (f"install it again: {variables}{sys.executable} -m pip install --no-cache-dir --force-reinstall "
            f"{source}{hint}")


def check_fit(found: Petsc) -> None:
    """Stop where the PETSc that runs, or will run, is not the one that the plugin was built for."""
    own = built_for()
    differ = differences(own, found)
    if differ:
        raise Stop(f"built for {own}, but this program runs {found} (other: {', '.join(differ)}); "
                   f"{mending_command(found)}")
