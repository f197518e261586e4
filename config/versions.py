#!/usr/bin/env python3
"""The version of the project, which has to be the same wherever it is written.

usage: versions.py [ROOT]          prints it; where files disagree, each with its version, and exit status 1
       versions.py --notes [ROOT]  prints what CHANGELOG.md says of it, below its dated heading
"""

import pathlib
import re
import sys

# Every file that writes the version, and where; optional ones count where they are.
PLACES = [
    ("CMakeLists.txt", r"^project\(petsc-compound VERSION (\S+)"),
    ("CITATION.cff", r"^version: \"?([^\s\"]+)"),
    ("pyproject.toml", r"^version = \"([^\"]+)\""),
    ("CHANGELOG.md", r"^## (\S+)"),
    ("config/packages/petsc/petsccompound.py", r"^ +self\.version += '(.*)'"),
    ("config/packages/spack/package.py", r"^ +version\(\"([^\"]+)\""),
    ("config/packages/conda/recipe.yaml", r"^  version: \"(.*)\""),
]
HEADING = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})$", re.M)
RELEASED = ("CITATION.cff", r"^date-released: \"?(\d{4}-\d{2}-\d{2})")


def found(root, path, pattern):
    file = root / path
    if not file.is_file():
        return None
    match = re.search(pattern, file.read_text(encoding="utf-8"), re.M)
    return match[1] if match else "none"


def problems(root):
    """Lines that say what disagrees, or nothing."""
    versions = {path: found(root, path, pattern) for path, pattern in PLACES}
    for path, version in versions.items():
        if version is None:
            yield f"{path} is not there"
    named = {path: version for path, version in versions.items() if version is not None}
    if len(set(named.values())) > 1:
        listed = ", ".join(f"{path} {version}" for path, version in named.items())
        yield f"versions differ: {listed}; write the one of CMakeLists.txt into all"
    changes = root / "CHANGELOG.md"
    if not changes.is_file():
        return
    first = re.search(r"^## .*$", changes.read_text(encoding="utf-8"), re.M)
    dated = HEADING.match(first[0]) if first else None
    if not dated:
        yield (f"CHANGELOG.md begins with '{first[0] if first else ''}', which has no date; "
               "the heading of a release looks so: '## 0.1.0 - 2026-11-25'")
        return
    date = found(root, *RELEASED)
    if date not in (None, dated[2]):
        yield f"CITATION.cff has date-released {date}, CHANGELOG.md {dated[2]}; write the same date into both"


def notes(root):
    """What the newest section of the changelog says."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.split(r"^## .*$", text, flags=re.M)[1]
    return re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", section).strip()


def main():
    words = sys.argv[1:]
    ask_notes = words[:1] == ["--notes"]
    root = pathlib.Path((words[1:] if ask_notes else words)[0] if len(words) > ask_notes
                        else pathlib.Path(__file__).resolve().parent.parent)
    wrong = list(problems(root))
    if wrong:
        sys.exit("\n".join(f"error: {line}" for line in wrong))
    print(notes(root) if ask_notes else found(root, *PLACES[0]))


if __name__ == "__main__":
    main()
