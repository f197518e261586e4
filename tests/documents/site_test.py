#!/usr/bin/env python3
"""The site that config/docs.sh makes: links and anchors lead somewhere, nothing is loaded from elsewhere, search knows
every page, sizes keep their limits.

usage: site_test.py [--site FOLDER] [--external]   the site; status 77, with the reason, where it is not made yet
       site_test.py --self-test                    finds a mistake of each kind in a made-up site
       site_test.py --stage                        what Sphinx is given: every document is in one group of pages
       site_test.py --browser [--screenshots FOLDER]  pages in headless Chromium: search finds, nothing is asked of
                                                   another host, no complaint; status 77 without site or Chromium
"""

import argparse
import functools
import http.server
import pathlib
import re
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from html.parser import HTMLParser

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_PAGE, MOST_SITE = 400_000, 25_000_000  # bytes
LOADS = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "src", "video": "src",
         "audio": "src", "embed": "src", "object": "data", "input": "src", "use": "href"}
OTHER = re.compile(r"(?:[a-z][a-z+.-]*:)?//|(?:https?|ftp|file):", re.I)
CSS_LOADS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
JS_LOADS = re.compile(r"""(?:fetch|import|importScripts|open|sendBeacon|src\s*=|href\s*=)\s*\(?\s*"""
                      r"""["'`](https?://[^"'`]+)""")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.style = set(), [], [], []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in LOADS and given.get(LOADS[tag]) and given.get("rel") not in ("next", "prev", "canonical", "search",
                                                                                 "index", "author", "copyright"):
            self.loads.append(given[LOADS[tag]])
        if given.get("style"):
            self.style.append(given["style"])
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "style":
            self.style.append(data)


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def pages_of(site):
    return {path: Page(read(path)) for path in sorted(site.rglob("*.html"))}


def wrong_links(site, pages):
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            if re.match(r"(?:[a-z]+:|//)", link) or link in ("#", ""):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file.split("?")[0]).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(site)}: link to {link}: there is no such file"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{path.relative_to(site)}: link to {link}: there is no such place in that page"


def loaded_from_elsewhere(site, pages):
    for path, page in pages.items():
        for what in page.loads:
            if OTHER.match(what) and not what.startswith("data:"):
                yield f"{path.relative_to(site)}: loads {what}"
        for style in page.style:
            for what in CSS_LOADS.findall(style):
                yield f"{path.relative_to(site)}: loads {what}"
    for pattern, rule in (("*.css", CSS_LOADS), ("*.js", JS_LOADS)):
        for path in site.rglob(pattern):
            for what in rule.findall(read(path)):
                yield f"{path.relative_to(site)}: loads {what}"


def too_large(site, pages):
    for path in pages:
        size = path.stat().st_size
        if size > MOST_PAGE:
            yield f"{path.relative_to(site)}: {size} bytes, more than {MOST_PAGE}: make two pages of it"
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    if size > MOST_SITE:
        yield f"the site has {size} bytes, more than {MOST_SITE}"


def not_searched(site, pages):
    """Pages that the search, whose index is one file, does not know."""
    index = read(site / "searchindex.js") if (site / "searchindex.js").exists() else ""
    names = re.search(r'"?docnames"?:\s*\[([^]]*)\]', index)
    known = set(re.findall(r'"([^"]+)"', names[1])) if names else set()
    generated = {"genindex", "search", "explorer"}  # explorer.html is also a part of docs/performance-explorer.html
    for path in pages:
        name = str(path.relative_to(site).with_suffix(""))
        if name not in known | generated:
            yield f"{path.relative_to(site)}: the search does not know it"


def mistakes(site):
    site = site.resolve()
    pages = pages_of(site)
    if not pages:
        yield f"{site} has no page"
    for look in (wrong_links, loaded_from_elsewhere, too_large, not_searched):
        yield from look(site, pages)


def external_links(site):
    """{address: a page that has it}"""
    found = {}
    for path, page in pages_of(site).items():
        for link in page.links:
            if link.startswith(("http:", "https:")):
                found.setdefault(link.split("#")[0], path.relative_to(site))
    return found


def answer(address):
    """Nothing if the address is there, else why not."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (links of documents)"})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return "" if response.status < 400 else f"status {response.status}"
    except urllib.error.HTTPError as error:
        # Publishers refuse programs: the address is there.
        return "" if error.code in (401, 403, 405, 418, 429) else f"status {error.code}"
    except (urllib.error.URLError, OSError) as error:
        return str(error)


def check_external(site):
    wrong = []
    for address, page in sorted(external_links(site).items()):
        why = answer(address)
        print(f"{'ok' if not why else why}: {address} ({page})")
        if why:
            wrong.append(address)
    return wrong


def stage():
    """Every document is in one list of the site, and files that documents link to have a page."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / "docs/site"))
    import groups
    import stage as stages
    wrong = [f"docs/site/groups.py names {page} twice" for page in
             {p for _, _, _, listed in groups.GROUPS for p in listed}
             if sum(listed.count(page) for _, _, _, listed in groups.GROUPS) > 1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder) / "source"
        stages.main(folder)
        trees = "\n".join(read(folder / f"{name}.md") for _, name, _, _ in groups.GROUPS)
        for page in stages.documents():
            count = len(re.findall(rf"^(?:.* <)?/{re.escape(page.removesuffix('.md'))}>?$", trees, re.M))
            if count != 1:
                wrong.append(f"{page} stands {count} times in the lists of pages")
            text = read(folder / page)
            for target in re.findall(r"\]\(([^()\s#]*repository/[^()\s#]+)\)", text):
                if not (folder / page).parent.joinpath(target).exists():
                    wrong.append(f"{page}: {target} has no page")
    return wrong


