"""What the Python module gives away, from its source, which is not imported: signatures and docstrings."""

import ast
import re

import source

FOLDER = "plugin/python/petsccompound"


def tree(name):
    return ast.parse(source.read(f"{FOLDER}/{name}.py"))


def given_away():
    """{name: file that defines it}, of __all__."""
    files, names = {}, []
    for node in tree("__init__").body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            files |= {alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            names = ast.literal_eval(node.value)
    if not names:
        raise source.SourceError(f"{FOLDER}/__init__.py: no list __all__")
    return {name: files[name] for name in names if name in files}


def plain(text):
    """Without the marks of another language: ``code`` and :func:`name`."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text.replace("``", "`"))


def sections(text):
    """Markdown of a docstring whose parts Args, Returns and Raises have indented lines below them."""
    page = []
    for paragraph in text.split("\n\n"):
        head, _, body = paragraph.partition("\n")
        if head not in ("Args:", "Returns:", "Raises:"):
            page.append(paragraph)
            continue
        page.append({"Args:": "*Arguments*", "Returns:": "*Returns*", "Raises:": "*Raises*"}[head])
        body = re.sub(r"\n {5,}", " ", body) if head != "Returns:" else " ".join(body.split())
        item = re.compile(r"^ *([\w.*]+): ", re.M)
        page.append(source.wrapped(body) if head == "Returns:" else
                    "\n".join(source.wrapped(item.sub(r"`\1`: ", line), "- ") for line in body.split("\n")))
    return "\n\n".join(page)


def docstring(file, node):
    text = ast.get_docstring(node)
    if not text:
        raise source.SourceError(f"{FOLDER}/{file}.py: {node.name} has no docstring")
    return sections(plain(text))


def members(file, node):
    """Of a dataclass: name, type and the comment `#:` behind it."""
    lines = source.read(f"{FOLDER}/{file}.py").split("\n")
    for item in node.body:
        if isinstance(item, ast.AnnAssign):
            comment = plain(lines[item.lineno - 1].partition("#: ")[2])
            said = f"`{item.target.id}: {ast.unparse(item.annotation)}`" + (f": {comment}" if comment else "")
            yield source.wrapped(said, "- ")


def signature(node):
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {node.name}" + (f"({bases})" if bases else "")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def part(name, file):
    for node in tree(file).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            text = f"## {name}\n\n```python\n{signature(node)}\n```\n\n{docstring(file, node)}"
            listed = "\n".join(members(file, node)) if isinstance(node, ast.ClassDef) else ""
            return text + (f"\n\n{listed}" if listed else "")
    raise source.SourceError(f"{FOLDER}/{file}.py: {name} is no function and no class of it")


def markdown():
    if not (source.ROOT / FOLDER / "__init__.py").exists():
        return "The module is not part of this tree."
    module = ast.get_docstring(tree("__init__"))
    return "\n\n".join([plain(module), *(part(name, file) for name, file in given_away().items())])
