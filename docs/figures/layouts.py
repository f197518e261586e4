#!/usr/bin/env python3
"""Draws the layouts of docs/layouts.md on one small matrix of blocks, and counts what they take there.

usage: layouts.py --write     the pictures beside this file, and the table in ../layouts.md
       layouts.py --check     exit status 1 unless both are what --write would make
"""

import argparse
import collections
import pathlib
import string
import sys

HERE = pathlib.Path(__file__).parent
DOCUMENT = HERE.parent / "layouts.md"
MARKS = ("<!-- table made by figures/layouts.py -->\n", "<!-- end of the table -->\n")

PATTERN = [[0, 1], [0, 1, 2], [2], [0, 2, 3, 4], [3, 4]]  # columns of the entries of each row
ROWS = len(PATTERN)
BLOCK_BYTES = 9 * 8  # blocks of 3x3 doubles
HEIGHT, SIGMA, CHUNK, PATCH = 2, 4, 4, 3

COLOURS = ["#f6c9a8", "#fae49a", "#bfe3b4", "#aed4f0", "#d9c3ec"]  # of the rows
PAD, INTEGER, LINE, TEXT = "#e4e4e4", "#ffffff", "#555555", "#222222"
WIDTH, TALL, LABEL, GAP = 40, 26, 84, 16


class Entry:
    def __init__(self, row, nth, name):
        self.row, self.column, self.name = row, PATTERN[row][nth], name


def entries():
    names = iter(string.ascii_lowercase)
    return [[Entry(r, n, next(names)) for n in range(len(columns))] for r, columns in enumerate(PATTERN)]


# What is drawn: tables of cells. A cell is (text, colour, small text).

def word(entry, column=True):
    if entry is None:
        return ("", PAD, "")
    return (entry.name, COLOURS[entry.row], str(entry.column) if column else "")


def integers(numbers):
    return [(str(n), INTEGER, "") for n in numbers]


class Table:
    """Rows of cells with a label each; `header` above the columns."""

    def __init__(self, rows, header=None, title=""):
        self.rows, self.header, self.title = rows, header, title

    def height(self):
        return TALL * len(self.rows) + (TALL if self.header else 0) + (TALL if self.title else 0) + GAP

    def width(self):
        return max(LABEL + WIDTH * max(len(cells) for _, cells in self.rows), 8 * len(self.title))


def text(x, y, words, size=13, anchor="middle", colour=TEXT, weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">'
            f"{words}</text>")


def drawn(tables, title, description):
    width, height = max(t.width() for t in tables) + GAP, sum(t.height() for t in tables) + GAP
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
             f'{height}" '
             'font-family="sans-serif">', f"<title>{title}</title>", f"<desc>{description}</desc>",
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    y = GAP
    for table in tables:
        top = y
        if table.title:
            lines.append(text(GAP / 2, y + 17, table.title, anchor="start", weight="bold"))
            y += TALL
        if table.header:
            lines += [text(LABEL + WIDTH * (i + 0.5), y + 17, h, 12) for i, h in enumerate(table.header)]
            y += TALL
        for label, cells in table.rows:
            lines.append(text(LABEL - 8, y + 17, label, 12, "end"))
            for i, (words, colour, small) in enumerate(cells):
                x = LABEL + WIDTH * i
                lines.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{TALL}" fill="{colour}" stroke="{LINE}"/>')
                lines.append(text(x + WIDTH / 2 - (5 if small else 0), y + 17, words))
                if small:
                    lines.append(text(x + WIDTH - 10, y + 21, small, 10))
            y += TALL
        y = top + table.height()
    return "\n".join(lines) + "\n</svg>\n"


# The layouts: each gives its tables, its slots and its bytes of integers.

def drawn_matrix(all_rows):
    table = []
    for row in all_rows:
        at = {e.column: e for e in row}
        table.append((f"row {row[0].row}", [word(at[c], False) if c in at else ("", INTEGER, "") for c in range(ROWS)]))
    return [Table(table, [str(c) for c in range(ROWS)])], None, None


