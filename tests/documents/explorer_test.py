#!/usr/bin/env python3
"""The performance explorer shows what docs/data holds.

usage: explorer_test.py [--data FOLDER]                         records, the tables made of them, and wrong records
       explorer_test.py --browser [--data F] [--screenshots F]  the page in headless Chromium
Without Chromium the second is skipped; with COMPOUND_BROWSER_REQUIRED=1 it fails.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from browser import SKIPPED, Browser, find_browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPLORER = ROOT / "docs" / "explorer"
PAGE = ROOT / "docs" / "performance-explorer.md"
MOST_BYTES = 400_000
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def run(program, *arguments):
    return subprocess.run([sys.executable, "-B", EXPLORER / program, *map(str, arguments)], capture_output=True,
                          text=True)


# What the records say, read here once more, not by the explorer's own code.

def records_in(folder):
    return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}


def device_name(record):
    return record["device"]["name"] if "device" in record else record["machine"]["processor"] + ", 1 process"


def grid_of(record):
    words = shlex.split(record["command_line"])
    return words[words.index("-grid") + 1]


def shown(candidate, share):
    """GB/s, share in per cent and times the reference, as texts of the page."""
    gbs = candidate["gbs"]
    return [f"{gbs:.1f}" if gbs < 100 else f"{gbs:.0f}", f"{100 * candidate[share]:.0f}",
            f"{candidate['times_baseline']:.2f}"]


def expected(record):
    """{(block size, precision): texts} of baijcompound, and {(block size, type): GB/s} of PETSc's types."""
    share = "share_of_copy" if "device" in record else "share_of_read"
    ours, theirs = {}, {}
    for case in record["cases"]:
        for c in case["candidates"]:
            if c["name"] in ("baijcompound", "values=float"):
                ours[case["block_size"], "single" if "float" in c["name"] else "double"] = shown(c, share)
            else:
                theirs[case["block_size"], c["name"]] = shown(c, share)[0]
    return ours, theirs


def sizes_of(record):
    return sorted(case["block_size"] for case in record["cases"])


def close(text, other):
    """Equal, or the last digit rounded the other way: the page has five digits of each number."""
    digits, digits_of_other = (len(t.partition(".")[2]) for t in (text, other))
    return text == other or (digits == digits_of_other and abs(float(text) - float(other)) < 1.01 * 10.0**-digits)


def same(texts, others):
    return len(texts) == len(others) and all(map(close, texts, others))


# Without a browser.

def records_are_whole(records):
    for name, record in records.items():
        check(record.get("program") == "compound-bench", f"{name}: is of compound-bench")
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+Z", record.get("date", "")), f"{name}: has a date")
        check(re.fullmatch(r"[0-9a-f]{40}", record.get("commit", "")), f"{name}: has a commit")
        check(record.get("command_line", "").startswith("compound-bench "), f"{name}: has a command without folders")
        check("host" not in record["machine"] and "samples_s" not in json.dumps(record), f"{name}: is stripped")
        blocks = sizes_of(record)
        asked = re.search(r"-block_size ([\d,]+)", record["command_line"])[1]
        check(blocks == [int(size) for size in asked.split(",")], f"{name}: has blocks of {asked}, not {blocks}")
        check(len(blocks) >= (4 if "device" in record else 8), f"{name}: has few block sizes: {blocks}")
        ours, _ = expected(record)
        check(len(ours) == 2 * len(blocks), f"{name}: has both precisions of every block size")
    patterns = {}
    for record in records.values():
        patterns.setdefault(device_name(record), set()).add(grid_of(record))
    for device, grids in patterns.items():
        check(len(grids) >= 3, f"{device}: three patterns, not {sorted(grids)}")
    check(any("device" not in r for r in records.values()), "a host is there")
    check(any(re.search("H[12]00", device) for device in patterns), "an H100 or H200 is there")


def tables_of(text):
    """{heading: lines of cells}"""
    found, heading = {}, None
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif re.match(r"\| \d", line):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def tables_equal_records(text, records):
    tables = tables_of(text)
    check(len(tables) == len(records), f"a table for each of {len(records)} records, not {len(tables)}")
    for name, record in records.items():
        ours, theirs = expected(record)
        lines = [{int(line[0]): line[1:] for line in lines} for heading, lines in tables.items()
                 if heading.startswith(device_name(record) + ": ")]
        types = list(dict.fromkeys(type_ for _, type_ in theirs))
        wanted = {block: [theirs[block, type_] for type_ in types] + ours[block, "double"] + ours[block, "single"]
                  for block in {block for block, _ in theirs}}
        check(wanted in lines, f"{name}: its table has its figures")
        check(record["command_line"] in text and record["commit"][:10] in text and record["date"][:10] in text,
              f"{name}: command, commit and date are on the page")


