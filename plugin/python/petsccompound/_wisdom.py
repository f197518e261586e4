"""The wisdom file: which plans were measured to be the fastest.

Format and rules are those of src/planner/wisdom.cpp.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass

from ._running import petsc_if_running

_LINE = re.compile(
    r'plan1 device="(?P<device>[^"]+)" versions="(?P<versions>[^"]+)" problem="(?P<problem>[^"]+)"'
    r' pattern="(?P<pattern>[0-9a-f]{16})" class="(?P<pattern_class>[^"]+)" plan="(?P<plan>[^"]+)"'
    r' seconds="(?P<seconds>[^"]+)" gain="(?P<gain>[^"]+)" effort="(?P<effort>[^"]+)"')
_CHECK = re.compile(r'(?P<beginning>.*) check="(?P<check>[0-9a-f]{32})"')
_LARGEST, _LONGEST = 16 << 20, 4096


@dataclass(frozen=True)
class WisdomEntry:
    """One plan that was measured."""

    device: str  #: name of the GPU; of the host the processor and its instruction set
    versions: str  #: of this package and of the driver: other versions do not use the entry
    problem: str  #: block size, scalars, block format, precision
    pattern: str  #: fingerprint of the sparsity pattern
    pattern_class: str  #: of similar patterns: size, row lengths, scatter
    plan: str  #: what ``-mat_compound_plan`` takes
    seconds: float  #: of one product
    gain: float  #: time of the default heuristic's plan over this plan's time
    effort: str  #: how it was found


@dataclass(frozen=True)
class Wisdom:
    """What a wisdom file holds."""

    file: str  #: its path; empty if wisdom is switched off (``-mat_compound_wisdom none``)
    problem: str  #: why the file is not used; empty if it is, or is not there
    entries: tuple[WisdomEntry, ...]  #: all of them, the oldest first
    here: tuple[WisdomEntry, ...]  #: those for this processor and the GPUs of this machine, and this version


def _hash(text: bytes) -> str:
    """128-bit FNV-1a of the length (8 bytes, the lowest first) and the text, as src/base/hash.hpp makes it."""
    state, prime, mask = 0x6c62272e07bb014262b821756295c58d, (1 << 88) + 0x13b, (1 << 128) - 1
    for byte in len(text).to_bytes(8, "little") + text:
        state = (state ^ byte) * prime & mask
    return f"{state:032x}"


def _entry(line: str) -> WisdomEntry | None:
    """Of a line that is whole; None for damaged ones and those of a newer form."""
    whole = _CHECK.fullmatch(line) if len(line) <= _LONGEST else None
    found = _LINE.fullmatch(whole["beginning"]) if whole else None
    if not whole or not found or _hash(whole["beginning"].encode()) != whole["check"]:
        return None
    try:
        return WisdomEntry(**{**found.groupdict(), "seconds": float(found["seconds"]), "gain": float(found["gain"])})
    except ValueError:
        return None


def _read(path: str) -> tuple[str, str]:
    """The text of a file and why it is not used: of another user, or writable by others."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return "", ""
    except OSError as reason:
        return "", f"{path} cannot be opened: {reason.strerror}"
    if not stat.S_ISREG(status.st_mode):
        return "", f"{path} is not a regular file"
    if status.st_uid not in (os.geteuid(), 0):
        return "", f"{path} belongs to another user ({status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "", f"{path} may be written by others; chmod go-w {path} would let it be used"
    if status.st_size > _LARGEST:
        return "", f"{path} is larger than 16 MB; remove it to begin anew"
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read()
    except OSError as reason:
        return "", f"{path} cannot be read: {reason.strerror}"
    if text and not re.search(r"^plan[1-9]\d* ", text, re.M):
        return "", f"{path} has no line of wisdom"
    return text, ""


def _file() -> str:
    """The file that matrices without an options prefix use."""
    from ._machine import cache_folder
    PETSc = petsc_if_running()
    asked = PETSc.Options().getString("mat_compound_wisdom", "auto") if PETSc is not None else "auto"
    if asked == "none":
        return ""
    if asked != "auto":
        return os.path.abspath(asked)
    folder = cache_folder()
    return folder + "/wisdom" if folder else ""


def wisdom(file: str | None = None) -> Wisdom:
    """What was measured before, as ``-mat_compound_tune measure`` and ``exhaustive`` write it.

    Args:
        file: A wisdom file. By default the one in use: that of the option ``-mat_compound_wisdom`` if PETSc runs, else
            ``petsc-compound/wisdom`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.

    Returns:
        A :class:`Wisdom`. A file that is not there, or cannot be used, has no entries; `problem` says why not.
        Damaged lines are left out, as products leave them out.
    """
    from . import __version__
    from ._machine import devices, driver_version, processor
    path = _file() if file is None else os.path.abspath(file)
    text, problem = _read(path) if path else ("", "")
    latest: dict[tuple[str, ...], WisdomEntry] = {}
    for line in text.split("\n"):
        entry = _entry(line)
        if entry:
            key = (entry.device, entry.versions, entry.problem, entry.pattern, entry.pattern_class)
            latest.pop(key, None)
            latest[key] = entry
    release = f"petsc-compound {__version__}"
    machines = {(processor(), release)}
    if latest:  # asking the driver takes its time
        machines |= {(device.name, f"{release}, driver {driver_version()}") for device in devices()}
    entries = tuple(latest.values())
    return Wisdom(path, problem, entries, tuple(e for e in entries if (e.device, e.versions) in machines))
