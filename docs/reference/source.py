"""Reads tables of the C++ sources: strings, rows in braces, options, keywords of plans, types, events.

Nothing is compiled. A source that is written in another way than expected ends with a message that names the file and
what was looked for.
"""

import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRING = r'"(?:[^"\\]|\\.)*"'
TOKEN = re.compile(rf'{STRING}|//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|[-+,(){{}}]|[^\s]', re.S)


class SourceError(Exception):
    pass


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def wrapped(text, first="", others=""):
    """A paragraph of the pages, in lines of at most 120 columns."""
    return textwrap.fill(text, 120, initial_indent=first, subsequent_indent=others or " " * len(first),
                         break_long_words=False, break_on_hyphens=False)


def literal(token):
    """The text of a C++ string without its prefix."""
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), token[1:-1])


def tokens(text):
    return [t for t in TOKEN.findall(text) if not t.startswith(("//", "/*"))]


def split_at_commas(parts):
    """Lists of tokens between the commas that stand in no bracket."""
    found, depth = [[]], 0
    for token in parts:
        depth += (token in ("(", "{")) - (token in (")", "}"))
        if token == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [part for part in found if part]


def rows(path, declaration):
    """The rows of a table, each a list of its members, each a list of tokens: `declaration` is what stands before
    ` = {`."""
    text = read(path)
    begin = re.search(declaration + r"\s*=\s*\{", text)
    if not begin:
        raise SourceError(f"{path}: no table '{declaration} = {{'")
    depth, inside = 1, []
    for token in tokens(text[begin.end():]):
        depth += (token == "{") - (token == "}")
        if depth == 0:
            break
        inside.append(token)
    table = [split_at_commas(row[1:-1]) if row[0] == "{" else [row] for row in split_at_commas(inside)]
    if not table:
        raise SourceError(f"{path}: the table '{declaration}' is empty")
    return table


def string_of(path, parts, calls=None):
    """Literals that stand side by side or are added, and calls of functions whose text `calls` has."""
    text, at = "", 0
    while at < len(parts):
        token = parts[at]
        if token.startswith('"'):
            text += literal(token)
        elif token != "+":
            if parts[at + 1:at + 3] != ["(", ")"] or token not in (calls or {}):
                raise SourceError(f"{path}: '{' '.join(parts)}' is not made of strings and of {sorted(calls or {})}: "
                                  "teach docs/reference/source.py what it says")
            text += calls[token]()
            at += 2
        at += 1
    return text


def first_strings(path, declaration):
    return [string_of(path, row[0]) for row in rows(path, declaration)]


# Layouts.

LAYOUTS = "src/layout/layout_spec.cpp"


def presets():
    """[(name, what it is, {letter: default})]"""
    table = []
    for row in rows(LAYOUTS, r"Preset table\[\]"):
        numbers = {}
        for number in row[3:]:
            if number == ["window"]:
                numbers["sigma"] = "1"
            elif number[0] == "{":
                members = split_at_commas(number[1:-1])
                numbers[string_of(LAYOUTS, members[4])] = "".join(members[0])
        table.append((string_of(LAYOUTS, row[0]), string_of(LAYOUTS, row[1]), numbers))
    return table


def form(preset):
    name, _, numbers = preset
    return name + "".join(f"[:{letter}" for letter in numbers) + "]" * len(numbers)


def preset_forms():
    return ", ".join(form(preset) for preset in presets())


# Entries and libraries.

def entry_names():
    """[(name, whether it is approximate)] of the built-in block formats, in their order."""
    listed = re.search(r"kind_list<(.*?)>>;", read("src/device/entry/entries.hpp"), re.S)
    headers = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "src/device/entry").glob("*.hpp")}
    found = []
    for kind in re.findall(r"<(\w+)", listed[1] + ">") if listed else []:
        text = next((text for text in headers.values() if f'template_name = "{kind}"' in text), None)
        if text is None:
            raise SourceError(f"src/device/entry: no header says template_name = \"{kind}\"")
        found.append((re.search(r'\*name = "(\w+)"', text)[1], bool(re.search(r"\btolerance\b", text))))
    if not found:
        raise SourceError("src/device/entry/entries.hpp: no kind_list")
    return found


def built_in_entry_names():
    return ", ".join(name + (" (approximate)" if approximate else "") for name, approximate in entry_names())


def library_products():
    return first_strings("src/plan/library_products.cpp", r"LibraryProduct products\[\]")


def library_names():
    return ", ".join(dict.fromkeys(word.split(":")[0] for word in library_products()))


# Options.

OPTIONS = "plugin/options/options.cpp"
CALLS = {"built_in_entry_names": built_in_entry_names, "preset_forms": preset_forms, "library_names": library_names}


