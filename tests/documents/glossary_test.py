#!/usr/bin/env python3
"""Documents use the words of docs/glossary.md, each defined once; a page that defines one of them links there."""

import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GLOSSARY = "docs/glossary.md"
ROW = re.compile(r"^\| (?!---|word |term )(?P<terms>[^|]*?) \| (?P<meaning>[^|]+) \|$", re.M)
DEFINED = re.compile(r"(?<![*\w])\*{1,2}([a-z][a-z -]+)\*{1,2}(?![*\w])")
LEAST_TERMS = 25


def documents():
    """Path and text of what users read."""
    found = {}
    for folder in (".", "docs", "docs/decisions", "docs/reference"):
        for name in sorted(os.listdir(os.path.join(TOP, folder)) if os.path.isdir(os.path.join(TOP, folder)) else []):
            if name.endswith(".md"):
                path = os.path.normpath(os.path.join(folder, name))
                with open(os.path.join(TOP, path)) as file:
                    found[path] = file.read()
    return found


def uses(term, text):
    """Also of several, and over the end of a line."""
    return re.search(r"\b" + r"\s+".join(map(re.escape, term.split())) + r"(?:s|es|ing)?\b", text, re.I)


def mistakes(pages):
    rows = [(row["terms"].replace("*", "").replace("`", ""), row["meaning"]) for row in ROW.finditer(pages[GLOSSARY])]
    terms = [re.sub(r" \(.*\)", "", term) for row, _ in rows for term in row.split(", ")]
    others = {path: text for path, text in pages.items() if path != GLOSSARY}
    if len(terms) < LEAST_TERMS:
        yield f"{GLOSSARY}: {len(terms)} terms, {LEAST_TERMS} expected at least"
    for term in terms:
        if terms.count(term) > 1:
            yield f"{GLOSSARY}: '{term}' is defined twice"
        if not any(uses(term, text) for text in others.values()):
            yield f"{GLOSSARY}: no document uses '{term}'"
    for path, text in others.items():
        for word in sorted(set(DEFINED.findall(text)) & set(terms)):
            if "glossary.md" not in text:
                yield f"{path}: defines '{word}' and has no link to {GLOSSARY}"


def self_test(pages):
    glossary = pages[GLOSSARY]
    broken = {
        "no document uses 'unheard'": {**pages, GLOSSARY: glossary + "\n| unheard | of nothing |\n"},
        "'plan' is defined twice": {**pages, GLOSSARY: glossary + "\n| plan | again |\n"},
        "docs/new.md: defines 'plan'": {**pages, "docs/new.md": "A *plan* is a line."},
    }
    for message, changed in broken.items():
        if not any(message in mistake for mistake in mistakes(changed)):
            yield f"self-test: a glossary with this mistake passes: {message}"


def main():
    pages = documents()
    found = [*mistakes(pages), *self_test(pages)]
    print(*found, f"{len(found)} mistakes in {GLOSSARY}", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
