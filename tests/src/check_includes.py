#!/usr/bin/env python3
"""Checks which folders may include which (docs/architecture.md) by reading #include lines.

usage: check_includes.py [ROOT]      every violation on a line of its own; exit status 1 if there is any
       check_includes.py --self-test the rules against made-up violations
"""

import fnmatch
import pathlib
import re
import sys
import tempfile

FOLDERS = ("src", "plugin", "include")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# (files, headers that they must not include, why). Files are paths from the root; headers are paths from the root where
# the header is one of ours, else as written between <> or "". `!` takes back what an earlier pattern of its row said.
RULES = [
    (["src/*"], ["petsc*", "*/petsc*", "mpi.h", "mpi*.h"], "the core knows neither PETSc nor MPI"),
    (["src/*"], ["plugin/*", "include/*"], "the core does not know the plugin"),
    (["include/*"], ["src/*", "plugin/*", "!src/device/*", "!src/host_text/*"],
     "public headers stand on their own, and on the texts that are installed with them"),
    (["include/petsccompound.h"], ["src/*"], "the C header knows PETSc alone"),
    (["src/device/*"], ["*", "!src/device/*"], "device text includes nothing outside src/device, no standard header"),
    (["src/device/target.hpp"], ["*"], "target is the lowest layer"),
    (["src/device/layout/*"],
     ["src/device/entry/*", "src/device/spmv_*", "src/device/pack_values.hpp", "src/device/diagonal.hpp",
      "src/device/sum_lists.hpp", "src/device/operation.hpp"],
     "layouts know integers: no arithmetic, no entries, no kernels"),
    (["src/device/entry/*"], ["src/device/layout/*", "src/device/spmv_*", "src/device/pack_values.hpp",
                              "src/device/diagonal.hpp", "src/device/sum_lists.hpp"],
     "entries know arithmetic: no layouts, no kernels"),
    (["src/device/spmv_*", "src/device/pack_values.hpp", "src/device/diagonal.hpp"], ["src/device/entry/*"],
     "kernels take the entry as a parameter"),
    (["src/host_text/*"], ["*", "!src/host_text/*", "!src/device/*"],
     "the host's text of a user's kind is installed: it includes nothing but itself and the device text"),
    (["src/pattern/pattern.*"], ["src/*", "!src/pattern/pattern.hpp", "!src/base/*", "!src/device/target.hpp"],
     "patterns know no layouts, entries, devices"),
    (["src/layout/*"], ["src/device/*", "!src/device/target.hpp", "!src/device/layout/*"],
     "layout encoders know patterns and their own decoders"),
    (["src/plan/schedule.*"], ["src/*", "!src/plan/schedule.hpp", "!src/base/error.hpp", "!src/device/target.hpp"],
     "schedules know worker counts, no layout arrays"),
    (["src/storage/packed*"], ["src/device/entry/*", "src/device/spmv_*", "src/device/pack_*",
                                "src/device/diagonal.hpp", "src/device/sum_lists.hpp"],
     "packed matrices know backends by their interface only"),
    (["src/planner/tuner*", "src/planner/measurement*"], ["src/host/*", "src/device/*"],
     "tuners know costs, not how kernels work"),
    (["src/planner/wisdom*"], ["src/*", "!src/planner/wisdom*", "!src/base/*", "!src/pattern/pattern.hpp"],
     "wisdom keeps plans as text: it knows neither what they mean nor how they are measured"),
    (["src/host/simd/*"], ["*", "!src/host/simd/*", "!src/device/*", "!immintrin.h"],
     "text compiled for one instruction set shares no code with the rest, the standard library included"),
    (["plugin/*", "!plugin/tools/*"], ["src/device/layout/*", "src/device/entry/*", "src/device/spmv_*",
                                       "src/device/pack_values.hpp",
                                       "src/device/diagonal.hpp", "src/device/sum_lists.hpp", "src/host/*",
                                       "src/layout/*", "!src/layout/layout_spec.hpp"],
     "the plugin does not know layouts' internals"),
    (["plugin/petsc/*"], ["src/*", "!src/base/*"],
     "petsc/ knows PETSc, not what is packed"),
]

