#!/usr/bin/env python3
"""Each promise of docs/promises.md names a test that is in the tree."""

import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ROW = re.compile(r"^\| (?!---|what )(?P<what>.*?) \| (?P<promise>.*?) \| (?P<tests>.*) \|$", re.M)
TEST = re.compile(r"`(tests/[\w/]+\.(?:cpp|py))`: ((?:`[\w ]+`(?:, )?)+)")
LEAST_PROMISES = 20


def read(path):
    with open(os.path.join(TOP, path)) as file:
        return file.read()


def mistakes(text):
    """Of the page: rows without a test, tests that are not there, sections that are missing."""
    rows = list(ROW.finditer(text))
    if len(rows) < LEAST_PROMISES:
        yield f"{len(rows)} promises; {LEAST_PROMISES} are expected at least"
    for row in rows:
        tests = [(file, name) for file, names in TEST.findall(row["tests"]) for name in re.findall("`([^`]+)`", names)]
        if not tests:
            yield f"no test is named: {row['what']}"
        for file, name in tests:
            if not os.path.exists(os.path.join(TOP, file)):
                yield f"there is no {file}: {row['what']}"
            elif not re.search(rf"\b{name}\b", read(file)):
                yield f"{file} has no {name}: {row['what']}"
    for section in ("Bits", "Accuracy", "Limits", "How to cite"):
        if not re.search(rf"^## {section}$", text, re.M):
            yield f"section '{section}' is missing"


def self_test(text):
    """Breaks the page in each way that is looked for."""
    broken = {
        "there is no": text.replace("tests/plugin/products_test.cpp", "tests/plugin/none_test.cpp"),
        "has no": text.replace("repeat_bit_by_bit", "repeat_now_and_then"),
        "no test is named": re.sub(r"\| `tests/plugin/coo_test.cpp`: `\w+` \|", "| none |", text),
        "is missing": text.replace("## Limits", "## Limit"),
    }
    for message, page in broken.items():
        if not any(message in mistake for mistake in mistakes(page)):
            yield f"self-test: '{message}' is not found in a page with this mistake"


def main():
    text = read("docs/promises.md")
    found = [*mistakes(text), *self_test(text)]
    print(*found, f"{len(list(ROW.finditer(text)))} promises, {len(found)} mistakes", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
