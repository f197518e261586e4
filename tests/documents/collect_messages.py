#!/usr/bin/env python3
"""Collects from the source what a user can be told: errors, warnings, hints, reasons.

usage: collect_messages.py [ROOT]       one message on a line: FILE:LINE: text, with ... for what a program puts in

A message is an expression of string literals (put together with + or by PETSc's formats) of three words or more;
of one word or more where it is thrown or checked. NOT_MESSAGES says which expressions are none, and why.
"""

import dataclasses
import pathlib
import re
import sys

FOLDERS = ("src", "plugin", "include")
SUFFIXES = {".cpp", ".hpp", ".h"}
GAP = "..."

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\#(?:[^\n\\]|\\.)*|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"'
                   r"|'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|[0-9][\w.']*|->|::|\+=|==|<<|\s+|.", re.S)
FORMAT = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t|L)?[diouxXeEfFgGcsp])")
ESCAPES = {"n": " ", "t": " ", '"': '"', "\\": "\\", "'": "'"}
OPEN, CLOSE = "([{", ")]}"

# Calls that end in an error or a line that a user sees: their texts count from one word on.
SPEAKING = re.compile(r"^(throw|PetscCheck|PetscAssert|PetscInfo|SETERR\w*|\w*error|PetscFPrintf|PetscErrorPrintf)$")

# (file, context, text) of expressions that are no messages; context: statement and calls around it, outermost first.
NOT_MESSAGES = [
    ("", r"\b(static_assert|_Static_assert|PetscViewerASCIIPrintf|PetscViewerStringSPrintf|PetscLogEventRegister)\b", "",
     "views, logs and checks of the compiler"),
]


@dataclasses.dataclass(frozen=True)
class Message:
    file: str
    line: int
    text: str
    context: str


def plain(literal):
    """The literal's text as it is printed, with ... for what a format puts in."""
    text = re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], " "), literal)
    return FORMAT.sub(lambda m: "%" if m[0] == "%%" else GAP, text)


def tokens_of(text):
    """(line, kind, value) of tokens without comments, white space and lines of the preprocessor."""
    line = 1
    for m in TOKEN.finditer(text):
        value = m[0]
        if value.startswith('"'):
            yield line, "text", plain(m["text"])
        elif not value.isspace() and not value.startswith(("//", "/*", "#")):
            yield line, "code", "''" if value[0] == "'" else '""' if value.startswith('R"') else value
        line += value.count("\n")


class Reader:
    """Goes through the tokens of a file once; expressions end at commas, semicolons, braces and ? and :."""

    ENDS = {",", ";", "?", ":", "return", "throw", "=", "+=", "case", "else", "&&", "||", "==", "!"}
    BODY = {")", "]", "}", "else", "try", "do", "const", "noexcept", "override", "mutable", ";", "{"}
    SCOPES = {"struct", "class", "namespace", "enum", "union", "extern"}

    def __init__(self, file, text):
        self.file, self.found = file, []
        self.tokens = [*tokens_of(text), (0, "code", "")]
        self.at = 0
        self.block("", "")

    def block(self, closing, context):
        """Statements up to the closing bracket, or the elements of a list; context is what stands around them."""
        statement, parts, start = [], [], 0
        before = ""
        while self.at < len(self.tokens) - 1:
            line, kind, value = self.tokens[self.at]
            self.at += 1
            if kind == "text":
                start = start if any(part != GAP for part in parts) else line
                if parts and parts[-1] != GAP and before == '"':
                    parts[-1] += value
                else:
                    parts.append(value)
                before = '"'
                continue
            if value in CLOSE or value in self.ENDS:
                self.end(parts, start, context, statement)
                parts = []
            if value in CLOSE:
                return
            if value == ";":
                statement = []
            elif value in OPEN:
                is_body = value == "{" and (before in self.BODY or not self.SCOPES.isdisjoint(statement)
                                            or before == "" and not closing or statement[-2:-1] == ["->"])
                if value == "{":
                    self.end(parts, start, context, statement)
                    parts = []
                name = before if re.match(r"\w", before) else ""
                inner = context if is_body else " ".join([context, *statement[-4:], value] if value != "("
                                                         else [context, self.head(statement), name, "("])
                self.block(CLOSE[OPEN.index(value)], inner.strip())
                parts.append(GAP)
                if is_body:
                    statement, parts = [], []
                before = CLOSE[OPEN.index(value)]
                continue
            else:
                statement.append(value)
                if value not in ("+", "return", "throw", "=", "+=") and value not in self.ENDS:
                    parts.append(GAP)
            before = value
        self.end(parts, start, context, statement)

    @staticmethod
    def head(statement):
        """The words of a statement that say what becomes of its value."""
        words = [word for word in statement if word in ("throw", "return", "constexpr", "static_assert")]
        if "=" in statement or "+=" in statement:
            words.append(" ".join(statement[:statement.index("=" if "=" in statement else "+=") + 1]))
        return " ".join(words)

    def end(self, parts, start, context, statement):
        text = ""
        for part in parts:
            if text.endswith("%") and part == GAP:  # "%" PETSC_INT_FMT
                text = text[:-1]
            text += GAP if part == GAP and not text.endswith(GAP) else part if part != GAP else ""
        if any(part != GAP for part in parts):
            whole = f"{context} {self.head(statement)}".strip()
            self.found.append(Message(self.file, start, re.sub(r"\s+", " ", text).strip(), whole))


def words_in(text):
    return len([word for word in text.replace(GAP, " ").split() if re.search(r"[A-Za-z]{2}|^a$", word)])


def is_message(message):
    speaks = any(SPEAKING.match(word) for word in message.context.split())
    if words_in(message.text) < (1 if speaks else 3):
        return False
    return not any(re.search(file, message.file) and re.search(context, message.context)
                   and re.search(text, message.text) for file, context, text, _ in NOT_MESSAGES)


def messages(root):
    """All messages of the tree."""
    root = pathlib.Path(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                name = path.relative_to(root).as_posix()
                yield from filter(is_message, Reader(name, path.read_text(encoding="utf-8")).found)


if __name__ == "__main__":
    for found in messages(sys.argv[1] if sys.argv[1:] else "."):
        print(f"{found.file}:{found.line}: {found.text}" + (f"      [{found.context}]" if "-v" in sys.argv else ""))
