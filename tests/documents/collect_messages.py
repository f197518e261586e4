#!/usr/bin/env python3
"""Collects from the source what a user can be told: errors, warnings, hints, reasons.

usage: collect_messages.py [-v] [ROOT]     one message on a line: FILE:LINE: text, with ... for what a program puts in

A message is an expression of string literals (put together with + or by PETSc's formats) of three words or more, or of
two where it is thrown or checked. NOT_MESSAGES says which expressions are none, and why; PART_OF, which are only put
into other messages. With -v the statement and the calls around a message follow it.
"""

import ast
import dataclasses
import pathlib
import re
import sys

FOLDERS = ("src", "plugin", "include")
SUFFIXES = {".cpp", ".hpp", ".h"}
GAP = "..."

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\#(?:[^\n\\]|\\.)*|R"(?P<mark>\w*)\(.*?\)(?P=mark)"'
                   r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
                   r"|'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|[0-9][\w.']*|->|::|\+=|==|<<|\s+|.", re.S)
FORMAT = re.compile(r"%(?:%|[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t|L)?[diouxXeEfFgGcsp])")
ESCAPES = {"n": " ", "t": " ", '"': '"', "\\": "\\", "'": "'"}
OPEN, CLOSE = "([{", ")]}"

# Calls that end in an error or in a line that a user sees: their texts count from two words on.
SPEAKING = re.compile(r"^(throw|PetscCheck|PetscAssert|PetscInfo|SETERR\w*|\w*error|PetscFPrintf|PetscErrorPrintf)$")

# (file, context, text) of expressions that are no messages; context: statement and calls around it, outermost first.
NOT_MESSAGES = [
    ("", r"\b(static_assert|PetscViewerASCIIPrintf|PetscLogEventRegister|sscanf)\b", "", "views, logs, compilers"),
    ("", r"\bPetscOptions(Begin|Int|EList|Head\w*)\b", "", "help texts"),
    ("^plugin/", r"\b(table|rows|options|switches|settings|columns|coo_columns|places|memory_spaces) = \{", "",
     "tables of names and help texts"),
    ("^src/layout/layout_spec", r"\b(table|places) = \{", "", "tables of names and help texts"),
    ("^plugin/view/", "", "kept;$", "views"),
    ("", "(container|schema|used_in|name) =", "", "names"),
    ("^src/planner/candidates", r"= \{", "", "plans"),
    ("^src/plan/", "return", "unroll=... threads=", "plans"),
    ("^src/device/|^src/cuda/kernel_source", "^(?!.*throw)", "", "text of kernels"),
    ("^src/(cuda|entry|layout)/", "",
     r"#include|struct \w|__global__|using \w+ =|constexpr|#line|^\(use of entry|slices<|rows<|^threads of a",
     "text of kernels"),
    ("^src/cuda/device_code/", "", "", "said when the plugin is built"),
    ("^plugin/tools/bench/(report|measure|machine|prepare_case|grid)", "^(?!.*throw)", "", "reports and progress"),
    ("^plugin/tools/tune/(tune_table|calibrate)", "^(?!.*throw)", "", "reports and progress"),
    ("^plugin/tools/", r"\b(say|PetscPrintf|text|counted|progress|[ap]dded)\b", "", "reports and progress"),
    ("^plugin/tools/tune/main", "", "added to ..., for programs", "reports and progress"),
    ("^plugin/tools/(bench|tune)/main", "^(?!.*throw).*(intro|help|about|Program)", "", "help texts"),
]

# (file, context, text) of pieces that are only put into another message, and a phrase of that one.
PART_OF = [
    ("^src/cuda/", r"\bcheck \(", "", "CUDA failed at"),
    ("^plugin/tools/", r"\bmust_cuda \(", "", "CUDA failed at"),
    ("^src/layout/", "throw_beyond_32_bits", "", "is beyond 32 bits"),
    ("^src/pattern/pattern", "broken", "", "broken block pattern:"),
    ("^src/storage/sparse_product", "check_equal", "", "product of sparse matrices:"),
    ("^src/planner/device_tables", "wrong", "", "file of devices '"),
    ("^src/plan/keywords", r"keywords = \{|View ", "", "is not for layout"),
    ("^plugin/spmv/(refresh|operator)", "(within_memory|leave_device|no_memory)", "", "the device has no memory left"),
    ("^plugin/spgemm/", "return", "^on the (host|device)", "The product of two matrices runs in blocks"),
    ("^plugin/tools/bench/matrix_market", r"\b(fail|choose|next_\w+) \(", "", "not a Matrix Market file"),
    ("^plugin/tools/", "expected|listed|number_option|limit_option|wrong_value|window =", "", "expected true or false"),
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


def fits(message, row):
    return all(re.search(pattern, text) for pattern, text in zip(row, (message.file, message.context, message.text)))


def part_of(message):
    """The phrase of the message that this is a piece of, or None."""
    return next((row[3] for row in PART_OF if fits(message, row)), None)


def is_message(message):
    speaks = any(SPEAKING.match(word) for word in message.context.split())
    if words_in(message.text) < (2 if speaks else 3):
        return False
    return not any(fits(message, row) for row in NOT_MESSAGES)


def text_of(node):
    """The text that a Python expression makes, with ... for what the program puts in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    return GAP


def python_messages(name, text):
    """What Python code raises with a text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for argument in node.exc.args:
                said = re.sub(r"\s+", " ", text_of(argument)).strip()
                yield Message(name, node.lineno, said, "throw")


def messages(root):
    """All messages of the tree."""
    root = pathlib.Path(root)
    for path in sorted((root / "plugin" / "python").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        yield from filter(is_message, python_messages(name, path.read_text(encoding="utf-8")))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                name = path.relative_to(root).as_posix()
                yield from filter(is_message, Reader(name, path.read_text(encoding="utf-8")).found)


if __name__ == "__main__":
    names = [word for word in sys.argv[1:] if word != "-v"]
    for found in messages(names[0] if names else "."):
        print(f"{found.file}:{found.line}: {found.text}" + (f"      [{found.context}]" if "-v" in sys.argv else ""))
