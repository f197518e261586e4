"""PETSc's test and tutorial programs: where their sources are, and the cases that PETSc itself runs them with."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field

SAMPLE = "mat/tests/ex5.c"  # of every release


class NoSources(Exception):
    pass


@dataclass
class Sources:
    """`src` holds mat/tests/ex5.c and so on; `data` is PETSc's share/petsc/datafiles."""

    src: str
    data: str


def below(folder):
    """The sources below one of the usual trees, or None."""
    for src, data in (("src", "share/petsc/datafiles"), ("share/petsc/examples/src", "share/petsc/datafiles"),
                      ("examples/src", "datafiles"), (".", "../share/petsc/datafiles"), (".", "../../datafiles")):
        if os.path.exists(os.path.join(folder, src, SAMPLE)):
            return Sources(*(os.path.normpath(os.path.join(folder, part)) for part in (src, data)))
    return None


def release_of(folder):
    """3.26.1 of PETSc's own sources, from petscversion.h beside them; None where it is not there (Debian's
    examples)."""
    path = os.path.join(folder, "..", "include", "petscversion.h")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        text = file.read()
    parts = [re.search(rf"#define PETSC_VERSION_{part}\s+(\d+)", text) for part in ("MAJOR", "MINOR", "SUBMINOR")]
    return ".".join(p.group(1) for p in parts) if all(parts) else None


def unpack(archive, folder):
    """Of an archive only what programs need; returns the folder that it made."""
    wanted = re.compile(r"^[^/]+/(src/.*\.(c|cxx|h|dat|txt|mtx|bin|yaml|msh|cu)$|src/.*/(tests|tutorials)/[^.]*$|"
                        r"share/petsc/datafiles/|include/petscversion\.h$)")
    with tarfile.open(archive) as tar:
        members = [m for m in tar if (m.isfile() or m.isdir()) and wanted.match(m.name)]
        if not members:
            raise NoSources(f"{archive} holds no PETSc sources (src/{SAMPLE})")
        for m in members:
            if ".." in m.name.split("/") or m.name.startswith("/"):
                raise NoSources(f"{archive}: '{m.name}' leaves the folder")
        target = os.path.join(folder, members[0].name.split("/")[0])
        if not os.path.exists(target):  # unpacked beside, so that a folder of this name is whole
            os.makedirs(folder, exist_ok=True)
            beside = tempfile.mkdtemp(dir=folder)
            try:
                tar.extractall(beside, members=members)
                if not os.path.exists(target):  # another build's test may have been faster
                    os.rename(os.path.join(beside, os.path.basename(target)), target)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        return target


def download(release, folder):
    """PETSc's sources of this release, as its package on PyPI has them; an archive that is there already is taken."""
    os.makedirs(folder, exist_ok=True)
    archive = os.path.join(folder, f"petsc-{release}.tar.gz")
    if os.path.exists(archive):
        return archive
    beside = tempfile.mkdtemp(dir=folder)  # other builds' tests may do the same: whole or not there
    try:
        command = [sys.executable, "-m", "pip", "download", f"petsc=={release}", "--no-deps", "--no-binary", ":all:",
                   "-d", beside]
        done = subprocess.run(command, capture_output=True, text=True)
        made = os.path.join(beside, os.path.basename(archive))
        if done.returncode or not os.path.exists(made):
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise NoSources(f"downloading PETSc {release} failed: {' '.join(command)}: {' '.join(last)}")
        os.replace(made, archive)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return archive


def find(release, given, folder, may_download=True):
    """The sources of `release` (such as 3.26.1): a folder or archive that was given, Debian's examples, or downloaded
    into `folder`. Raises NoSources with what was tried."""
    if given:
        if os.path.isfile(given):
            given = unpack(given, folder)
        found = (
            below(given) or next((s for s in map(below, sorted(glob.glob(os.path.join(given, "petsc-*")))) if s), None)
        )
        if not found:
            raise NoSources(f"no src/{SAMPLE} below {given}; give the folder of PETSc's sources, or the archive "
                            f"petsc-{release}.tar.gz")
        other = release_of(found.src)
        if other and other != release:
            raise NoSources(f"the sources in {given} are of PETSc {other}, the PETSc in use is {release}")
        return found
    short = ".".join(release.split(".")[:2])
    for place in (os.path.join(folder, f"petsc-{release}"), f"/usr/share/petsc/{short}"):
        if below(place):
            return below(place)
    remedy = (
        f"install libpetsc{short}-dev-examples (Debian) or name sources of PETSc {release} by --sources or "
        "COMPOUND_PETSC_SOURCES"
    )
    if not may_download:
        raise NoSources(f"no sources of PETSc {release}'s programs; {remedy}")
    try:
        return below(unpack(download(release, folder), folder))
    except NoSources as none:
        raise NoSources(f"{none}; {remedy}") from None


@dataclass
class Test:
    """One test of a /*TEST block, loops {{a b}} taken apart."""

    program: str
    suffix: str = ""
    ranks: int = 1
    args: str = ""
    requires: list = field(default_factory=list)
    filtered: bool = False


def block_of(text):
    """The lines of the /*TEST block, as nested lists [(key, value, [children])]."""
    match = re.search(r"/\*TEST(.*?)TEST\*/", text, re.S)
    if not match:
        return []
    root = (-1, [])
    stack = [root]
    for line in match.group(1).replace("\\\n", " ").splitlines():
        if not line.strip() or line.strip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        key, _, value = re.sub(r" #.*", "", line).strip().partition(":")
        while len(stack) > 1 and stack[-1][0] >= indent:
            stack.pop()
        children = []
        stack[-1][1].append((key.strip(), value.strip(), children))
        stack.append((indent, children))
    return root[1]


def loops(text):
    """'-a {{1 2}}' gives '-a 1' and '-a 2'; all combinations."""
    match = re.search(r"\{\{(.*?)\}(?:separate|shared)?(?:[ _]output)?\}", text)
    if not match:
        return [text]
    return [t for word in match.group(1).split() for t in loops(text[:match.start()] + word + text[match.end():])]


def tests_of(path, program):
    with open(path, errors="replace") as file:
        blocks = block_of(file.read())
    build = [value for key, _, children in blocks if key == "build" for k, value, _ in children if k == "requires"]
    result = []

    def add(children, args, ranks, requires, suffix, filtered):
        own = {}
        for key, value, _ in children:
            if key in ("args", "requires"):
                own[key] = f"{own.get(key, '')} {value}".strip()
            else:
                own.setdefault(key, value)
        args = f"{args} {own.get('args', '')}".strip()
        ranks = own.get("nsize", ranks)
        requires = requires + own.get("requires", "").split()
        suffix = "_".join(s for s in (suffix, own.get("suffix", "")) if s)
        filtered = filtered or "filter" in own
        inner = [c for key, _, c in children if key == "test"]
        if inner:
            for child in inner:
                add(child, args, ranks, requires, suffix, filtered)
            return
        if "TODO" in own or "SKIP" in own:
            return
        for n in loops(ranks):
            for a in loops(args):
                result.append(Test(program, suffix, int(n), a, requires, filtered))

    for key, _, children in blocks:
        if key in ("test", "testset"):
            add(children, "", "1", " ".join(build).split(), "", False)
    return result