def page_of_itself(data, folder):
    made = run("make_explorer.py", "--data", data, "--output", folder)
    check(made.returncode == 0, f"the page is made: {made.stderr}")
    for name in ("explorer.html", "explorer-part.html"):
        text = (folder / name).read_text(encoding="utf-8")
        check(len(text.encode()) <= MOST_BYTES, f"{name} has at most {MOST_BYTES} bytes")
        check(not re.search(r'(src|href)="(?!data:)', text) and "url(" not in text, f"{name} loads nothing")
        check("{{" not in text, f"{name} has no place left open")


def wrong_records_are_refused(records, folder):
    good = next(iter(records.values()))

    def refused(change, message):
        record = json.loads(json.dumps(good))
        change(record)
        file = folder / "wrong.json"
        file.write_text(json.dumps(record))
        ran = run("add_record.py", "--commit", "HEAD", "--data", folder / "data", file)
        check(ran.returncode == 1 and message in ran.stderr, f"'{message}' is said: {ran.stderr}")
        check(not list((folder / "data").glob("*.json")), f"nothing is added where '{message}' is said")

    refused(lambda r: r.update(program="compound-tune"), "is not of compound-bench")
    refused(lambda r: r["cases"][0].update(baseline="baij"), "measure with -baseline aij")
    refused(lambda r: r["versions"].update(petsc_scalar="complex"), "complex scalars")
    refused(lambda r: r.update(command_line="compound-bench -grid dense"), "-grid dense has no place")
    refused(lambda r: r["cases"][0]["candidates"][0].update(name="sell:8", kind="plan"), "'sell:8' has no place")
    refused(lambda r: r["cases"][0]["candidates"][0].pop("median_s"), "lacks a member that compound-bench writes")


def records_are_stripped(records, folder):
    name, good = next(iter(records.items()))
    record = json.loads(json.dumps(good))
    record["command_line"] = record["command_line"].replace("compound-bench", "/some/folder/compound-bench", 1)
    record["machine"]["host"] = "somebody"
    record["cases"][0]["candidates"][0]["samples_s"] = [1.0]
    del record["commit"]
    (folder / "raw.json").write_text(json.dumps(record))
    ran = run("add_record.py", "--commit", good["commit"], "--data", folder / "new", folder / "raw.json")
    check(ran.returncode == 0, f"a record is added: {ran.stderr}")
    check(records_in(folder / "new") == {name: good}, "as it is but for what no reader needs, under its own name")