def csr(all_rows):
    flat = [e for row in all_rows for e in row]
    starts = [sum(map(len, all_rows[:r])) for r in range(ROWS + 1)]
    tables = [Table([("start", integers(starts))]),
              Table([("column", integers(e.column for e in flat)), ("scalars", [word(e, False) for e in flat])])]
    return tables, len(flat), 4 * len(starts) + 4 * len(flat)


def sorted_rows(all_rows, sigma):
    """Stable, the longest first, in windows of sigma rows."""
    return [row for at in range(0, ROWS, sigma) for row in sorted(all_rows[at:at + sigma], key=lambda r: -len(r))]


def slices(all_rows, height, sigma):
    order = sorted_rows(all_rows, sigma)
    tables, slots = [], 0
    parts = [order[at:at + height] for at in range(0, ROWS, height)]
    for n, part in enumerate(parts):
        width = max(map(len, part))
        slots += width * height
        cells = [(f"row {r[0].row}, {len(r)}", [word(e) for e in r] + [word(None)] * (width - len(r))) for r in part]
        cells += [("", [word(None)] * width)] * (height - len(part))
        tables.append(Table(cells, title=f"slice {n}" if len(parts) > 1 else ""))
    listed = 4 * ROWS if order != all_rows else 0
    return tables, slots, 4 * (len(parts) + 1) + 4 * ROWS + listed + 4 * slots


