#!/usr/bin/env python3
"""Makes the man pages: one in section 3 for each function of include/petsccompound.h, baijcompound(7) with the other
types' names as links to it, and compound-bench(1) and compound-tune(1).

The text of functions is the header's own. The tables of baijcompound(7) are those of docs/reference, which tests keep
equal to the source. The programs' pages have the options of their sources and, of their documents, the first paragraph,
the columns and the recipes.
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # the build reads the source tree, which stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))

import header  # noqa: E402
import source  # noqa: E402


def fail(message):
    sys.exit(f"make_man.py: {message}")


def roff(text):
    """Plain text as roff: backslashes, leading dots and hyphens (options are typed) are kept as they are."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def function_page(comment, arguments, structs, version):
    page = [f'.TH {comment.name} 3 "" "petsc-compound {version}" "petsc-compound"', ".SH NAME",
            f"{comment.name} \\- {roff(plain(comment.summary).rstrip('.'))}", ".SH SYNOPSIS", ".nf",
            "#include <petsccompound.h>", "", roff(f"PetscErrorCode {comment.name}({arguments});")]
    used = [(said, body) for said, body in structs if said.name in arguments]
    for said, body in used:
        page += ["", roff(f"typedef struct {{\n{body.rstrip()}\n}} {said.name};")]
    page += [".fi", ".SH DESCRIPTION"]
    paragraphs = [comment.summary, *(said.summary for said, _ in used), *comment.said]
    page.append("\n.PP\n".join(roff(plain(text)) for text in paragraphs))
    for title, items in comment.sections.items():
        page += [f".SH {title.upper()}", tagged([[name, plain(text)] for name, text in items])]
    functions = [name.removesuffix("()") for name in comment.see if name.endswith("()")]
    page += [".SH RETURN VALUE",
             "0, or a PETSc error code; the message says what was found, what is allowed and the remedy.",
             ".SH SEE ALSO", *(f".BR {name} (3)," for name in functions), ".BR baijcompound (7)", ""]
    return "\n".join(page)


def plain(text):
    """Without markdown's marks for code, stress and links."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text.strip().replace("`", ""))
    return re.sub(r"\*(\w[^*\n]*)\*", r"\1", text)


def table(text, heading, columns=2):
    """The rows of the first table below a heading."""
    rule = r"\|" + columns * r"---\|"
    found = re.search(rf"^{heading}\n.*?^{rule}\n((?:\|[^\n]*\n)+)", text, re.M | re.S)
    if not found:
        fail(f"no table with {columns} columns below '{heading}'")
    return [[plain(cell) for cell in row.strip("|").split("|", columns - 1)] for row in found[1].strip().split("\n")]


def types():
    """[(above baij, above aij, above sbaij, layout)]."""
    return [row[:4] for row in table(source.read("docs/reference/types.md"), "## Matrix types", columns=5)]


def filled(template, fills):
    return re.sub(r"@([A-Z_]+)@", lambda m: fills[m[1]], template)


def tagged(rows):
    return "\n".join(f".TP\n.B {roff(left)}\n{roff(right)}" for left, right in rows)


def types_page(template, names, version):
    see = "\n".join(f".BR {name} (3){',' if name != names[-1] else ''}" for name in names)
    tables = {"OPTIONS": ("options", "## Options of matrices"), "SOLVER_OPTIONS": ("options", "## Options of solvers"),
              "PLAN_WORDS": ("plans", "# Plan keywords"), "GPU_PLAN_WORDS": ("plans", "## On a GPU"),
              "ENVIRONMENT": ("environment", "# Environment variables")}
    fills = {"VERSION": version, "SEE_ALSO": see,
             "TYPES": tagged([", ".join(names), layout] for *names, layout in types())}
    fills |= {key: tagged(table(source.read(f"docs/reference/{page}.md"), heading))
              for key, (page, heading) in tables.items()}
    return filled(template, fills)


def tool_page(name, version):
    document = source.read(f"docs/{name}.md")
    paragraph = re.search(r"^# .*\n\n((?:.+\n)+)", document)
    recipes = re.search(r"^## Recipes\n\n((?:    .*\n)+)", document, re.M)
    if not paragraph or not recipes:
        fail(f"docs/{name}.md: no first paragraph, or no indented lines below '## Recipes'")
    options = [[f"{option} [{default}]" if default else option, text]
               for option, default, text in source.tool_options(name)]
    return filled(source.read(f"docs/man/{name}.1.in"),
                  {"VERSION": version, "DESCRIPTION": roff(plain(paragraph[1])), "OPTIONS": tagged(options),
                   "COLUMNS": tagged(table(document, "## Columns")),
                   "EXAMPLES": roff(re.sub("^    ", "", recipes[1].rstrip(), flags=re.M))})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path, help="folder for man1/, man3/ and man7/")
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    try:
        make(args.output, args.version)
    except source.SourceError as error:
        fail(error)


def make(output, version):
    functions, structs = header.functions(), header.structures()
    for folder in ("man1", "man3", "man7"):
        (output / folder).mkdir(parents=True, exist_ok=True)
        for old in (output / folder).iterdir():
            old.unlink()
    for comment, arguments in functions:
        page = function_page(comment, arguments, structs, version)
        (output / "man3" / f"{comment.name}.3").write_text(page)
    for name in source.TOOL_TABLES:
        (output / f"man1/{name}.1").write_text(tool_page(name, version))
    (output / "man7/baijcompound.7").write_text(types_page(
        source.read("docs/man/baijcompound.7.in"), [comment.name for comment, _ in functions], version))
    for name in [name for *names, _ in types() for name in names][1:]:
        (output / "man7" / f"{name}.7").write_text(".so man7/baijcompound.7\n")


if __name__ == "__main__":
    main()