def without_browser(data):
    records = records_in(data)
    check(records, f"{data} has records")
    records_are_whole(records)
    made = ROOT / "docs" / "data" == data.resolve()
    if made:
        tables_equal_records(PAGE.read_text(encoding="utf-8"), records)
        checked = run("make_explorer.py", "--check")
        check(checked.returncode == 0, f"docs/performance-explorer.md is up to date: {checked.stderr}")
        checked = run("first_look.py", "--check")
        check(checked.returncode == 0, f"docs/images/first-look.svg is up to date: {checked.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page_of_itself(data, folder)
        wrong_records_are_refused(records, folder)
        records_are_stripped(records, folder)


# In a browser.

NUMBERS = "['gbs', 'share', 'times'].map(id => document.getElementById('explorer-' + id).textContent)"
CHOICE = """[...document.querySelectorAll('#explorer-choice select')].map(
  s => s.name === 'device' ? s.selectedOptions[0].text : s.value)"""


def set_choice(browser, name, value):
    by = "o.text" if name == "device" else "o.value"
    browser.value(f"""(() => {{
      const select = document.querySelector('#explorer-choice [name={name}]');
      select.value = [...select.options].find(o => {by} === {json.dumps(value)}).value;
      select.dispatchEvent(new Event('change', {{bubbles: true}}));
    }})()""")


def numbers_shown(browser):
    gbs, share, times = browser.value(NUMBERS)
    return [gbs, share.removesuffix(" %"), times]


def five_choices(browser, records):
    records = list(records.values())
    blocks, precisions = (3, 1, 8, 4, 6), ("double", "single", "double", "single", "single")
    for i, (block, precision) in enumerate(zip(blocks, precisions)):
        record = records[i * (len(records) - 1) // 4]
        sizes = sizes_of(record)
        block = min(block, sizes[-1])
        wanted = [device_name(record), grid_of(record), str(block), precision]
        for name, value in zip(("device", "pattern", "block", "precision"), wanted):
            set_choice(browser, name, value)
        ours, theirs = expected(record)
        check(browser.value(CHOICE) == wanted, f"{wanted} are chosen, not {browser.value(CHOICE)}")
        check(same(numbers_shown(browser), ours[block, precision]),
              f"{wanted}: {ours[block, precision]} are shown, not {numbers_shown(browser)}")
        rows = browser.value("[...document.querySelectorAll('#explorer-types tbody tr')].map("
                             "r => [...r.cells].map(c => c.textContent))")
        table = {row[0]: row[1] for row in rows}
        for (of, type_), gbs in theirs.items():
            check(of != block or close(table.get(type_, "0"), gbs), f"{wanted}: {type_} has {gbs} GB/s in {table}")
        types = {type_ for _, type_ in theirs}
        bars = browser.value("document.querySelectorAll('#explorer-chart .group rect:not(.hit)').length")
        check(bars == len(sizes) * (1 + len(types)), f"{wanted}: a bar for each type and block size, not {bars}")
        facts = browser.value("document.getElementById('explorer-facts').textContent")
        check(record["command_line"] in facts and record["date"][:10] in facts and record["commit"][:10] in facts,
              f"{wanted}: command, date and commit are shown")
        case = next(c for c in record["cases"] if c["block_size"] == block)
        rate = case["copy" if "device" in record else "read"]
        check(f"spread {100 * rate['spread']:.0f} %" in facts, f"{wanted}: the spread of the rate is shown: {facts}")
        address = browser.value("location.href")
        browser.open(address)
        check(browser.value(CHOICE) == wanted, f"{address} keeps {wanted}, not {browser.value(CHOICE)}")


def keyboard(browser, page):
    browser.open(page + "#block=3")
    browser.value("document.querySelector('#explorer-choice [name=block]').focus()")
    browser.press("ArrowDown")
    check(browser.value(CHOICE)[2] == "4", "an arrow key chooses the next block size")
    check("block=4" in browser.value("location.hash"), "and the address follows")
    browser.press("Tab")
    check(browser.value("document.activeElement.name") == "precision", "Tab goes to the next choice")


def odd_addresses(browser, page):
    browser.open(page)
    first = browser.value(CHOICE)
    for address in ("#device=none&pattern=x&block=99&precision=half", "#a-heading", "#%E0%A4%A"):
        browser.open(page + address)
        check(browser.value(CHOICE) == first, f"{address} shows the first choice")


def pictures(browser, page, folder):
    for name, how in {"1280": {"width": 1280}, "390": {"width": 390, "height": 844},
                      "dark": {"width": 1280, "dark": True}, "tables": {"width": 390, "script": False}}.items():
        browser.open(page, **how)
        browser.screenshot(folder / f"explorer-{name}.png")
        if name == "tables":
            continue
        wide = browser.value("document.documentElement.scrollWidth - innerWidth")
        check(wide <= 0, f"at {name} nothing sticks out by {wide} px")
        light = browser.value("Number(getComputedStyle(document.body).color.match(/\\d+/)[0]) > 128")
        check(light == (name == "dark"), f"{name}: text is light on dark alone")
    print(f"screenshots: {folder}")


def without_script(browser, page, records):
    browser.open(page, script=False)
    browser.call("DOM.enable")
    root = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    found = browser.call("DOM.querySelectorAll", nodeId=root, selector=".explorer-tables[open] tbody tr")["nodeIds"]
    lines = sum(len(sizes_of(record)) for record in records.values())
    check(len(found) == lines, f"without JavaScript the tables are there: {len(found)} lines of {lines}")


def with_browser(data, screenshots):
    if not find_browser():
        print("skipped: there is no Chromium (Debian: chromium)")
        sys.exit(SKIPPED)
    records = records_in(data)
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page_of_itself(data, pathlib.Path(folder))
        page = pathlib.Path(folder, "explorer.html").as_uri()
        browser.open(page)
        five_choices(browser, records)
        keyboard(browser, page)
        odd_addresses(browser, page)
        pictures(browser, page, screenshots)
        without_script(browser, page, records)
        check(not browser.complaints, f"nothing is on the console: {browser.complaints}")
        others = {url for url in browser.requests if not url.startswith(("file:///", "data:", "about:"))}
        check(not others, f"nothing is asked of other hosts: {others}")
        check(len(browser.requests) > 10, "requests are counted")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "docs" / "data")
    parser.add_argument("--screenshots", type=pathlib.Path, default=ROOT / "build" / "screenshots")
    args = parser.parse_args()
    if args.browser:
        with_browser(args.data, args.screenshots)
    else:
        without_browser(args.data)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
