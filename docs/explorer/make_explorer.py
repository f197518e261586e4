#!/usr/bin/env python3
"""Makes the performance explorer from the records in docs/data (docs/explorer/add_record.py).

    make_explorer.py --output FOLDER   explorer.html, a page of its own: script, style and data are in it, it loads
                                       nothing; and explorer-part.html, the same without head and body, to stand in a
                                       page of the site
    make_explorer.py --page            docs/performance-explorer.md, the same figures as tables
    make_explorer.py --check           says whether that page is what --page would write
"""

import argparse
import json
import pathlib
import sys

from records import DATA, PATTERNS, Unfit, key_of, read_all
from tables import HOW, facts, html, markdown

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "performance-explorer.md"
MOST_BYTES = 400_000
NUMBERS = ("us", "spread", "gbs", "share", "times", "rate", "rateSpread")

INTRODUCTION = """# Performance explorer

How fast products of sparse block matrices are, measured by [compound-bench](compound-bench.md): the figures of the
site's interactive explorer as tables. `docs/explorer/make_explorer.py` makes both from the records in `docs/data`;
[explorer/README.md](explorer/README.md) says how to add a device.

GB/s count compulsory bytes: each block, its column, row starts, x and y once. *Single precision* stores the values of
the matrix in single precision (`-mat_compound_plan values=float`); x and y stay double, and it is compared with the
same product in double. *times aij* is the speed over PETSc's type of that name, the median of the rounds' ratios.
"""


def number(value):
    return float(f"{value:.5g}")


def data_of(records):
    """What the script in the page reads: numbers of five digits, names by their keys in the address."""
    measured = []
    for about, rows in records:
        measured.append({
            "device": key_of(about["device"]), "deviceName": about["device"], "pattern": about["pattern"],
            "patternName": PATTERNS[about["pattern"]], "onDevice": about["on_device"], "reference": about["reference"],
            "share": HOW[about["on_device"]], "facts": facts(about),
            "rows": [{**row, **{name: number(row[name]) for name in NUMBERS}} for row in rows],
        })
    return json.dumps(measured, separators=(",", ":")).replace("<", "\\u003c")


def page_text(records):
    return INTRODUCTION + "\n" + markdown(records)


def filled(template, parts):
    text = (HERE / template).read_text(encoding="utf-8")
    for name, value in parts.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def html_texts(records):
    """(the whole page, the part for a page of the site)"""
    part = filled("part.html", {
        "style": (HERE / "explorer.css").read_text(encoding="utf-8"), "tables": html(records),
        "script": (HERE / "explorer.js").read_text(encoding="utf-8"), "data": data_of(records),
    })
    return filled("page.html", {"part": part}), part


def write(folder, records):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(("explorer.html", "explorer-part.html"), html_texts(records)):
        size = len(text.encode())
        if size > MOST_BYTES:
            raise Unfit(f"{name} would have {size} bytes, more than {MOST_BYTES}: take records out of {DATA}")
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{folder / name}: {size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--output", type=pathlib.Path, metavar="FOLDER")
    what.add_argument("--page", action="store_true")
    what.add_argument("--check", action="store_true")
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="the folder of records (default: docs/data)")
    args = parser.parse_args()
    try:
        records = read_all(args.data)
        if args.output:
            write(args.output, records)
        elif args.page:
            PAGE.write_text(page_text(records), encoding="utf-8")
        elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page_text(records):
            sys.exit(f"{PAGE} differs from the records; run python3 docs/explorer/make_explorer.py --page")
    except Unfit as e:
        sys.exit(f"make_explorer.py: {e}")


if __name__ == "__main__":
    main()
