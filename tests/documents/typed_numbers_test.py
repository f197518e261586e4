"""No page states a measurement that is typed: config/figures.py writes numbers from records. typed_numbers.txt has what
stays, with reasons."""

import collections
import pathlib
import re
import sys

from typed_numbers import typed

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "config"))
from figures import PAGES  # noqa: E402

MOST_ROWS = 20


def rows(text):
    """(page, section or "", fragment or number of numbers) of each line of the list."""
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            place, what, reason = line.split(" | ")
            page, _, section = place.partition(" # ")
            yield page, section, int(what.split()[0]) if section else what, reason


def mistakes(pages, allowed):
    """Numbers of pages (name: text) that are not allowed, and rows that allow what is not there."""
    counts, used = collections.Counter(), set()
    for page, text in pages.items():
        sections = {(row[0], row[1]) for row in allowed if row[1]}
        for line, section, paragraph, number in typed(text):
            if (page, section) in sections:
                counts[page, section] += 1
                continue
            fragments = [row for row in allowed if row[0] == page and not row[1] and row[2] in paragraph
                         and number in row[2]]
            used.update(fragments)
            if not fragments:
                yield f"{page}:{line}: '{number}' is typed; make it by config/figures.py, or list it with a reason"
    for row in allowed:
        page, section, what, _ = row
        if section and counts[page, section] != what:
            yield f"{page}, section '{section}': {counts[page, section]} typed numbers, the list has {what}"
        elif not section and row not in used:
            yield f"{page}: no typed number in '{what}'; take it off the list"
    if len(allowed) > MOST_ROWS:
        yield f"the list has {len(allowed)} rows; {MOST_ROWS} are allowed"


def self_test(pages, allowed):
    """What a new number of each kind, and a row too many, must bring."""
    for page, text in pages.items():
        for new in ("It takes 12.5 us.", "It is 1.35x as fast, 3.1 times at most.", "| a | 12.5 |", "- 17 % less",
                    "Copies run at 3.1 TB/s."):
            if not list(mistakes({**pages, page: f"{text}\n{new}\n"}, allowed)):
                yield f"'{new}' in {page} is not found"
    page, text = next(iter(pages.items()))
    for same in ("3x3 blocks", "PETSc 3.26.1 of 2026-11-27", "`-patience 30 s`", "[a](b/3.1%20s)",
                 "27-point, 60^3 nodes", "<!-- figures: a -->\n1.35x\n<!-- end of figures -->"):
        if list(mistakes({**pages, page: f"{text}\n{same}\n"}, allowed)) != list(mistakes(pages, allowed)):
            yield f"'{same}' is taken for a measurement"
    if not list(mistakes(pages, [*allowed, (page, "", "no such 3 us", "none")])):
        yield "a row without its sentence is not found"


def main():
    pages = {page: re.sub(r"\r\n", "\n", (TOP / page).read_text(encoding="utf-8")) for page in PAGES}
    allowed = list(rows((TOP / "tests/documents/typed_numbers.txt").read_text(encoding="utf-8")))
    failures = [*mistakes(pages, allowed), *self_test(pages, allowed)]
    print("\n".join([f"{len(failures)} failures", *failures]))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
