#!/usr/bin/env python3
"""Writes the generated parts of docs/reference/*.md from the source, and checks the rest against it.

usage: make_reference.py           writes what differs
       make_reference.py --check   writes nothing; exit status 1 where a page differs from the source

A part is what stands between the lines `<!-- made by make_reference.py: PART -->` and `<!-- end of PART -->`. All else
is written by hand. The tables of plan keywords and of environment variables are written by hand, too; each of their
keywords must be known to the parser, and the other way round.
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # the build reads this from the source tree, which stays as it is
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import header  # noqa: E402
import module  # noqa: E402
import source  # noqa: E402

# Where a pinned layout pays (docs/performance.md has the measurements).
PAYS = {
    "": "host and GPU",
    "csr": "host; GPU with little memory",
    "ellr": "GPU, rows of equal length; slower on the host",
    "bellpack": "GPU, rows of different length; slower on the host",
    "sell": "GPU; slower on the host",
    "dia": "GPU, a few full diagonals",
    "hdia": "GPU and host, bands of few diagonals",
    "ccoo": "GPU, a few rows much longer than the rest; slower on the host",
}


def cell(text):
    return text.replace("|", "\\|")


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + len(titles) * "---|"]
    return "\n".join(lines + ["| " + " | ".join(cell(text) for text in row) + " |" for row in rows])


def types():
    rows = [["`baijcompound`", "`aijcompound`", "`sbaijcompound`", "chosen by the default heuristic", PAYS[""]]]
    for preset in source.presets():
        name, what, numbers = preset
        defaults = ", ".join(f"{letter} = {number}" for letter, number in numbers.items())
        names = [f"`{base}compound{name}`" for base in ("baij", "aij", "sbaij")]
        rows.append([*names, what + (f"; {defaults}" if defaults else ""),
                     PAYS.get(name, "")])
    constants = set(re.findall(r'^#define MAT\w+ "((?:s?b?aij)compound\w*)"$', source.read(header.FILE), re.M))
    named = {name.strip("`") for row in rows for name in row[:3]}
    if constants != named:
        raise source.SourceError(f"{header.FILE} has the types {sorted(constants - named)} and lacks "
                                 f"{sorted(named - constants)} of the table of layouts in {source.LAYOUTS}")
    return table(["above `baij`", "above `aij`", "above `sbaij`", "layout", "where it pays"], rows)


def mat_options():
    return table(["option", "what it does"], [[f"`{name}`", text] for name, text in source.mat_options()])


def ksp_options():
    rows = [[f"`{name}`", text + (": " + ", ".join(values) if values else "")]
            for name, text, values in source.ksp_options()]
    return table(["option", "what it does"], rows)


def tool_options(tool):
    return table(["option", "default", "what it does"],
                 [[f"`{name}`", f"`{default}`" if default else "", text]
                  for name, default, text in source.tool_options(tool)])


def plan_keywords():
    """Keywords that decide one thing in one row."""
    rows = {}
    for keyword, decides, space in source.plan_keywords():
        rows.setdefault((decides, space), []).append(f"`{keyword}`")
    spaces = {"any": "host, GPU", "host": "host", "device": "GPU"}
    return table(["keywords", "what they decide", "for products on"],
                 [[", ".join(words), decides, spaces[space]] for (decides, space), words in rows.items()])


def events():
    return table(["event", "what it covers"], [[f"`{name}`", text] for name, text in source.log_events()])


PARTS = {
    "types": types,
    "matrix options": mat_options,
    "solver options": ksp_options,
    "plan keywords": plan_keywords,
    "events": events,
    "functions": header.markdown,
    "compound-bench options": lambda: tool_options("compound-bench"),
    "compound-tune options": lambda: tool_options("compound-tune"),
    "python module": module.markdown,
}
PART = re.compile(r"(<!-- made by make_reference\.py: ([^\n]*?) -->\n)(.*?)(<!-- end of \2 -->)", re.S)


def made(path, text):
    def fill(found):
        if found[2] not in PARTS:
            raise source.SourceError(f"{path.name}: no part is called '{found[2]}'; there are {', '.join(PARTS)}")
        return f"{found[1]}{PARTS[found[2]]()}\n\n{found[4]}"
    return PART.sub(fill, text)


def keywords_of_page():
    """The keywords of the tables of plans.md that are written by hand, as their left column has them."""
    text = PART.sub("", (HERE / "plans.md").read_text(encoding="utf-8"))
    rows = [row.split(" | ")[0] for row in text.split("\n") if row.startswith("| `")]
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


def wrong_keywords():
    """Keywords that the parser knows and plans.md lacks, and the other way round."""
    keywords = {word for word, _, _ in source.plan_keywords()}
    values = {"codes=": set(source.value_codes()) - {"none"}, "columns=": set(source.column_codes())}
    wanted = keywords - set(values) | {key + value for key, known in values.items() for value in known}
    wanted |= set(source.library_products()) | {name for name, _, _ in source.presets()}
    seen = set()
    for word in keywords_of_page():
        name = re.match(r"[^=]*=?", word)[0]
        forms = [word] if name in values else [word, name, word.split(":")[0]]
        known = wanted.intersection(forms)
        seen |= known
        if not known and word != "off: ..." and not re.fullmatch(r"\d+", word):  # `lanes=1` ... `32`
            yield f"plans.md: `{word}` is no keyword of {source.KEYWORDS}"
    for word in sorted(wanted - seen):
        yield f"plans.md: the keyword {word} of the source is missing"


def wrong_variables():
    named = re.findall(r"^\| `(COMPOUND_\w+)`", (HERE / "environment.md").read_text(encoding="utf-8"), re.M)
    known = source.variables()
    for name in sorted(set(known) - set(named)):
        yield f"environment.md: {name}, which the source reads, is missing"
    for name in sorted(set(named) - set(known)):
        yield f"environment.md: {name} is read by no source"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say what differs")
    check = parser.parse_args().check
    wrong, found = [], set()
    try:
        for path in sorted(HERE.glob("*.md")):
            text = path.read_text(encoding="utf-8")
            found |= {name for _, name, _, _ in PART.findall(text)}
            new = made(path, text)
            if new == text:
                continue
            if check:
                wrong.append(f"docs/reference/{path.name} differs from the source: run "
                             "python3 docs/reference/make_reference.py")
            else:
                path.write_text(new, encoding="utf-8")
                print(f"written: docs/reference/{path.name}")
        wrong += [f"docs/reference: no page has the part '{name}'" for name in PARTS if name not in found]
        wrong += [f"docs/reference/{line}" for line in [*wrong_keywords(), *wrong_variables()]]
    except source.SourceError as error:
        sys.exit(f"make_reference.py: {error}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
