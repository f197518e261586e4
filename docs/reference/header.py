"""include/petsccompound.h: what its comments in PETSc's form say of functions, types and structures.

A comment begins with the name and a summary. Paragraphs follow; a line such as `Input Parameters:` begins a section,
and lines with `+`, `.` or `-` before them are its items. `.seealso:` ends it.
"""

import re

import source

FILE = "include/petsccompound.h"
FUNCTION = re.compile(r"^(?:PETSC_EXTERN|static inline) PetscErrorCode (\w+)\((.*)\)(?:;| \{)$")
STRUCT = re.compile(r"S\*/\ntypedef struct \{\n(.*?)\} (\w+);", re.S)
COMMENT = re.compile(r"^/\*(MC|@C?|S)\n(.*?)^(?:M|@|S)\*/\n([^\n]*)", re.S | re.M)
SECTION = re.compile(r"^(Options Database Keys?|Input Parameters?|Output Parameters?|Notes?):$")
ITEM = re.compile(r"^[+.-]  (.+?) - (.*)$")


class Comment:
    """name, summary, kind (MC, @C, S), said (paragraphs before sections and in notes), sections ({title: [(item,
    text)]}), see ([names]), level."""

    def __init__(self, kind, text, below):
        self.kind, self.below = kind, below
        self.said, self.sections, self.see, self.level = [], {}, [], ""
        body, _, see = text.partition(".seealso:")
        self.see = re.findall(r"`([^`]+)`", see)
        paragraphs = [p for p in re.split(r"\n\s*\n", body.strip("\n")) if p.strip()]
        head = re.fullmatch(r"(\w+) - (?:\1 = \"\w+\" - )?(.*)", " ".join(paragraphs[0].split()))
        if not head:
            raise source.SourceError(f"{FILE}: a comment begins with '{paragraphs[0].strip()}'; write NAME - SUMMARY")
        self.name, self.summary = head.groups()
        for paragraph in paragraphs[1:]:
            self.take([line.strip() for line in paragraph.split("\n")])
        if not self.level or not self.see:
            raise source.SourceError(f"{FILE}: the comment of {self.name} lacks 'Level:' or '.seealso:'")

    def take(self, lines):
        title = SECTION.match(lines[0])
        if lines[0].startswith("Level: "):
            self.level = lines[0].removeprefix("Level: ")
        elif title and not title[1].startswith("Note"):
            items = self.sections.setdefault(title[1], [])
            for line in lines[1:]:
                item = ITEM.match(line)
                if item:
                    items.append(item.groups())
                elif items:
                    items[-1] = (items[-1][0], f"{items[-1][1]} {line}")
                else:
                    raise source.SourceError(f"{FILE}: {self.name}: '{line}' is no item; write '.  NAME - TEXT'")
        else:
            self.said.append(" ".join(lines[1:] if title else lines))


def comments():
    text = source.read(FILE)
    found = [Comment(*match) for match in COMMENT.findall(text)]
    names = {comment.name for comment in found}
    declared = [line for line in text.split("\n") if line.startswith(("PETSC_EXTERN", "static inline"))]
    for line in declared:
        function = FUNCTION.match(line)
        if not function:
            raise source.SourceError(f"{FILE}: '{line}' is not PETSC_EXTERN PetscErrorCode NAME(ARGUMENTS); on one "
                                     "line")
        if function[1] not in names:
            raise source.SourceError(f"{FILE}: {function[1]} has no comment /*@C ... @*/ directly above it")
    if not declared:
        raise source.SourceError(f"{FILE} declares no function")
    return found


def functions():
    """[(comment, arguments)]"""
    return [(c, FUNCTION.match(c.below)[2]) for c in comments() if FUNCTION.match(c.below)]


def types():
    return [c for c in comments() if c.kind == "MC"]


def structures():
    """[(comment, members as they are written)]"""
    bodies = {name: body for body, name in STRUCT.findall(source.read(FILE))}
    return [(c, bodies[c.name]) for c in comments() if c.kind == "S"]


def part(comment, declaration=""):
    page = [f"### {comment.name}", source.wrapped(comment.summary)]
    page += [f"```c\n{declaration}\n```"] if declaration else []
    for title, items in comment.sections.items():
        page.append(f"*{title}*")
        page.append("\n".join(source.wrapped(f"`{name}`: {text}", "- ") for name, text in items))
    page += [source.wrapped(text) for text in comment.said]
    page.append(source.wrapped("See " + ", ".join(f"`{name}`" for name in comment.see) + "."))
    return "\n\n".join(page)


def markdown():
    page = ["## Functions"]
    page += [part(c, f"PetscErrorCode {c.name}({arguments});") for c, arguments in functions()]
    page += ["## Structures"] + [part(c, f"typedef struct {{\n{body}}} {c.name};") for c, body in structures()]
    page += ["## Types"] + [part(c) for c in types()]
    return "\n\n".join(page)
