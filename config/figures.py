#!/usr/bin/env python3
"""Writes measured numbers into pages, from the records in docs/data and docs/reproduction.

    python3 config/figures.py            writes the pages
    python3 config/figures.py --check    compares them; status 1 where a page is not what the records give

In a page, tables and paragraphs stand between <!-- figures: NAME --> and <!-- end of figures -->; NAME is a function of
config/pages. What is between is never edited by hand. config/measure_figures.py, config/measure_half.py and
config/measure_bits.py measure; a
record has for each run: program, date, commit, device, versions, command line, rounds, and the results with their
spread. docs/data/records.sha256 says which records the pages are of.
"""

import argparse
import functools
import hashlib
import itertools
import pathlib
import re
import sys

from pages import FIGURES, trust
from pages.records import Missing, Wrong, wrapped

TOP = pathlib.Path(__file__).resolve().parents[1]
PAGES = ["README.md", "docs/choosing.md", "docs/multigrid.md", "docs/performance.md", "docs/performance-gpu.md",
         "docs/performance-host.md", "docs/promises.md", "docs/solvers.md", "docs/trust.md",
         "docs/tuning.md"]
SUMS = "docs/data/records.sha256"
MARK = re.compile(r"(<!-- figures: ([\w-]+) -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)


@functools.cache
def lines_of(top, name):
    try:
        return FIGURES[name](top)
    except Missing as step:
        return wrapped(f"*Not measured since the record was begun: `python3 {step} --build FOLDER`.*")


def filled(top, page, text):
    def fill(match):
        if match[2] not in FIGURES:
            raise Wrong(f"{page}: there is no figure '{match[2]}'; choose {', '.join(sorted(FIGURES))}")
        return match[1] + "\n" + "\n".join(lines_of(top, match[2])) + "\n\n" + match[4]
    if text.count("<!-- figures:") != len(MARK.findall(text)):
        raise Wrong(f"{page}: a mark of figures has no end, or no name")
    return MARK.sub(fill, text)


def sums_of(top):
    """Lines of sha256sum: which records the pages were written from."""
    files = sorted([*top.glob("docs/data/*.json"), *top.glob("docs/data/figures/*.json.xz"),
                    *top.glob("docs/reproduction/*.json.xz"), top / "docs/figures/columns.json",
                    *(top / file for file in trust.RECORDS)])
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(top).as_posix()}\n"
                   for file in files)


def first_difference(there, given):
    for number, (a, b) in enumerate(itertools.zip_longest(there.split("\n"), given.split("\n")), 1):
        if a != b:
            return number, a, b
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare; status 1 where a page is another one")
    parser.add_argument("--top", type=pathlib.Path, default=TOP, help="the folder of pages and records (the project's)")
    args = parser.parse_args()
    try:
        given = {page: filled(args.top, page, (args.top / page).read_text(encoding="utf-8")) for page in PAGES}
    except Wrong as e:
        sys.exit(f"figures.py: {e}")
    given[SUMS] = sums_of(args.top)
    wrong = 0
    for page, text in given.items():
        file = args.top / page
        if not args.check:
            file.write_text(text, encoding="utf-8")
        elif difference := first_difference(file.read_text(encoding="utf-8") if file.exists() else "", text):
            number, a, b = difference
            print(f"{page}:{number}: is not what the records give; python3 config/figures.py\n  there: {a}\n"
                  f"  given: {b}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