# Layers of the core: each knows itself and what is named; the files beside them, which list the backends, know all.
LAYERS = {
    "base": ["device"],
    "pattern": ["base", "device", "entry"],
    "entry": ["base", "device", "host_text"],
    "layout": ["base", "device", "pattern"],
    "plan": ["base", "device", "entry", "layout", "pattern"],
    "backend": ["base", "device", "layout", "plan"],
    "host": ["backend", "base", "device", "entry", "host_text", "layout", "pattern", "plan"],
    "storage": ["backend", "base", "device", "entry", "host", "layout", "pattern", "plan"],
    "planner": ["backend", "base", "device", "entry", "host", "layout", "pattern", "plan", "storage"],
    "cuda": ["backend", "base", "device", "entry", "host", "layout", "plan", "planner"],
}
RULES += [([f"src/{layer}/*"], ["src/*"] + [f"!src/{known}/*" for known in [layer] + below],
           f"{layer} knows {', '.join(below)} alone")
          for layer, below in LAYERS.items()]

# Folders of the plugin: each knows itself and those before it. Files beside them (registration, the C API) know all,
# programs (plugin/tools) know none.
PLUGIN_FOLDERS = ["petsc", "options", "values", "spmv", "view", "coo", "spgemm", "mat", "pc", "ksp"]
RULES += [([f"plugin/{folder}/*"],
           ["plugin/*"] + [f"!plugin/{known}/*" for known in PLUGIN_FOLDERS[:at + 1]],
           f"folders of the plugin know those before them: {' <- '.join(PLUGIN_FOLDERS)}")
          for at, folder in enumerate(PLUGIN_FOLDERS)]
RULES += [(["plugin/tools/*"],
           [f"plugin/{folder}/*" for folder in PLUGIN_FOLDERS] + ["!plugin/options/option_values.hpp"],
           "programs load the plugin, they do not look inside; how options are parsed is shared")]


def matches(path, patterns):
    verdict = False
    for pattern in patterns:
        if fnmatch.fnmatchcase(path, pattern.removeprefix("!")):
            verdict = not pattern.startswith("!")
    return verdict


def resolved(root, file, quote, header):
    """Path from the root of a header of ours; as written for anything else."""
    folders = [root / f for f in FOLDERS]
    if quote == '"':
        folders.insert(0, file.parent)
    for folder in folders:
        candidate = (folder / header).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return header


def includes(root):
    """(file, line number, resolved header, as written)."""
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"):
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if found := INCLUDE.match(line):
                    written = line.strip().split("include", 1)[1].strip()
                    yield file.relative_to(root).as_posix(), number, resolved(root, file, *found.groups()), written


def unit(path):
    """A header and its source are one."""
    return path.rsplit(".", 1)[0]


def layer(path):
    """src/host/simd/a.hpp -> src/host"""
    return "/".join(path.split("/")[:2])


def circles(root):
    """Units of the plugin and layers of the core that include each other, each circle once: "a -> b -> a"."""
    known = {}
    for file, _, header, _ in includes(root):
        for folder, part in (("plugin/", unit), ("src/", layer)):
            if file.startswith(folder) and header.startswith(folder) and part(file) != part(header):
                known.setdefault(part(file), set()).add(part(header))
    found, done = [], set()

    def follow(at, way):
        if at in way:
            found.append(" -> ".join(way[way.index(at):] + [at]))
        elif at not in done:
            for header in sorted(known.get(at, ())):
                follow(header, way + [at])
            done.add(at)

    for at in sorted(known):
        follow(at, [])
    return found


def violations(root):
    root = root.resolve()
    return [f"{circle}: a circle of includes" for circle in circles(root)] + [
        f"{file}:{number}: includes {written}: {why}"
            for file, number, header, written in includes(root)
            for files, forbidden, why in RULES
            if matches(file, files) and matches(header, forbidden)]


