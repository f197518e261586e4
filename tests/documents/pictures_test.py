#!/usr/bin/env python3
"""Each picture says what it is of: an SVG has a title and a description, and under each picture of a document stands a
caption. usage: pictures_test.py [--self-test]"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/mutants"))
from builds import files_of  # noqa: E402

TITLE = re.compile(r"<title[^>]*>\s*[^<\s][^<]{5,}</title>\s*<desc[^>]*>\s*[^<\s][^<]{10,}</desc>")
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^()\s]+)\)\s*$")
# Of measurements: these say device and date, too.
MEASURED = re.compile(r"images/(reproduction-|tuning-|first-look|columns)")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def wrong_svg(text):
    found = TITLE.search(text)
    return None if found and text.index("<svg") < found.start() < text.index("<svg") + 1000 else \
        "begins with no <title> and <desc>"


def caption_under(lines, number):
    """The paragraph after that line, as one line."""
    rest = iter(lines[number + 1:])
    paragraph = []
    for line in rest:
        if line.strip():
            paragraph.append(line.strip())
        elif paragraph:
            break
    return " ".join(paragraph)


def wrong_pictures(text):
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = PICTURE.match(line)
        if not found:
            continue
        caption = caption_under(lines, number)
        if len(found[1]) < 3:
            yield number + 1, f"{found[2]} has no text for readers who do not see it"
        if not caption.startswith("*"):
            yield number + 1, f"{found[2]} has no caption: a paragraph in *italics* below it"
        elif MEASURED.search(found[2]) and not DATE.search(caption):
            yield number + 1, f"{found[2]}: the caption has no date"


def mistakes():
    files = files_of(ROOT, untracked=False)
    for name in files:
        if name.endswith(".svg") and name != "docs/site/icon.svg":
            if wrong := wrong_svg((ROOT / name).read_text(encoding="utf-8")):
                yield f"{name} {wrong}"
    for name in filter(re.compile(r"README\.md|docs/.*\.md").fullmatch, files):
        for line, what in wrong_pictures((ROOT / name).read_text(encoding="utf-8")):
            yield f"{name}:{line}: {what}"


def self_test():
    good = '<svg x="1"><title>A picture</title><desc>of something seen</desc></svg>'
    page = "![text](images/tuning-a.svg)\n\n*What it is,\n2026-11-22.*\n"
    assert wrong_svg(good) is None and not list(wrong_pictures(page))
    assert wrong_svg(good.replace("<desc>of something seen</desc>", ""))
    assert wrong_svg("<svg>" + " " * 2000 + good[5:])
    for broken in (page.replace("*", ""), page.replace("2026-11-22", ""), page.replace("text", "")):
        assert len(list(wrong_pictures(broken))) == 1, broken


def drawn_from_records():
    """A picture that a script makes of a record is what it would make."""
    checked = subprocess.run([sys.executable, ROOT / "docs" / "figures" / "columns.py", "--check"], capture_output=True,
                             text=True, check=False)
    if checked.returncode:
        yield checked.stderr.strip()


if __name__ == "__main__":
    self_test()
    found = [*mistakes(), *drawn_from_records()] if "--self-test" not in sys.argv else []
    print("\n".join(found))
    sys.exit(1 if found else 0)
