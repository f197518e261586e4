"""include/petsccompound.h: its functions, structures and types with their comments."""

import re

import source

FILE = "include/petsccompound.h"
FUNCTION = re.compile(r"^PETSC_EXTERN PetscErrorCode (\w+)\((.*)\);$")
STRUCT = re.compile(r"^/\*((?:(?!\*/).)*)\*/\ntypedef struct \{\n(.*?)\} (\w+);", re.S | re.M)


def comment_text(lines):
    text = " ".join(line.strip() for line in lines)
    return re.sub(r"\s+", " ", text.removeprefix("/*").removesuffix("*/")).strip()


def functions(text):
    """[(comment, [(name, arguments)])]: a comment and the declarations below it, up to an empty line."""
    groups, lines = [], text.split("\n")
    for number, line in enumerate(lines):
        found = FUNCTION.match(line)
        if not found:
            if line.startswith("PETSC_EXTERN"):
                raise source.SourceError(f"{FILE}, line {number + 1}: '{line}' is not PETSC_EXTERN PetscErrorCode "
                                         "NAME(ARGUMENTS); on one line")
            continue
        if FUNCTION.match(lines[number - 1]):
            groups[-1][1].append((found[1], found[2]))
            continue
        end = start = number - 1
        while start >= 0 and not lines[start].startswith("/*"):
            start -= 1
        if start < 0 or not lines[end].endswith("*/"):
            raise source.SourceError(f"{FILE}, line {number + 1}: {found[1]} has no comment directly above it; write "
                                     "what it does there")
        groups.append((comment_text(lines[start:end + 1]), [(found[1], found[2])]))
    if not groups:
        raise source.SourceError(f"{FILE} declares no function")
    return groups


def markdown():
    text, page = source.read(FILE), []
    for comment, members in functions(text):
        page.append(f"## {', '.join(name for name, _ in members)}")
        page.append("```c\n" + "\n".join(f"PetscErrorCode {name}({said});" for name, said in members) + "\n```")
        page.append(comment)
    for comment, body, name in STRUCT.findall(text):
        page += [f"## {name}", comment_text(comment.split("\n")), f"```c\ntypedef struct {{\n{body}}} {name};\n```"]
    return "\n\n".join(page)
