#!/usr/bin/env python3
"""Makes the man pages: one in section 3 for each function of include/petsccompound.h, baijcompound(7) with the other
types' names as links to it, and compound-bench(1) and compound-tune(1).

The text is the header's own: a comment directly above declarations describes all of them. The tables of baijcompound(7)
are the README's, which tests keep equal to the program. The programs' pages have the options of their sources and, of
their documents, the first paragraph, the columns and the recipes.
"""

import argparse
import pathlib
import re
import sys

FUNCTION = re.compile(r"^PETSC_EXTERN PetscErrorCode (\w+)\((.*)\);$")
STRING = r'(?:"(?:[^"\\]|\\.)*"\s*)+'  # C++ joins neighbouring ones
TOOL_OPTION = re.compile(rf'^    \{{"(-\w+)",\s*({STRING}),\s*({STRING}),', re.M)
TOOLS = {"compound-bench": ["plugin/tools/bench/case_options.cpp", "plugin/tools/bench/options.cpp"],
         "compound-tune": ["plugin/tools/bench/case_options.cpp", "plugin/tools/tune/tune_options.cpp"]}
STRUCT = re.compile(r"^/\*((?:(?!\*/).)*)\*/\ntypedef struct \{\n(.*?)\} (\w+);", re.S | re.M)


def fail(message):
    sys.exit(f"make_man.py: {message}")


def roff(text):
    """Plain text as roff: backslashes, leading dots and hyphens (options are typed) are kept as they are."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def comment_text(lines):
    text = " ".join(line.strip() for line in lines)
    return re.sub(r"\s+", " ", text.removeprefix("/*").removesuffix("*/")).strip()


def functions(header):
    """[(comment, [(name, declaration)])]: a comment and the declarations below it, up to an empty line."""
    groups, lines = [], header.split("\n")
    for number, line in enumerate(lines):
        found = FUNCTION.match(line)
        if not found:
            if line.startswith("PETSC_EXTERN"):
                fail(f"petsccompound.h, line {number + 1}: '{line}' is not PETSC_EXTERN PetscErrorCode "
                     "NAME(ARGUMENTS); on one line")
            continue
        if FUNCTION.match(lines[number - 1]):
            groups[-1][1].append((found[1], found[2]))
            continue
        end = start = number - 1
        while start >= 0 and not lines[start].startswith("/*"):
            start -= 1
        if start < 0 or not lines[end].endswith("*/"):
            fail(f"petsccompound.h, line {number + 1}: {found[1]} has no comment directly above it; write what it does "
                 "there")
        groups.append((comment_text(lines[start:end + 1]), [(found[1], found[2])]))
    return groups


def first_sentence(text):
    return re.split(r"(?<=[.;])\s", text)[0].rstrip(".;")


def function_page(comment, members, structs, version):
    names = [name for name, _ in members]
    used = [s for s in structs if any(s[2] in arguments for _, arguments in members)]
    comment = " ".join([comment_text(said.split("\n")) for said, _, _ in used] + [comment])
    page = [f'.TH {names[0]} 3 "" "petsc-compound {version}" "petsc-compound"', ".SH NAME",
            f"{', '.join(names)} \\- {roff(first_sentence(comment))}", ".SH SYNOPSIS", ".nf",
            "#include <petsccompound.h>", ""]
    page += [roff(f"PetscErrorCode {name}({arguments});") for name, arguments in members]
    for _, body, name in used:
        page += ["", roff(f"typedef struct {{\n{body.rstrip()}\n}} {name};")]
    page += [".fi", ".SH DESCRIPTION", roff(comment), ".SH RETURN VALUE",
             "0, or a PETSc error code; the message says what was found, what is allowed and how to go on.",
             ".SH SEE ALSO", ".BR baijcompound (7)", ""]
    return "\n".join(page)


def plain(text):
    """Without markdown's marks for code and stress."""
    return re.sub(r"\*(\w[^*\n]*)\*", r"\1", text.strip().replace("`", ""))


