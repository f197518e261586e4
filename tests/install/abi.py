#!/usr/bin/env python3
"""The binary interface (ABI) of the plugin, against its description at the last release in config/abi.

usage: abi.py [--build FOLDER]               compares; exit status 1: a change breaks programs and is not announced
       abi.py [--build FOLDER] --write       describes this version, in place of the last release
       abi.py [--build FOLDER] --self-test   changes copies of the headers; each change that breaks must be found

FOLDER is a finished build (default: build/host). The name of the description says of which version and which PETSc it
is; for a build with another PETSc nothing is compared, as its types differ. Needs abidw and abidiff (Debian's package
abigail-tools). Exit status 77: skipped, with the reason.

Types come from the public headers: a library of empty functions is made of their declarations, with debug information.
The plugin itself has none; it is compared by its symbols.
"""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "config"))
import versions  # noqa: E402

HEADERS = ("petsccompound.h", "petsccompound/register_entry.hpp")
TEXTS = ("include", "src/device", "src/host_text")  # of which the public headers are
# What -dll_append looks for; no header declares it.
REGISTER = "PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petsccompound(void)"
# Nothing of the machine, and nothing that users cannot reach.
ABIDW = ["abidw", "--exported-interfaces-only", "--no-corpus-path", "--no-show-locs", "--no-comp-dir-path",
         "--no-elf-needed", "--no-architecture", "--no-parameter-names", "--no-write-default-sizes"]
ABIDIFF = ["abidiff", "--no-architecture", "--no-added-syms", "--harmless"]
INFO = re.compile(r"(typedef struct \{\n)(.*?)(\} MatCompoundInfo;)", re.S)


def run(command, cwd=None, good=(0,)):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode not in good:
        sys.exit(f"error: {shlex.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done


class Build:
    """What a build folder says of itself: name (3.18-real-32), plugin, compiler with PETSc's and MPI's headers."""

    def __init__(self, folder):
        record, commands = folder / "python/built_for.json", folder / "compile_commands.json"
        self.plugin = folder / "plugin/libpetsccompound.so"
        for file in (record, commands, self.plugin):
            if not file.is_file():
                sys.exit(f"error: {file} is not there; --build names a finished build (default: build/host)")
        petsc = json.loads(record.read_text())["petsc"]
        release = ".".join(petsc["version"].split(".")[:2])
        self.name = f"{release}-{petsc['scalar']}-{petsc['index']}" + ("-cuda" if petsc["cuda"] else "")
        command = next(row["command"] for row in json.loads(commands.read_text())
                       if row["file"].endswith("/plugin/capi.cpp"))
        words = shlex.split(command)
        system = [f"-isystem{words[at + 1]}" for at, word in enumerate(words) if word == "-isystem"]
        compiler = next(word for word in words if word.endswith("++") or "++-" in word)
        self.compile = [compiler, "-std=c++20", "-DOMPI_SKIP_MPICXX", *system]


def library(root, build, folder, members=None):
    """A library of empty functions with the types of root's public headers. With `members`, MatCompoundInfo has its
    first ones only: it may grow at its end, as callers say how large theirs is."""
    folder.mkdir(parents=True)
    texts = {name: (root / "include" / name).read_text() for name in HEADERS}
    if members:
        texts[HEADERS[0]] = INFO.sub(lambda m: m[1] + "".join(m[2].splitlines(True)[:members]) + m[3],
                                     texts[HEADERS[0]])
    (folder / HEADERS[0]).write_text(texts[HEADERS[0]])
    declared = [REGISTER]
    for text in texts.values():
        declared += re.findall(r"^(PETSC_EXTERN [^;]*);", text, re.M)
    lines = [f"#include <{name}>" for name in HEADERS] + [line + " { return {}; }" for line in declared]
    (folder / "functions.cpp").write_text("\n".join(lines) + "\n")
    run([*build.compile, "-I.", f"-I{root}/include", f"-I{root}/src", "-g", "-O0", "-fPIC", "-shared",
         "-fvisibility=hidden", "-Wl,-soname,libpetsccompound.so", "-o", "functions.so", "functions.cpp"], cwd=folder)
    return folder / "functions.so"


def describe(root, build, folder, file):
    run([*ABIDW, "--out-file", file, library(root, build, folder)])


def differences(description, libraries):
    """What abidiff says of changes that break programs; nothing if there are none."""
    done = [run([*ABIDIFF, description, found], good=(0, 4, 8, 12)) for found in libraries]  # 4: changed, 8: it breaks
    return next((one.stdout.strip() for one in done if one.returncode), "")


def now(description, root, build, folder):
    """What is compared: the headers' types, and the plugin's symbols."""
    known = xml.etree.ElementTree.parse(description).find(".//class-decl[@name='MatCompoundInfo']")
    return [library(root, build, folder, len(known)), build.plugin]


def not_announced(root, last):
    """Why a change that breaks programs of the release `last` may not be made; nothing if it may."""
    version = versions.found(root, *versions.PLACES[0])
    first_two = [[int(number) for number in text.split(".")[:2]] for text in (version, last)]
    if first_two[0] <= first_two[1]:
        yield f"raise the first or the second number of the version, {version} (config/versions.py says where it is)"
    if not re.search(r"^- ABI: ", versions.notes(root), re.M):
        yield "begin a line of the newest section of CHANGELOG.md with '- ABI: '"


def compare(build, folder, description, last):
    found = differences(description, now(description, ROOT, build, folder))
    if not found:
        print(f"programs that were compiled with {last} work with this plugin")
        return
    print(found)
    missing = list(not_announced(ROOT, last))
    if missing:
        sys.exit("\n".join([f"error: this breaks programs that were compiled with {last}. Undo it, or announce it:",
                            *(f"- {line}" for line in missing)]))
    print(f"this breaks programs that were compiled with {last}, as CHANGELOG.md says")


def write(build, folder):
    version = versions.found(ROOT, *versions.PLACES[0])
    file = ROOT / f"config/abi/{version}-{build.name}.abi"
    for old in file.parent.glob("*.abi"):
        old.unlink()
    describe(ROOT, build, folder / "described", file)
    found = differences(file, now(file, ROOT, build, folder / "compared"))
    if found:
        sys.exit(f"{found}\nerror: {build.plugin} was not built of these headers; build it again")
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} KB")


