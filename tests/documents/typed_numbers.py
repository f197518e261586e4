"""Numbers of pages that state a measurement and stand outside the marks of config/figures.py."""

import re

MARKED = re.compile(r"<!-- figures: [\w-]+ -->.*?<!-- end of figures -->", re.DOTALL)
NUMBER = r"(?<![\w.^-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
UNIT = r"(?:[munμ]?s|[KMGT]i?B(?:/s)?|%|(?:milli|micro|nano)?seconds?|minutes?|hours?|cycles|times)"
MEASURED = re.compile(rf"{NUMBER}(?:x?(?:,| to| and| or|, and)? {NUMBER})*(?:x| ?{UNIT})(?![\w/^])")
# In a table the unit is in the head.
CELL = re.compile(r"[*~+ -]*\d[\d,]*(?:\.\d+)?%?[*]*(?:[ ,(;].*)?")
NOT_READ = [re.compile(pattern, re.DOTALL) for pattern in (r"```.*?```", r"`[^`]*`", r"\]\([^)]*\)", r"<!--.*?-->")]


def paragraphs(text):
    """(line, section, text) of each paragraph, item or row of a table, on one line."""
    begin, lines, section = 0, [], ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if lines and (not line.strip() or re.match(r"\s*([-*] |\d+\. |\||#)", line)):
            yield begin, section, " ".join(lines)
            lines = []
        if line.startswith("#"):
            section = line.strip("# ")
        elif line.strip():
            begin = begin if lines else number
            lines.append(line.strip())


def typed(text):
    """(line, section, paragraph, number) of each."""
    text = MARKED.sub(lambda match: "\n" * match.group().count("\n"), text)
    for number, section, paragraph in paragraphs(text):
        plain = paragraph
        for pattern in NOT_READ:
            plain = pattern.sub(" ", plain)
        found = [match.group() for match in MEASURED.finditer(plain)]
        if plain.startswith("|"):
            found += [cell for cell in map(str.strip, plain.strip("| ").split("|")) if CELL.fullmatch(cell)]
        yield from ((number, section, paragraph, of) for of in found)