def diagonals(all_rows, height):
    tables, slots, integers_bytes = [], 0, 4
    for n, at in enumerate(range(0, ROWS, height)):
        part = all_rows[at:at + height]
        offsets = sorted({e.column - e.row for r in part for e in r})
        cells = []
        for r in part:
            by_offset = {e.column - e.row: e for e in r}
            cells.append((f"row {r[0].row}", [word(by_offset.get(o), False) for o in offsets]))
        cells += [("", [word(None)] * len(offsets))] * (height - len(part))
        slots += len(offsets) * height
        integers_bytes += 4 + 4 * len(offsets)
        tables.append(Table(cells, [f"{o:+d}" if o else "0" for o in offsets], f"slice {n}" if height < ROWS else ""))
    return tables, slots, integers_bytes + 4 * -(-slots // 32)  # and a presence bit a slot


def bytes_for(largest):
    return 1 if largest < 256 else 2 if largest < 65536 else 4


def chunks(all_rows, chunk):
    flat = [e for row in all_rows for e in row]
    tables, taken = [], 0
    for n, at in enumerate(range(0, len(flat), chunk)):
        part = flat[at:at + chunk]
        row, column = part[0].row, min(e.column for e in part)
        row_offsets, column_offsets = [e.row - row for e in part], [e.column - column for e in part]
        row_bytes = bytes_for(max(row_offsets)) if any(row_offsets) else 0
        strips = [("row +", integers(row_offsets))] if row_bytes else []
        strips += [("column +", integers(column_offsets)), ("scalars", [word(e, False) for e in part])]
        tables.append(Table(strips, title=f"chunk {n}: first row {row}, least column {column}"))
        taken += 16 + 4 * -(-chunk * (row_bytes + bytes_for(max(column_offsets))) // 4)
    return tables, len(flat), taken


def segments_of_upper_triangle():
    """Of the example and its transpose: at most as many entries as rows have at the mean."""
    names = iter(string.ascii_lowercase)
    upper = [sorted({c for c in PATTERN[r] if c >= r} | {c for c in range(r, ROWS) if r in PATTERN[c]})
             for r in range(ROWS)]
    longest = -(-sum(map(len, upper)) // ROWS)
    found = []
    for row, columns in enumerate(upper):
        number = -(-len(columns) // longest)
        cells = [(next(names), row, column) for column in columns]
        found += [(row, n, cells[len(cells) * n // number:len(cells) * (n + 1) // number]) for n in range(number)]
    return found


def patches(size):
    """Places and turns of entries (src/layout/patches.cpp)."""
    tables, all_segments = [], segments_of_upper_triangle()
    for patch, at in enumerate(range(0, len(all_segments), size)):
        part = sorted(all_segments[at:at + size], key=lambda s: (-len(s[2]), s[1]))
        columns = sorted({row for row, *_ in part} | {c for *_, cells in part for *_, c in cells})
        added = collections.Counter()
        steps = max(len(cells) for *_, cells in part)
        turns = [[""] * steps for _ in part]
        for k in range(steps):
            for n, (row, _, cells) in enumerate(part):
                if k < len(cells) and cells[k][2] != row:
                    turns[n][k] = added[k, cells[k][2]]
                    added[k, cells[k][2]] += 1
        sums = collections.Counter()
        tables.append(Table([("column", integers(columns))], [str(n) for n in range(len(columns))],
                            f"patch {patch}: columns of the places"))
        rows = []
        for n, (row, number, cells) in enumerate(part):
            stored = [(name, COLOURS[row], str(columns.index(c))) for name, _, c in cells]
            rows.append((f"row {row}" + (f", {number + 1}." if number else ""),
                         stored + [word(None)] * (steps - len(cells)) + integers([*turns[n], sums[row]])))
            sums[row] += 1
        tables.append(Table(rows, [*(f"step {k}" for k in range(steps)), *(f"turn {k}" for k in range(steps)), "sum"]))
    return tables


DESCRIPTION = "Tables of what is stored: columns and starts as integers, slots with the numbers of the blocks"
LAYOUTS = [
    ("matrix", "", drawn_matrix),
    ("csr", "csr", csr),
    ("ellr", "ellr", lambda rows: slices(rows, ROWS, 1)),
    ("bellpack", f"bellpack:{HEIGHT}", lambda rows: slices(rows, HEIGHT, ROWS)),
    ("sell", f"sell:{HEIGHT}:{SIGMA}", lambda rows: slices(rows, HEIGHT, SIGMA)),
    ("dia", "dia", lambda rows: diagonals(rows, ROWS)),
    ("hdia", f"hdia:{HEIGHT}", lambda rows: diagonals(rows, HEIGHT)),
    ("ccoo", f"ccoo, chunks of {CHUNK}", lambda rows: chunks(rows, CHUNK)),
]


def made():
    """{file: its text} of the pictures, and the table."""
    pictures, lines = {}, ["| drawn as | slots | integers | scalars | together |\n", "|---|---|---|---|---|\n"]
    for name, layout, make in LAYOUTS:
        tables, slots, taken = make(entries())
        title = f"The example matrix in the layout {layout}" if layout else "The example matrix"
        description = DESCRIPTION if layout else "Rows and columns of its blocks"
        pictures[HERE / f"{name}.svg"] = drawn(tables, title, description)
        if layout:
            words = slots * BLOCK_BYTES
            lines.append(f"| `{layout}` | {slots} | {taken} | {words} | {taken + words} |\n")
    pictures[HERE / "half.svg"] = drawn(patches(PATCH), "One triangle of the example and its transpose, by patches",
                                        "Entries with their places, turns of what is added to them, columns of patches")
    return pictures, "".join(lines)


def with_table(document, table):
    begin, end = document.find(MARKS[0]), document.find(MARKS[1])
    if begin < 0 or end < begin:
        sys.exit(f"layouts.py: {DOCUMENT} lacks '{MARKS[0].strip()}' before '{MARKS[1].strip()}'")
    return document[:begin] + MARKS[0] + table + document[end:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", action="store_true")
    group.add_argument("--check", action="store_true")
    args = parser.parse_args()
    files, table = made()
    files[DOCUMENT] = with_table(DOCUMENT.read_text(encoding="utf-8"), table)
    old = {f.name: f.read_text(encoding="utf-8") for f in files if f.exists()}
    wrong = [f for f, content in files.items() if old.get(f.name) != content]
    if args.check:
        for f in wrong:
            print(f"{f} is not what docs/figures/layouts.py makes; run it with --write")
        return 1 if wrong else 0
    for f in wrong:
        f.write_text(files[f], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