# file -> (line, whether it is a violation)
SELF_TEST = [
    ("src/host/simd/x.hpp", "#include <algorithm>", True),
    ("src/host/simd/x.hpp", "#include <immintrin.h>", False),
    ("src/host/simd/x.hpp", '#include "../../device/entry/dense.hpp"', False),
    ("plugin/tools/bench/x.cpp", '#include "device/entry/dense.hpp"', False),
    ("src/pattern/pattern.cpp", "#include <petscmat.h>", True),
    ("src/host/kernels.cpp", '#  include "mpi.h"', True),
    ("src/storage/packed.cpp", '#include "petsc/private/matimpl.h"', True),
    ("src/storage/packed.cpp", '#include "backend/backend.hpp"', False),
    ("src/storage/packed.cpp", "#include <vector>", False),
    ("src/storage/packed.cpp", "// #include <petscmat.h>", False),
    ("src/storage/packed.cpp", '#include "../plugin/petsc/base_type.hpp"', True),
    ("src/storage/packed.cpp", '#include "petsccompound.h"', True),
    ("src/device/target.hpp", '#include "operation.hpp"', True),
    ("src/device/spmv_rows.hpp", "#include <cmath>", True),
    ("src/device/spmv_rows.hpp", "#include <cuda_fp16.h>", True),
    ("src/device/spmv_rows.hpp", '#include "../pattern/pattern.hpp"', True),
    ("src/device/spmv_rows.hpp", '#include "layout/slices.hpp"', False),
    ("src/device/spmv_rows.hpp", '#include "entry/dense.hpp"', True),
    ("src/device/layout/slices.hpp", '#include "../entry/dense.hpp"', True),
    ("src/device/layout/slices.hpp", '#include "../spmv_rows.hpp"', True),
    ("src/device/layout/slices.hpp", '#include "../target.hpp"', False),
    ("src/device/entry/dense.hpp", '#include "../layout/slices.hpp"', True),
    ("src/device/entry/dense.hpp", '#include "../operation.hpp"', False),
    ("src/pattern/pattern.hpp", '#include "layout/layout.hpp"', True),
    ("src/pattern/pattern.hpp", '#include "device/target.hpp"', False),
    ("src/layout/slices.cpp", '#include "device/entry/dense.hpp"', True),
    ("src/layout/slices.cpp", '#include "../pattern/pattern.hpp"', False),
    ("src/plan/schedule.hpp", '#include "layout/layout.hpp"', True),
    ("src/plan/plan.cpp", '#include "backend/backend.hpp"', True),
    ("src/host/backend.cpp", '#include "storage/packed.hpp"', True),
    ("src/host/backend.cpp", '#include "host/kernels.hpp"', False),
    ("src/storage/packed.cpp", '#include "device/entry/dense.hpp"', True),
    ("src/base/files.cpp", '#include "plan/plan.hpp"', True),
    ("src/plan/plan.cpp", '#include "storage/packed.hpp"', True),
    ("src/backends.cpp", '#include "host/kernels.hpp"', False),
    ("src/planner/wisdom.cpp", '#include "storage/packed.hpp"', True),
    ("src/planner/wisdom_file.cpp", '#include "pattern/pattern.hpp"', False),
    ("src/base/files.cpp", '#include "pattern/pattern.hpp"', True),
    ("src/planner/tuner.cpp", '#include "device/spmv_rows.hpp"', True),
    ("plugin/spmv/state.hpp", '#include "storage/packed.hpp"', False),
    ("plugin/spmv/state.hpp", "#include <petscmat.h>", False),
    ("plugin/spmv/state.hpp", '#include "device/layout/slices.hpp"', True),
    ("plugin/spmv/state.hpp", '#include "petsc/base_type.hpp"', False),
    ("plugin/spmv/state.hpp", '#include "mat/attach.hpp"', True),
    ("plugin/spmv/state.hpp", '#include "../capi.cpp"', True),
    ("plugin/petsc/base_type.hpp", '#include "storage/packed.hpp"', True),
    ("plugin/petsc/base_type.hpp", '#include "spmv/state.hpp"', True),
    ("plugin/pc/pbjacobi.cpp", '#include "mat/attach.hpp"', False),
    ("plugin/mat/attach.hpp", '#include "pc/pbjacobi.cpp"', True),
    ("plugin/capi.cpp", '#include "mat/attach.hpp"', False),
    ("plugin/tools/bench/x.cpp", '#include "mat/attach.hpp"', True),
    ("include/petsccompound.h", '#include "storage/packed.hpp"', True),
    ("include/petsccompound.h", "#include <petscmat.h>", False),
]

