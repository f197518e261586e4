#!/usr/bin/env python3
"""Draws docs/images/columns.svg from columns.json, what compound-bench -json says of MatMatMult: time over the number
of columns, by type, and the time in which a device copies the bytes of the product.

    python3 docs/figures/columns.py [--check | --record FILE]

--check: only says whether the picture is what it would draw. --record FILE: takes a new record first, without its
single samples.
"""

import argparse
import json
import pathlib
import sys
from html import escape

HERE = pathlib.Path(__file__).resolve().parent
RECORD, PICTURE = HERE / "columns.json", HERE.parent / "images" / "columns.svg"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 70, 150, 40, 50
INK, GRID, COLOURS = "#1f2328", "#d0d7de", {"baijcompound": "#0b5cad", "aijcusparse": "#d98200", "limit": "#8a8a8a"}
BYTES_OF_SCALAR, BYTES_OF_INDEX = 8, 4


def stripped(record):
    """What a reader of the picture needs."""
    case = record["cases"][0]
    line = record["command_line"].split()
    written = line.index("-json")
    command = " ".join([record["program"], *line[1:written], *line[written + 2:]])
    rows = [{key: row[key] for key in ("type", "columns", "median_s", "spread", "products")} for row in case["dense"]]
    return {"program": record["program"], "date": record["date"], "command_line": command,
            "device": record["device"]["name"], "matrix": case["matrix"], "block_rows": case["block_rows"],
            "blocks": case["blocks"], "block_shape": case["block_shape"], "copy_gbs": case["copy"]["gbs"],
            "dense": rows}


def series(record):
    """{name: [(columns, microseconds)]}"""
    made = {}
    for row in record["dense"]:
        made.setdefault(row["type"], []).append((row["columns"], row["median_s"] * 1e6))
    rows, columns = record["block_shape"]
    matrix = record["blocks"] * (rows * columns * BYTES_OF_SCALAR + BYTES_OF_INDEX)
    vector = record["block_rows"] * (rows + columns) * BYTES_OF_SCALAR
    made["limit"] = [(n, (matrix + n * vector) / record["copy_gbs"] / 1e3) for n, _ in made["baijcompound"]]
    return made


def described(name, line):
    (first, us), (last, most) = line[0], line[-1]
    return f"{'copy rate' if name == 'limit' else name}: {us:.0f} us with {first} column, {most:.0f} us with {last}"


def text(x, y, words, anchor="middle", colour=INK, turn=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{turn}>{escape(words)}</text>'


def drawn(record):
    lines = series(record)
    most_columns = max(n for line in lines.values() for n, _ in line)
    most = max(us for line in lines.values() for _, us in line)
    step = 500 if most > 1500 else 100
    top_value = step * (int(most / step) + 1)

    def at(columns, us):
        return (LEFT + (WIDTH - LEFT - RIGHT) * columns / most_columns,
                HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * us / top_value)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="14" role="img">',
             "<title>Time of a product with a dense matrix, by its number of columns</title>",
             f"<desc>{escape('; '.join(described(name, line) for name, line in lines.items()))}</desc>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             text(LEFT, 20, "MatMatMult, microseconds", "start")]
    for value in range(0, top_value + 1, step):
        x, y = at(0, value)
        parts += [f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{GRID}"/>',
                  text(x - 8, y + 5, str(value), "end")]
    for columns in [n for n, _ in lines["limit"] if n in (1, 2, 4, 6, 8, 10, 12, 14, 16)]:
        parts.append(text(at(columns, 0)[0], HEIGHT - BOTTOM + 20, str(columns)))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "columns of the dense matrix"))
    for name, line in lines.items():
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line))
        dashes = ' stroke-dasharray="6 4"' if name == "limit" else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2.5"{dashes}/>')
        x, y = at(*line[-1])
        parts.append(text(x + 8, y + (16 if name == "limit" else 5), "copy rate" if name == "limit" else name, "start",
                          COLOURS[name]))
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", type=pathlib.Path)
    args = parser.parse_args()
    if args.record:
        record = stripped(json.loads(args.record.read_text(encoding="utf-8")))
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    picture = drawn(json.loads(RECORD.read_text(encoding="utf-8")))
    if not args.check:
        PICTURE.write_text(picture, encoding="utf-8")
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture:
        sys.exit(f"{PICTURE} differs from {RECORD}: run python3 docs/figures/columns.py")


main()
