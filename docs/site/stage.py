#!/usr/bin/env python3
"""Copies the documents of the repository into a folder that Sphinx makes the site of, so that they stay as they are.

usage: stage.py FOLDER

The Markdown keeps its paths, so links between documents stay as they are. A link to another file of the repository
leads to a page that shows the file. The notebook becomes a page, the performance explorer stands in its page, and each
group of groups.py becomes a page with the list of its pages.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from groups import DECISIONS, GROUPS, TITLES  # noqa: E402

LINK = re.compile(r"(\[[^][]*\]\()([^()\s#]+)((?:#[^()\s]*)?\))")
IMAGES = {".png", ".svg"}
SHOWN = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "sh", ".cmake": "cmake"}
MOST_SHOWN = 200_000  # bytes of a file that a page shows


def documents():
    """Paths of the Markdown that the site has, from the repository's root."""
    found = [path for path in ROOT.glob("*.md")] + [path for path in (ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found if HERE not in path.parents)


def write(folder, path, text):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")


def fence_of(text):
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def code_block(text, language=""):
    fence = fence_of(text)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def source_page(path):
    """A page that shows a file, or the files of a folder."""
    files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file())
    page = [f"# {path.relative_to(ROOT)}", "From the repository."]
    for file in files:
        if file != path:
            page.append(f"## {file.name}")
        if file.stat().st_size > MOST_SHOWN or file.suffix in (".xz", ".npz", *IMAGES):
            page.append(f"{file.stat().st_size} bytes, shown in the repository only.")
        else:
            page.append(code_block(file.read_text(encoding="utf-8"), SHOWN.get(file.suffix, "")))
    return "---\norphan: true\n---\n" + "\n\n".join(page) + "\n"


def relinked(path, text, folder, staged):
    """Links to files that are no documents and no pictures lead to a page that shows them."""

    def replace(found):
        target = found[2]
        if re.match(r"[a-z]+:", target):
            return found[0]
        file = pathlib.Path(os.path.normpath(ROOT / os.path.dirname(path) / target))
        name = str(file.relative_to(ROOT)) if ROOT in file.parents else ""
        if name in staged or file.suffix in IMAGES or not name:
            return found[0]
        if file.is_dir() and f"{name}/README.md" in staged:
            page = f"{name}/README.md"
        elif file.suffix == ".ipynb":
            page = name.removesuffix(".ipynb") + ".md"
        elif file.exists():
            page = f"repository/{name}.md"
            write(folder, page, source_page(file))
        else:
            return found[0]  # Sphinx says what is wrong
        return found[1] + os.path.relpath(page, os.path.dirname(path) or ".") + found[3]

    blocks = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(block if block.startswith("```") else LINK.sub(replace, block) for block in blocks)


def notebook_page(path):
    """Markdown of a notebook that is stored without outputs."""
    page = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        page.append(text if cell["cell_type"] == "markdown" else code_block(text, "python"))
    return "\n\n".join(page) + "\n"


def explorer_page(folder):
    """The interactive explorer and, for readers without JavaScript, its tables; also as a file of its own."""
    command = [sys.executable, "-B", str(ROOT / "docs/explorer/make_explorer.py"), "--output", str(folder / "_extra")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    part = folder / "docs/explorer-part.html"
    (folder / "_extra/explorer-part.html").replace(part)
    return "# Performance explorer\n\n```{raw} html\n:file: explorer-part.html\n```\n\n" \
           "<p>The explorer <a href='../explorer.html'>as a page of its own</a>, which also works as a file.</p>\n\n" \
           "[How to add a device](explorer/README.md).\n"


def members(listed, staged):
    for path in listed:
        if path == DECISIONS:
            yield from (p for p in staged if p.startswith("docs/decisions/"))
        elif path in staged:
            yield path


def title_of(folder, path):
    if path in TITLES:
        return TITLES[path]
    found = re.search(r"^# (.+)$", (folder / path).read_text(encoding="utf-8"), re.M)
    if not found:
        sys.exit(f"stage.py: {path} has no title; begin it with '# TITLE'")
    return re.sub(r"\[([^][]*)\]\([^()]*\)|`", r"\1", found[1])


def tree_line(page):
    path = f"/{page.removesuffix('.md')}"
    return f"{TITLES[page]} <{path}>" if page in TITLES else path


def group_pages(folder, staged):
    """A page for each group, and the index with all of them."""
    seen, cards = set(), []
    for number, (title, name, what, listed) in enumerate(GROUPS):
        pages = [page for page in dict.fromkeys(members(listed, staged)) if page not in seen]
        seen.update(pages)
        if number + 1 == len(GROUPS):
            pages += [page for page in staged if page not in seen]
        tree = "\n".join(tree_line(page) for page in pages)
        write(folder, f"{name}.md", f"# {title}\n\n{what}\n\n```{{toctree}}\n:maxdepth: 1\n\n{tree}\n```\n")
        links = [f"- [{title_of(folder, page)}]({page})" for page in pages if "/decisions/" not in page]
        if len(links) < len(pages):
            links.append(f"- [Decisions]({name}.md), {len(pages) - len(links)} of them")
        cards.append("\n".join([f":::{{grid-item-card}} [{title}]({name}.md)\n\n{what}\n", *links, ":::\n"]))
    tree = "\n".join(name for _, name, _, _ in GROUPS)
    index = (HERE / "index.md").read_text(encoding="utf-8")
    index = index.replace("](../", "](docs/")  # it lies in docs/site, and will lie above docs
    grid = "::::{grid} 1 2 2 3\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n"
    write(folder, "index.md", index.replace("<!-- groups -->", grid + f"\n```{{toctree}}\n:hidden:\n\n{tree}\n```"))


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("_static", "_extra"):
        (folder / part).mkdir(parents=True)
    shutil.copy(HERE / "conf.py", folder)
    for file in ("site.css", "icon.svg"):
        shutil.copy(HERE / file, folder / "_static")
    for images in ("docs/images", "docs/figures"):
        shutil.copytree(ROOT / images, folder / images, ignore=shutil.ignore_patterns("*.py"))
    staged = documents()
    notebooks = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
    staged += [f"docs/notebooks/{path.stem}.md" for path in notebooks]
    staged.sort()
    for path in documents():
        write(folder, path, relinked(path, (ROOT / path).read_text(encoding="utf-8"), folder, staged))
    for path in notebooks:
        page = f"docs/notebooks/{path.stem}.md"
        write(folder, page, relinked(page, notebook_page(path), folder, staged))
    if (ROOT / "docs/explorer/make_explorer.py").exists():
        write(folder, "docs/performance-explorer.md", explorer_page(folder))
    group_pages(folder, staged)
    print(f"{len(staged)} documents in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
