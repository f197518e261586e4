"""The records in docs/data as rows of one form: a row is a product of one type on one matrix."""

import json
import pathlib
import re
import shlex

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
REFERENCES = ("aij", "aijcusparse")
# By the value of compound-bench's -grid: what a reader knows the pattern by.
PATTERNS = {
    "27": "cube, 27 blocks a row",
    "15": "tetrahedra, 15 blocks a row",
    "7": "cube, 7 blocks a row",
    "5": "square, 5 blocks a row",
    "surface": "surface, 7 blocks a row",
}


class Unfit(Exception):
    """What is wrong with a record, in words."""


def device_of(record):
    """The name of the GPU, or of the processor."""
    if "device" in record:
        return record["device"]["name"]
    ranks = record["cases"][0]["ranks"]
    return record["machine"]["processor"] + (", 1 process" if ranks == 1 else f", {ranks} processes")


def key_of(name):
    """Short enough for an address and a file name."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r", 1 process$", "", name).lower()).strip("-")


def grid_of(record):
    words = shlex.split(record["command_line"])
    grid = words[words.index("-grid") + 1] if "-grid" in words[:-1] else "27"
    if grid not in PATTERNS:
        raise Unfit(f"-grid {grid} has no place in the explorer; choose {', '.join(PATTERNS)}, or name it in "
                    "docs/explorer/records.py")
    return grid


def type_of(candidate, file):
    """(matrix type, precision of the stored values)"""
    if candidate["kind"] == "type":
        return candidate["name"], "double"
    if candidate["kind"] == "plan" and candidate["name"] == "values=float":
        return "baijcompound", "single"
    raise Unfit(f"{file}: candidate '{candidate['name']}' has no place in the explorer; choose -types of matrices and "
                "-plans values=float")


def rows_of(record, file):
    """Of one record: (what all rows share, the rows)."""
    if record["versions"]["petsc_scalar"] != "real":
        raise Unfit(f"{file}: measured with complex scalars; the explorer compares real ones")
    on_device = "device" in record
    about = {
        "device": device_of(record), "pattern": grid_of(record), "on_device": on_device, "date": record["date"],
        "commit": record["commit"], "command": record["command_line"], "processor": record["machine"]["processor"],
        "petsc": record["versions"]["petsc"], "compiler": record["versions"]["compiler"],
    }
    rows, share = [], "share_of_copy" if on_device else "share_of_read"
    for case in record["cases"]:
        if case["baseline"] not in REFERENCES:
            raise Unfit(f"{file}: ratios are to '{case['baseline']}'; measure with -baseline {REFERENCES[0]}, on a "
                        f"device with -baseline {REFERENCES[1]}")
        if case["block_shape"][0] != case["block_shape"][1]:
            raise Unfit(f"{file}: blocks of {case['block']}; the explorer compares square ones")
        about["reference"] = case["baseline"]
        for candidate in case["candidates"]:
            name, precision = type_of(candidate, file)
            rows.append({
                "block": case["block_size"], "type": name, "precision": precision,
                "us": 1e6 * candidate["median_s"], "spread": candidate["spread"], "gbs": candidate["gbs"],
                "share": candidate[share], "times": candidate["times_baseline"],
                "rate": case["copy" if on_device else "read"]["gbs"],
                "rateSpread": case["copy" if on_device else "read"]["spread"], "matrix": case["matrix"],
                "plan": candidate["plan"],
            })
    return about, rows


def read_all(folder=DATA):
    """[(about, rows)] of every record: GPUs first, then by name and pattern."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(rows_of(json.loads(file.read_text(encoding="utf-8")), file.name))
        except (KeyError, TypeError, ValueError) as e:
            raise Unfit(f"{file}: is no record of docs/explorer/add_record.py: {e!r}; add it again by that "
                        "script") from e
    order = list(PATTERNS)
    found.sort(key=lambda f: (not f[0]["on_device"], f[0]["device"], order.index(f[0]["pattern"])))
    if not found:
        raise Unfit(f"{folder}: has no records; docs/explorer/README.md says how to measure one")
    return found