def table(text, heading, columns=2):
    """The rows of the first table below a heading."""
    rule = r"\|" + columns * r"---\|"
    found = re.search(rf"^{heading}\n.*?^{rule}\n((?:\|[^\n]*\n)+)", text, re.M | re.S)
    if not found:
        fail(f"no table with {columns} columns below '{heading}'")
    return [[plain(cell) for cell in row.strip("|").split("|", columns - 1)] for row in found[1].strip().split("\n")]


def types(readme):
    """[(above baij, above aij, layout)]."""
    return table(readme, "### Types", columns=3)


def tool_options(file, source):
    """Of a program's table: name with default, help."""

    def joined(literals):
        return re.sub(r'"\s*"', "", literals.strip())[1:-1].replace('\\"', '"')

    rows = [(name, joined(text), joined(default)) for name, text, default in TOOL_OPTION.findall(source)]
    begun = source.count('\n    {"-')
    if len(rows) != begun:
        fail(f"{file}: {begun} rows begin like options, {len(rows)} of them have name, help and default")
    return [[f"{name} [{default}]" if default else name, text] for name, text, default in rows]


def filled(template, fills):
    return re.sub(r"@([A-Z_]+)@", lambda m: fills[m[1]], template)


def tagged(rows):
    return "\n".join(f".TP\n.B {roff(left)}\n{roff(right)}" for left, right in rows)


def types_page(template, readme, groups, version):
    names = [name for _, members in groups for name, _ in members]
    see = "\n".join(f".BR {name} (3){',' if name != names[-1] else ''}" for name in names)
    tables = {"OPTIONS": "Options", "PLAN_WORDS": "Words of a plan",
              "GPU_PLAN_WORDS": "Words of a plan on a GPU", "ENVIRONMENT": "Environment variables"}
    fills = {"VERSION": version, "SEE_ALSO": see,
             "TYPES": tagged([f"{baij}, {aij}", layout] for baij, aij, layout in types(readme))}
    fills |= {key: tagged(table(readme, f"### {name}")) for key, name in tables.items()}
    return filled(template, fills)


def tool_page(name, source, version):
    document = (source / f"docs/{name}.md").read_text()
    paragraph = re.search(r"^# .*\n\n((?:.+\n)+)", document)
    recipes = re.search(r"^## Recipes\n\n((?:    .*\n)+)", document, re.M)
    if not paragraph or not recipes:
        fail(f"docs/{name}.md: no first paragraph, or no indented lines below '## Recipes'")
    options = [option for file in TOOLS[name] for option in tool_options(file, (source / file).read_text())]
    description = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain(paragraph[1]))  # links
    return filled((source / f"docs/man/{name}.1.in").read_text(),
                  {"VERSION": version, "DESCRIPTION": roff(description), "OPTIONS": tagged(options),
                   "COLUMNS": tagged(table(document, "## Columns")),
                   "EXAMPLES": roff(re.sub("^    ", "", recipes[1].rstrip(), flags=re.M))})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, type=pathlib.Path, help="the repository")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="folder for man1/, man3/ and man7/")
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    header = (args.source / "include/petsccompound.h").read_text()
    readme = (args.source / "README.md").read_text()
    template = (args.source / "docs/man/baijcompound.7.in").read_text()
    groups, structs = functions(header), STRUCT.findall(header)
    if not groups:
        fail("petsccompound.h declares no function")
    for folder in ("man1", "man3", "man7"):
        (args.output / folder).mkdir(parents=True, exist_ok=True)
        for old in (args.output / folder).iterdir():
            old.unlink()
    for comment, members in groups:
        page = function_page(comment, members, structs, args.version)
        for name, _ in members:
            link = f".so man3/{members[0][0]}.3\n"
            (args.output / "man3" / f"{name}.3").write_text(page if name == members[0][0] else link)
    for name in TOOLS:
        (args.output / f"man1/{name}.1").write_text(tool_page(name, args.source, args.version))
    (args.output / "man7/baijcompound.7").write_text(types_page(template, readme, groups, args.version))
    for name in [name for baij, aij, _ in types(readme) for name in (baij, aij)][1:]:
        (args.output / "man7" / f"{name}.7").write_text(".so man7/baijcompound.7\n")


if __name__ == "__main__":
    main()