# What a reader would look for, and a page that the search must find.
SEARCHES = {"mat_compound_layout": "docs/reference/options.html", "rigid body": "docs/multigrid.html",
            "MatCompoundGetPlan": "docs/reference/c.html"}
OPENED = ("index", "docs/start", "docs/choosing", "docs/reference/options", "docs/performance-explorer",
          "docs/troubleshooting")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def found_by_search(browser, address, words):
    browser.open(f"{address}/search.html?q={words.replace(' ', '+')}")
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if browser.value("/finished|did not match/.test(document.body.innerText)"):
            break
        time.sleep(0.1)
    return browser.value("[...document.querySelectorAll('ul.search li a')].map(a => a.href.split('?')[0]).join(' ')")


def browser_is_here():
    sys.path.insert(0, str(ROOT / "tests/documents"))
    from browser import find_browser
    return find_browser()


def in_browser(site, screenshots):
    from browser import Browser
    wrong = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with Browser() as browser:
        # From the folder itself, where a page may not read another one for an excerpt: search finds all the same.
        if "options.html" not in found_by_search(browser, site.as_uri(), "mat_compound_layout"):
            wrong.append("opened as files, the search does not find docs/reference/options.html")
        browser.complaints.clear()
        for page in OPENED:
            for width in (1280, 390):
                browser.open(f"{address}/{page}.html", width=width)
                if browser.value("document.documentElement.scrollWidth") > width:
                    wrong.append(f"{page}.html is wider than {width} pixels")
                if screenshots:
                    browser.screenshot(screenshots / f"{page.replace('/', '-')}-{width}.png", whole=False)
        for words, page in SEARCHES.items():
            if f"{address}/{page}" not in found_by_search(browser, address, words):
                wrong.append(f"searching '{words}' does not find {page}")
        own = (f"{address}/", site.as_uri(), "data:", "about:", "blob:")
        elsewhere = [url for url in browser.requests if not url.startswith(own)]
        wrong += [f"asked for {url}" for url in elsewhere] + [f"complaint: {text}" for text in browser.complaints]
        print(f"{len(OPENED)} pages in two widths, {len(SEARCHES)} searches, {len(browser.requests)} requests, "
              f"{len(elsewhere)} of them elsewhere")
    server.shutdown()
    return wrong


RIGHT = {
    "index.html": '<a href="more.html#a">x</a><a href="https://petsc.org">y</a><img src="i.svg"><p id="here"></p>'
                  '<a href="#here">z</a>',
    "more.html": '<h2 id="a">A</h2><a href="index.html">x</a>',
    "i.svg": "<svg/>",
    "searchindex.js": 'Search.setIndex({"docnames": ["index", "more"]})',
}
WRONG = [
    ("index.html", '<a href="none.html">x</a>', "link to none.html: there is no such file"),
    ("more.html", '<a href="index.html#none">x</a>', "link to index.html#none: there is no such place"),
    ("index.html", '<script src="https://cdn.example/a.js"></script>', "loads https://cdn.example/a.js"),
    ("index.html", '<link rel="stylesheet" href="//cdn.example/a.css">', "loads //cdn.example/a.css"),
    ("index.html", "<style>@import 'https://fonts.example/a.css'</style>", "loads https://fonts.example/a.css"),
    ("a.css", "p {background: url(https://pics.example/a.png)}", "loads https://pics.example/a.png"),
    ("a.js", "fetch('https://data.example/a.json')", "loads https://data.example/a.json"),
    ("new.html", "<p>", "the search does not know it"),
    ("more.html", "x" * MOST_PAGE, "make two pages of it"),
]


def self_test():
    wrong = []
    for path, more, expected in [("", "", ""), *WRONG]:
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            for file, text in RIGHT.items():
                (site / file).write_text(text)
            if path:
                (site / path).write_text(RIGHT.get(path, "") + more)
            found = list(mistakes(site))
            if (found != []) if not path else (len(found) != 1 or expected not in found[0]):
                wrong.append(f"{path} with {more[:60]!r}: expected '{expected}', found {found}")
    print(f"self-test: {1 + len(WRONG)} sites, {len(wrong)} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=pathlib.Path, default=ROOT / "build/site")
    parser.add_argument("--external", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--stage", action="store_true")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--screenshots", type=pathlib.Path)
    args = parser.parse_args()
    if args.self_test:
        wrong = self_test()
    elif args.stage:
        wrong = stage()
    elif not (args.site / "index.html").exists():
        print(f"skipped: {args.site} is not made yet; bash config/docs.sh makes it")
        return 77
    elif args.browser:
        if not browser_is_here():
            print("skipped: there is no Chromium (Debian's package chromium)")
            return 77
        wrong = in_browser(args.site.resolve(), args.screenshots)
    else:
        wrong = list(mistakes(args.site))
        pages = sorted((path.stat().st_size, path.name) for path in args.site.rglob("*.html"))
        print(f"{len(pages)} pages, the largest {pages[-1][1]} with {pages[-1][0] // 1000} kB, {len(wrong)} mistakes")
        if args.external:
            wrong += [f"no answer from {address}" for address in check_external(args.site)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
