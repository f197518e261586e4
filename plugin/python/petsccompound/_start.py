"""init() and options(): how the plugin comes to a program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _running
from ._built import check_fit, plugin

LIBRARIES = "-dll_append"


def _words(argv: str | Iterable[object] | None) -> list[str]:
    if argv is None:
        return []
    if isinstance(argv, str):
        import shlex
        return shlex.split(argv)
    return [text for text in map(str, argv) if text]


def _is_option(word: str) -> bool:
    """As PETSc tells options from values, which may be negative numbers."""
    return word.startswith("-") and word[1:2] not in tuple(".0123456789") and word != "-"


def _as_words(options: dict[str, Any]) -> list[str]:
    """{"ksp_rtol": 1e-8, "ksp_view": None} as ["-ksp_rtol", "1e-08", "-ksp_view"]."""
    words = []
    for name, value in options.items():
        words.append("-" + name.lstrip("-"))
        if value is not None:
            words.append(str(value).lower() if isinstance(value, bool) else str(value))
    return words


def _insert(PETSc: Any, words: list[str]) -> None:
    """Into the options of a PETSc that runs, in place of values that are there."""
    database = PETSc.Options()
    for at, word in enumerate(words):
        if _is_option(word):
            follows = words[at + 1] if at + 1 < len(words) else None
            database.setValue(word[1:], follows if follows is not None and not _is_option(follows) else None)


def init(argv: str | Iterable[object] | None = None, **options: Any) -> None:
    """Starts PETSc, unless it runs already, and registers the types of this plugin with it.

    Call it before ``from petsc4py import PETSc``, or after it, or after another library has started PETSc
    (``slepc4py.init()``, DOLFINx). It may be called again.

    Args:
        argv: Options of PETSc as a list, such as ``sys.argv``, or as one string. Before PETSc runs they are handed to
            ``petsc4py.init()``. Afterwards they are added to PETSc's options in place of the values there; options
            that PETSc reads only when it starts (``-log_view``) then come too late.
        **options: Options by name, without the hyphen: ``mat_type="baijcompound", ksp_rtol=1e-8``. Booleans become
            true and false; None stands for an option without a value (``ksp_view=None``). Options in `argv` win.

    Raises:
        Stop: (a SystemExit: one line, status 1) if petsc4py is not here, or if its PETSc is not the one that the plugin
            was built for. PETSc has not seen the plugin then.
        petsc4py.PETSc.Error: if PETSc refuses the plugin.
    """
    words = _words(argv)
    program = [] if not words or words[0].startswith("-") else words[:1]
    words = _as_words(options) + words[len(program):]
    PETSc = _running.petsc_if_running()
    if PETSc is not None:
        _insert(PETSc, words)
    else:
        petsc4py = _running.import_petsc4py()
        found = _running.configured()
        if found is not None:
            check_fit(found)
        petsc4py.init(program + words)
    _running.load()


def options(argv: str | Iterable[object] | None = None, **options: Any) -> list[str]:
    """The options that make PETSc load the plugin, for a program that calls ``petsc4py.init()`` itself.

    PETSc keeps one value of ``-dll_append``. If `argv` or the variable PETSC_OPTIONS has one, its libraries come into
    the same list.

    Args:
        argv: The program's own options (``sys.argv``), which follow in the result.
        **options: As in :func:`init`.

    Returns:
        ``["-dll_append", path, ...]``, after the program's name if `argv` begins with one.

    Raises:
        Stop: (a SystemExit: one line, status 1) as :func:`init` does. Without petsc4py nothing is compared.
    """
    try:
        found = _running.configured()
    except SystemExit:
        found = None  # for a program that is not Python's
    if found is not None:
        check_fit(found)
    import shlex
    words = _words(argv)
    program = [] if not words or words[0].startswith("-") else words[:1]
    words = words[len(program):]
    libraries = [plugin()]
    for place in (shlex.split(os.environ.get("PETSC_OPTIONS", "")), words):
        given = [place[at + 1] for at, word in enumerate(place[:-1]) if word == LIBRARIES]
        libraries += [name for name in (given[-1].split(",") if given else []) if name not in libraries]
    rest = [word for at, word in enumerate(words)
            if word != LIBRARIES and not (at and words[at - 1] == LIBRARIES)]
    return program + [LIBRARIES, ",".join(libraries)] + _as_words(options) + rest
