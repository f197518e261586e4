#!/usr/bin/env python3
"""docs/reference is what the source says: compares it, and changes a copy of the source and of the pages to see that
each difference is found.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# (file, text there, its replacement, what is said)
CHANGES = [
    ("plugin/options/options.cpp", '{"view", ', '{"sight", ', "options.md differs"),
    ("plugin/tools/bench/options.cpp", '"-types",', '"-kinds",', "compound-bench.md differs"),
    ("src/plan/keywords.cpp", '{"presence", ', '{"presense", ', "the keyword presense of the source is missing"),
    ("src/plan/codes.cpp", '{"scalars8", ', '{"scalars4", ', "`codes=scalars8` is no keyword"),
    ("src/layout/layout_spec.cpp", '"compressed block rows"', '"rows"', "types.md differs"),
    ("include/petsccompound.h", '"aijcompoundcsr"', '"aijcompoundcrs"', "has the types ['aijcompoundcrs']"),
    ("include/petsccompound.h", "MatCompoundGetInfo(Mat A,", "MatCompoundGetInfo(Mat B,", "c.md differs"),
    ("plugin/petsc/log.cpp", '"MatCompoundTune"', '"MatCompoundTime"', "registers ["),
    ("src/host/instruction_set.cpp", "COMPOUND_HOST_SIMD", "COMPOUND_HOST_CODE", "environment.md: COMPOUND_HOST_SIMD"),
    ("docs/reference/plans.md", "| `simd`, `plain` |", "| `simd`, `plane` |", "`plane` is no keyword"),
    ("docs/reference/environment.md", "`COMPOUND_NVRTC`", "`COMPOUND_NVCC`", "COMPOUND_NVRTC, which the source reads"),
    ("plugin/python/petsccompound/_matrix.py", "def tune(A: PETSc.Mat, effort", "def tune(A: PETSc.Mat, work",
     "python.md differs"),
]


def check(root):
    done = subprocess.run([sys.executable, "-B", root / "docs/reference/make_reference.py", "--check"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    code, said = check(ROOT)
    wrong = [said] if code != 0 or said else []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for part in ("docs/reference", "src", "plugin", "include"):
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        for file, text, other, expected in [] if wrong else CHANGES:
            path = root / file
            original = path.read_text(encoding="utf-8")
            path.write_text(original.replace(text, other), encoding="utf-8")
            code, said = check(root)
            path.write_text(original, encoding="utf-8")
            if text not in original:
                wrong.append(f"{file} has no '{text}': name another change in {__file__}")
            elif code == 0 or expected not in said:
                wrong.append(f"{file} with '{other}': expected '{expected}', exit status {code}, said: {said}")
    print(*wrong, f"{len(CHANGES)} changes, {len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
