#!/usr/bin/env python3
"""Draws README's bar chart, docs/images/first-look.svg, from the records in docs/data: one product with blocks of
3 x 3, 27 a row, by PETSc's types and by baijcompound, on a host and on a GPU.

    python3 docs/explorer/first_look.py [--check]    --check: only says whether the picture is what it would draw
"""

import argparse
import pathlib
import sys
from html import escape

from records import DATA, Unfit, read_all
from tables import rounded

PICTURE = pathlib.Path(__file__).resolve().parents[1] / "images" / "first-look.svg"
PATTERN, BLOCK = "27", 3
WIDTH, LEFT, RIGHT, BAR, STEP, HEAD, GAP = 760, 128, 250, 26, 34, 34, 18
INK, OURS, REFERENCE, OTHER = "#1f2328", "#0b5cad", "#8a8a8a", "#d98200"


def chosen(records):
    """[(about, rows of that matrix in double precision)]: the first host and the first GPU."""
    found = {}
    for about, rows in records:
        if about["pattern"] == PATTERN:
            here = [row for row in rows if row["block"] == BLOCK and row["precision"] == "double"]
            found.setdefault(about["on_device"], (about, here))
    return [found[on_device] for on_device in (False, True) if on_device in found]


def text(x, y, words, anchor="start", weight="normal"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}">{escape(words)}</text>'


def panel(about, rows, top):
    """Lines of SVG, and where they end."""
    where = "GPU" if about["on_device"] else "Host"
    lines = [text(0, top + 20, f"{where}: {about['device']}, GB/s", weight="bold")]
    most = max(row["gbs"] for row in rows)
    top += HEAD
    for row in rows:
        long = round((WIDTH - LEFT - RIGHT) * row["gbs"] / most, 1)
        ours = row["type"] == "baijcompound"
        colour = OURS if ours else REFERENCE if row["type"] == about["reference"] else OTHER
        said = rounded(row["gbs"])
        if row["type"] != about["reference"]:
            said += f", {row['times']:.2f} times {about['reference']}"
        weight = "bold" if ours else "normal"
        lines += [text(LEFT - 10, top + 18, row["type"], "end", weight),
                  f'<rect x="{LEFT}" y="{top}" width="{long}" height="{BAR}" fill="{colour}"/>',
                  text(LEFT + long + 8, top + 18, said, weight=weight)]
        top += STEP
    return lines, top + GAP


def drawn(records):
    panels = chosen(records)
    if not panels:
        raise Unfit(f"{DATA}: no record has -grid {PATTERN}; docs/explorer/README.md says how to measure one")
    lines, top, said = [], 6, []
    for about, rows in panels:
        more, top = panel(about, rows, top)
        lines += more
        said.append(f"{about['device']}, {about['date'][:10]}: "
                    + ", ".join(f"{row['type']} {rounded(row['gbs'])} GB/s" for row in rows))
    height = top - GAP + 6
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 {WIDTH + 20} {height}" width="{WIDTH + 20}" '
        f'height="{height}" font-family="sans-serif" font-size="15" role="img" aria-labelledby="title desc">',
        f'<title id="title">One product with blocks of {BLOCK} x {BLOCK}, 27 a row, by matrix type</title>',
        f'<desc id="desc">{escape("; ".join(said))}. Drawn by docs/explorer/first_look.py.</desc>',
        f'<rect x="-10" width="{WIDTH + 20}" height="{height}" fill="#ffffff"/>', *lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    try:
        svg = drawn(read_all())
    except Unfit as e:
        sys.exit(f"first_look.py: {e}")
    if not args.check:
        PICTURE.write_text(svg, encoding="utf-8")
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != svg:
        sys.exit(f"{PICTURE} differs from the records; run python3 docs/explorer/first_look.py")


if __name__ == "__main__":
    main()