def mat_options():
    """[(name with its dash, help)] of the tables that matrices read."""
    found = rows(OPTIONS, r"Option options\[\]") + rows(OPTIONS, r"Switch switches\[\]")
    return [("-mat_compound_" + string_of(OPTIONS, row[0]), string_of(OPTIONS, row[1], CALLS)) for row in found]


PETSC_OPTION = re.compile(rf'PetscOptions(?!HasName|Get)\w+\(\s*"(-\w+)",\s*((?:{STRING}\s*)+),\s*(\w+),\s*(\w+)')


def ksp_options():
    """[(name, help, [values])] of the calls of PetscOptions...() in plugin/ksp and plugin/pc."""
    found = []
    for path in sorted([*(ROOT / "plugin/ksp").glob("*.cpp"), *(ROOT / "plugin/pc").glob("*.cpp")]):
        text = path.read_text(encoding="utf-8")
        for name, help_text, _, values in PETSC_OPTION.findall(text):
            listed = re.search(rf"\b{values}\[\] = \{{([^}}]*)\}}", text)
            found.append((name, string_of(path.name, tokens(help_text)),
                          [literal(v) for v in re.findall(STRING, listed[1])] if listed else []))
        begun = len(re.findall(r'PetscOptions(?!HasName|Get)\w+\(\s*"-', text))
        if begun != len(PETSC_OPTION.findall(text)):
            raise SourceError(f"{path}: {begun} calls of PetscOptions...() with a name, of which "
                              f"{len(PETSC_OPTION.findall(text))} can be read")
    return found


TOOL_TABLES = {
    "compound-bench": ["plugin/tools/bench/case_options.cpp", "plugin/tools/bench/options.cpp"],
    "compound-tune": ["plugin/tools/bench/case_options.cpp", "plugin/tools/tune/tune_options.cpp"],
}


def tool_options(tool):
    """[(name, default or nothing, help)]"""
    found = []
    for path in TOOL_TABLES[tool]:
        for row in rows(path, r"OptionRow<\w+> rows\[\]"):
            found.append((string_of(path, row[0]), string_of(path, row[2]), string_of(path, row[1])))
    return found


# Keywords of plans.

KEYWORDS = "src/plan/keywords.cpp"


def plan_keywords():
    """[(keyword, with its `=` if it takes a value, what it decides, host, device or any)]"""
    named = dict(re.findall(rf'(\w+) = ({STRING})', read(KEYWORDS)))
    found = []
    for row in rows(KEYWORDS, r"Keyword keywords\[\]"):
        decides = row[1][0]
        if not decides.startswith('"'):
            if decides not in named:
                raise SourceError(f"{KEYWORDS}: no text is called '{decides}'")
            decides = named[decides]
        space = row[3][0] if len(row) > 3 and row[3][0] in ("host", "device") else "any"
        found.append((string_of(KEYWORDS, row[0]), literal(decides), space))
    return found


def value_codes():
    return first_strings("src/plan/codes.cpp", r"ValueCode table\[\]")


def column_codes():
    return first_strings("src/layout/column_codes.cpp", r"ColumnCode table\[\]")


# Environment variables.

READS_VARIABLE = re.compile(
    r'(?:getenv|from_environment|library_names|environ\.get|environ)[(\[]\s*"(COMPOUND_\w+)"')
FOR_TESTS = {"COMPOUND_CUDA_FAIL_ALLOCATION", "COMPOUND_VALUES_APART"}


def variables():
    """The environment variables that the sources read, but for those of tests."""
    files = [path for top in ("src", "plugin") for suffix in ("*pp", "*.py") for path in (ROOT / top).rglob(suffix)]
    named = {name for path in files for name in READS_VARIABLE.findall(path.read_text(encoding="utf-8"))}
    return sorted(named - FOR_TESTS)


# Log events.

def log_events():
    """[(name, what it covers)]: the names of log.cpp, what the comment in log.hpp says of each."""
    names = [literal(row[0][0]) for row in rows("plugin/petsc/log.cpp", r"char\* names\[\]")]
    comment = re.search(r"((?:^///[^\n]*\n)+)enum class Event", read("plugin/petsc/log.hpp"), re.M)
    text = re.sub(r"\s*\n?/// ?", " ", comment[1] if comment else "").strip()
    said = dict(re.findall(r"(\w+): (.*?)\.(?=\s+\w+:|$)", text))
    if sorted(said) != sorted(names):
        raise SourceError(f"plugin/petsc/log.hpp: the comment above Event explains {sorted(said)} as 'NAME: text.'; "
                          f"log.cpp registers {sorted(names)}")
    return [(name, said[name]) for name in names]