# Headers that are changed together: [(file, text there, its replacement)], and the functions that abidiff then names.
HEADER, MEMBER = "include/petsccompound.h", "  PetscInt64 device_bytes;"
CHANGES = [
    ([(HEADER, "} MatCompoundInfo;", "  PetscInt64 more;\n} MatCompoundInfo;\n"
       "PETSC_EXTERN PetscErrorCode MatCompoundNew(Mat A);")], []),
    ([(HEADER, MEMBER, f"  PetscInt64 more;\n{MEMBER}"),
      (HEADER, "MatCompoundTune(Mat A,", "MatCompoundTuned(Mat A,"),
      (HEADER, "MatCompoundSetLayout(Mat A,", "MatCompoundSetLayout(Mat A, int n,"),
      ("src/host_text/host_entry.hpp", "  trial_found (*trial)() = nullptr;",
       "  void* more = nullptr;\n  trial_found (*trial)() = nullptr;")],
     ["MatCompoundGetInfoSized(", "MatCompoundTune(", "MatCompoundSetLayout(", "MatCompoundRegisterHostEntry("]),
]
# A version after 0.1.0, a line of its changelog, and how many reasons there are against a change that breaks.
ANNOUNCED = [("0.2.0", "- ABI: new", 0), ("1.0.0", "- ABI: new", 0), ("0.2.0", "- New", 1), ("0.1.1", "- ABI: new", 1),
             ("0.1.0", "- New", 2)]


def self_test(build, folder):
    wrong = []
    base = folder / "base.abi"
    describe(ROOT, build, folder / "base", base)
    for at, (changes, wanted) in enumerate(CHANGES):
        tree = folder / f"tree{at}"
        for text in TEXTS:
            shutil.copytree(ROOT / text, tree / text)
        for name, there, then in changes:
            text = (tree / name).read_text()
            if text.count(there) != 1:
                sys.exit(f"error: {name} has '{there}' {text.count(there)} times; mend the table CHANGES of abi.py")
            (tree / name).write_text(text.replace(there, then))
        changed = now(base, tree, build, folder / f"changed{at}")[0]
        found = differences(base, [changed])
        if not all(text in found for text in wanted) or (found and not wanted):
            wrong.append(f"{changes}: wanted {wanted}, found: {found}")
    run(["strip", "--strip-debug", changed])  # as the plugin is, which has lost a symbol here
    found = differences(base, [changed])
    if "MatCompoundTune(" not in found:
        wrong.append(f"a plugin without MatCompoundTune(): found: {found}")
    for version, line, reasons in ANNOUNCED:
        (folder / "CMakeLists.txt").write_text(f"project(petsc-compound VERSION {version} LANGUAGES C)\n")
        (folder / "CHANGELOG.md").write_text(f"## {version} - 2027-01-01\n\n{line}\n\n"
                                             "## 0.1.0 - 2026-01-01\n\n- ABI: old\n")
        found = list(not_announced(folder, "0.1.0"))
        if len(found) != reasons:
            wrong.append(f"version {version}, '{line}': wanted {reasons} reasons, found {found}")
    if wrong:
        sys.exit("\n".join(["error: changes were not found, or found without need:", *wrong]))
    print("every change that breaks programs was found, and nothing else")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/host")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true")
    what.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    for program in ("abidw", "abidiff"):
        if not shutil.which(program):
            skip(f"{program} is not here (Debian and Ubuntu have it in the package abigail-tools)")
    build = Build(args.build.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        if args.write:
            write(build, folder)
        elif args.self_test:
            self_test(build, folder)
        else:
            described = list((ROOT / "config/abi").glob("*.abi"))
            if len(described) != 1:
                sys.exit(f"error: config/abi has {len(described)} descriptions; abi.py --write leaves the one needed")
            last, _, of = described[0].stem.partition("-")
            if of != build.name:
                skip(f"config/abi describes the plugin for {of}; this one is for {build.name}, which has other types")
            compare(build, folder / "now", described[0], last)


if __name__ == "__main__":
    main()
