#!/usr/bin/env python3
"""Each promise of docs/promises.md, and each check of files in SECURITY.md, names a test that is in the tree."""

import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ROW = re.compile(r"^\| (?!---|what |file )(?P<what>.*?) \| (?P<promise>.*?) \| (?P<tests>.*) \|$", re.M)
TEST = re.compile(r"`(tests/[\w/]+\.(?:cpp|py))`: ((?:`[\w ]+`(?:, )?)+)")
LEAST_PROMISES = 20
LEAST_FILES = 5


def read(path):
    with open(os.path.join(TOP, path)) as file:
        return file.read()


def mistakes_of_rows(text, least):
    """Rows without a test, and tests that are not there."""
    rows = list(ROW.finditer(text))
    if len(rows) < least:
        yield f"{len(rows)} promises; {least} are expected at least"
    for row in rows:
        tests = [(file, name) for file, names in TEST.findall(row["tests"]) for name in re.findall("`([^`]+)`", names)]
        if not tests:
            yield f"no test is named: {row['what']}"
        for file, name in tests:
            if not os.path.exists(os.path.join(TOP, file)):
                yield f"there is no {file}: {row['what']}"
            elif not re.search(rf"\b{name}\b", read(file)):
                yield f"{file} has no {name}: {row['what']}"


def mistakes(text):
    """The same, and sections that are missing."""
    yield from mistakes_of_rows(text, LEAST_PROMISES)
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
    # Tables of what was measured are no promises.
    text = re.sub("<!-- figures: .*?<!-- end of figures -->", "", read("docs/promises.md"), flags=re.DOTALL)
    files = read("SECURITY.md").partition("## Files that are data\n")[2]
    found = [*mistakes(text), *self_test(text), *mistakes_of_rows(files, LEAST_FILES)]
    print(*found, f"{len(list(ROW.finditer(text)))} promises, {len(found)} mistakes", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