SELF_TEST_FILES = [
    "src/backend/backend.hpp", "src/host/kernels.hpp", "src/layout/layout.hpp", "src/storage/packed.hpp",
    "src/pattern/pattern.hpp", "src/plan/plan.hpp",
    "src/device/target.hpp", "src/device/operation.hpp", "src/device/spmv_rows.hpp", "src/device/layout/slices.hpp",
    "src/device/entry/dense.hpp", "plugin/petsc/base_type.hpp", "plugin/spmv/state.hpp", "plugin/mat/attach.hpp",
    "plugin/pc/pbjacobi.cpp", "plugin/capi.cpp", "include/petsccompound.h",
]

# Files with what they include -> circles.
SELF_TEST_OF_CIRCLES = [
    ({"plugin/petsc/a.hpp": "petsc/b.hpp", "plugin/petsc/b.cpp": "petsc/c.hpp", "plugin/petsc/b.hpp": "",
      "plugin/petsc/c.hpp": "petsc/a.hpp"},
     ["plugin/petsc/a -> plugin/petsc/b -> plugin/petsc/c -> plugin/petsc/a"]),
    ({"plugin/petsc/a.hpp": "", "plugin/petsc/a.cpp": "petsc/a.hpp", "plugin/petsc/b.hpp": "petsc/a.hpp",
      "plugin/petsc/c.hpp": "petsc/a.hpp", "plugin/petsc/d.hpp": "petsc/b.hpp",
      "plugin/petsc/d.cpp": "petsc/c.hpp"}, []),
    ({"src/base/a.hpp": "pattern/b.hpp", "src/pattern/b.hpp": "", "src/pattern/c.hpp": "base/d.hpp",
      "src/base/d.hpp": ""}, ["src/base -> src/pattern -> src/base"]),
]


def found_in(file, line):
    """The rules' verdict on one line in a tree of otherwise empty files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in SELF_TEST_FILES + [file]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("#pragma once\n" + (line + "\n" if name == file else ""), encoding="utf-8")
        return violations(root)


def self_test():
    wrong = 0
    for file, line, expected in SELF_TEST:
        found = found_in(file, line)
        if bool(found) != expected or any(f"{file}:2: includes" not in message for message in found):
            wrong += 1
            print(f"self-test: {file}: {line}: expected {'a violation' if expected else 'none'}, found {found}")
    for files, expected in SELF_TEST_OF_CIRCLES:
        with tempfile.TemporaryDirectory() as folder:
            for name, header in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f'#include "{header}"\n' if header else "", encoding="utf-8")
            if (found := circles(pathlib.Path(folder).resolve())) != expected:
                wrong += 1
                print(f"self-test: circles: expected {expected}, found {found}")
    print(f"self-test: {len(SELF_TEST)} lines, {len(SELF_TEST_OF_CIRCLES)} trees, {wrong} wrong")
    return wrong


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    root = pathlib.Path(arguments[0] if arguments else ".")
    if not (root / "src").is_dir():
        print(f"{root} has no src folder; usage: check_includes.py [ROOT]")
        return 2
    found = violations(root)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(found)} violations in {sum(1 for _ in includes(root.resolve()))} includes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
