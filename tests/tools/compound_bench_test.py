#!/usr/bin/env python3
"""compound-bench as users run it, on tiny cases: tables, JSON, answers, files, and one clear error for each bad input.

The product of a file's matrix is computed here again: the norm in the JSON file must agree.
"""

import argparse
import csv
import itertools
import json
import math
import os
import re
import struct
import sys
import time

from program_runs import WHOLE, expect, is_without_device, run, run_tests

MASK = (1 << 64) - 1
ROUNDS = 3
QUICK = ["-rounds", str(ROUNDS), "-min_time", "0.0005", "-warm_up", "1"]


def bench(args, options, ranks=None, env=None):
    """One run; returns exit code, stdout, stderr and the command."""
    ranks = ranks or args.ranks
    return run((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [args.program] + options, env)


def good(args, options, ranks=None):
    """A run that must succeed; returns its JSON (None where it fails) and its tables as lists of rows."""
    out = os.path.join(args.folder, "out.json")
    more = QUICK + ["-json", out]
    code, stdout, stderr, command = bench(args, options + more, ranks)
    expect(code == 0, f"{command}\n  ended with code {code}: {stdout[-500:]}{stderr[-500:]}")
    if code != 0:
        return None, []
    tables = []
    for line in stdout.splitlines():
        if line.startswith("candidate "):
            tables.append([])
        elif tables and not line.startswith("plan of") and re.search(r"(\d|-)$", line):
            match = re.match(r"(.*?)\s+((?:[-+.\de]+\s+){10}[-+.\de]+)$", line)
            if match:
                tables[-1].append([match.group(1)] + match.group(2).split())
    with open(out) as file:
        written = json.load(file)
    os.remove(out)
    return written, tables


# What the program does, again: the random vectors.

def mixed(v):
    v = (v + 0x9e3779b97f4a7c15) & MASK
    v = ((v ^ (v >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    v = ((v ^ (v >> 27)) * 0x94d049bb133111eb) & MASK
    return v ^ (v >> 31)


def random_vector(size, seed):
    values = [mixed((seed + i) & MASK) for i in range(size)]
    return [(v - (1 << 64) if v >> 63 else v) * 2.0 ** -63 for v in values]


def product_norm(rows, columns, entries, operation="mult", seed=1):
    transposed = operation == "transpose"
    x = random_vector(rows if transposed else columns, mixed(seed))
    size = columns if transposed else rows
    y = random_vector(size, mixed(seed + 1)) if operation == "multadd" else [0.0] * size
    for i, j, value in entries:
        if transposed:
            y[j] += value * x[i]
        else:
            y[i] += value * x[j]
    return math.sqrt(sum(abs(v) ** 2 for v in y))


def some_entries(rows, columns, scalar):
    """An unsymmetric pattern; the last two rows are empty."""
    entries = []
    for i in range(rows - 2):
        for j in {(3 * i + 1) % columns, (i * i) % columns, i % columns}:
            value = 1.5 + i - 0.25 * j
            entries.append((i, j, complex(value, 0.5 * j) if scalar == "complex" else value))
    return entries


def write_matrix_market(file, rows, columns, entries, scalar):
    with open(file, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate {scalar} general\n{rows} {columns} {len(entries)}\n")
        for i, j, value in entries:
            number = f"{value.real!r} {value.imag!r}" if scalar == "complex" else repr(value)
            out.write(f"{i + 1} {j + 1} {number}\n")


def write_petsc(file, rows, columns, entries, args, block_size=0):
    integer = "q" if args.index_bits == 64 else "i"
    ordered = sorted(entries, key=lambda e: (e[0], e[1]))
    lengths = [sum(1 for e in entries if e[0] == i) for i in range(rows)]
    with open(file, "wb") as out:
        out.write(struct.pack(f">4{integer}", 1211216, rows, columns, len(entries)))
        out.write(struct.pack(f">{rows}{integer}", *lengths))
        out.write(struct.pack(f">{len(ordered)}{integer}", *[e[1] for e in ordered]))
        for _, _, v in ordered:
            out.write(struct.pack(">2d", v.real, v.imag) if args.scalar == "complex" else struct.pack(">d", v))
    if block_size:
        with open(file + ".info", "w") as out:
            out.write(f"-matload_block_size {block_size}\n")


# Tests.

def test_tables_and_json(args):
    types = ["aij", "baij", "baijcompound", "baijcompoundsell"]
    plans = ["csr values=float", "sell:8 off: csr"]
    core = ["csr vectors=4", "ellr vectors=all words=all"] if args.ranks == 1 else []
    options = ["-rows", "27,64", "-block_size", "1,3", "-types", ",".join(types), "-plans", "; ".join(plans)]
    options += ["-core_plans", ";".join(core)] if core else []
    written, tables = good(args, options)
    names = types + plans + ["core " + c for c in core]
    expect([[row[0] for row in t] for t in tables] == [names] * 4, f"names in the tables: {tables}")
    for row in (row for t in tables for row in t):
        expect(len(row) == 12 and all(float(v) >= 0 for v in row[1:]), f"row {row}")
        expect(float(row[2]) <= float(row[1]), f"least above median: {row}")
    for t in tables:
        ratio = {row[0]: float(row[6]) for row in t}
        expect(ratio["baij"] == 1.0, f"baij is not the baseline: {ratio}")
    if not written:
        return
    expect(written["program"] == "compound-bench" and "-rows 27,64" in written["command_line"], "JSON head")
    expect(written["versions"]["petsc_scalar"] == args.scalar, "JSON versions")
    expect(written["versions"]["petsc_index_bits"] == args.index_bits, "JSON index width")
    expect(written["machine"]["cores"] >= 1 and "caches" in written["machine"], "JSON machine")
    sizes = [(c["block_rows"], c["block_size"], c["ranks"]) for c in written["cases"]]
    expect(sizes == [(27, 1, args.ranks), (27, 3, args.ranks), (64, 1, args.ranks), (64, 3, args.ranks)], str(sizes))
    for case in written["cases"]:
        expect([c["name"] for c in case["candidates"]] == names, "JSON names")
        check_numbers(case, args)


def check_numbers(case, args):
    scalar = 16 if args.scalar == "complex" else 8
    area = case["block_size"] ** 2
    expect(len(case["read"]["samples_s"]) == ROUNDS, "samples of the plain read")
    for c in case["candidates"]:
        expect(len(c["samples_s"]) == ROUNDS and all(s > 0 for s in c["samples_s"]), f"samples of {c['name']}")
        expect(c["least_s"] <= c["median_s"] <= c["most_s"], f"order of {c['name']}")
        expect(c["error"] <= c["allowed_error"] < 1e-2, f"error of {c['name']}: {c}")
        word = scalar / 2 if "values=float" in c["name"] else scalar
        wanted = (case["blocks"] * (area * word + 4) + 4 * (case["block_rows"] + 1)
                  + 2 * case["block_rows"] * case["block_size"] * scalar)
        expect(c["compulsory_bytes"] == wanted, f"bytes of {c['name']}: {c['compulsory_bytes']}, not {wanted}")
        compound = c["name"] not in ("aij", "baij")
        expect(("entry=dense" in c["plan"]) == compound, f"plan of {c['name']}: {c['plan']}")
        parts = c["plan"].split(" off: ")
        on_parent = all("csr words=1:column" in p and "values=double" in p for p in parts)
        lists = any("rowlist" in p for p in parts)  # integers of their own
        wide = args.index_bits == 64 and not c["name"].startswith("core ")  # the core has indices of 32 bits
        copies = compound and (not on_parent or lists or wide)
        expect((c["packed_bytes"] > 0) == copies, f"packed bytes of {c['name']}: {c['packed_bytes']}, plan {c['plan']}")
        if compound and on_parent:
            expect(c["new_values_s"] == 0, f"{c['name']} packs new values")
        if c["name"] in ("baij", "baijcompound") and args.ranks == 1:
            integer = args.index_bits // 8
            parent = case["blocks"] * (area * scalar + integer) + (case["block_rows"] + 1) * integer
            expect(c["parent_bytes"] == parent, f"parent bytes of {c['name']}: {c['parent_bytes']}, not {parent}")


def test_answers_do_not_depend_on_ranks(args):
    for options in (["-grid", "27", "-n", "4"], ["-grid", "surface", "-n", "5", "-shuffle", "all"],
                    ["-grid", "15", "-n", "3", "-entry", "quaternion", "-operation", "multadd",
                     "-block_size", "2" if args.scalar == "complex" else "4", "-plans", "entry=quaternion sell:8"],
                    ["-n", "3", "-block_size", "5", "-operation", "transpose", "-seed", "7"]):
        norms = []
        for ranks in (1, args.ranks + 1):
            written, _ = good(args, options, ranks)
            norms.append(written["cases"][0]["result_norm"] if written else math.nan)
        expect(abs(norms[0] - norms[1]) <= 1e-13 * norms[0], f"{options}: norms {norms}")


def test_generated_matrices(args):
    for options, rows, blocks in ((["-n", "4x3x2"], 24, 116), (["-grid", "5", "-n", "4x2"], 8, 28),
                                  (["-grid", "dense", "-n", "6"], 6, 36), (["-grid", "kkt", "-n", "2"], 40, 352),
                                  (["-n", "5", "-long_rows", "2:10"], 125, 725 + 2 * (58 - 7)),
                                  (["-n", "3", "-values", "stencil"], 27, 135),
                                  (["-grid", "5", "-n", "4", "-values", "convection"], 16, 64)):
        norms = []
        for ranks in (1, args.ranks + 1):
            written, _ = good(args, options + ["-block_size", "2"], ranks)
            case = written["cases"][0] if written else {}
            expect((case.get("block_rows"), case.get("blocks")) == (rows, blocks), f"{options}: {case}")
            norms.append(case.get("result_norm", math.nan))
        expect(abs(norms[0] - norms[1]) <= 1e-13 * norms[0], f"{options}: norms {norms}")


def test_one_triangle(args):
    """Types that store one triangle are compared with baij like all others, on any number of processes."""
    types = ["baij", "sbaij", "sbaijcompound", "sbaijcompoundsell"]
    for ranks in (1, 2):
        parsed, _ = good(args, ["-grid", "27", "-n", "4", "-block_size", "3", "-values", "symmetric", "-types",
                                ",".join(types), "-plans", "csr half=symmetric"], ranks)
        if parsed:
            named = [c["name"] for c in parsed["cases"][0]["candidates"]]
            expect(named[:4] == types and "half=symmetric" in named[4], f"candidates on {ranks} processes: {named}")
    file = os.path.join(args.folder, "triangle.mtx")
    with open(file, "wb") as out:
        out.write(market("pattern symmetric", "4 4 5", *[f"{i} {i}" for i in range(1, 5)], "3 1"))
    for more in ([], ["-renumber", "rcm"]):
        good(args, ["-pattern", file, "-block_size", "3", "-values", "symmetric", "-types", "baij,sbaij,sbaijcompound",
                    *more], 1)


def test_row_statistics(args):
    side = 4
    rows = []
    for node in itertools.product(range(side), repeat=3):
        def number(n):
            return (n[0] * side + n[1]) * side + n[2]

        around = [node] + [(*node[:a], node[a] + d, *node[a + 1:]) for a in range(3) for d in (-1, 1)]
        rows.append([number(n) for n in around if all(0 <= c < side for c in n)])
    wanted = {"row_lengths": sorted(map(len, rows)), "row_bandwidths": sorted(max(r) - min(r) for r in rows)}
    for ranks in (1, args.ranks + 1):
        written, _ = good(args, ["-n", str(side), "-types", "baij"], ranks)
        for name, numbers in wanted.items():
            quartiles = dict(zip(("least", "lower", "median", "upper", "most"),
                                 [numbers[i] for i in (0, 15, 31, 47, 63)]))
            expect(written["cases"][0][name] == quartiles, f"{name}: {written['cases'][0][name]}, not {quartiles}")


def test_orders(args):
    if args.ranks > 1:
        return
    for options in (["-block_size", "2", "-plans", "csr;sell:8:64"],
                    ["-block_size", "2x1", "-core_plans", "csr;sell:8"]):
        more = ["-n", "6", "-shuffle", "all", "-renumber", "natural,rcm,nd"]
        code, stdout, stderr, command = bench(args, options + more + QUICK)
        expect(code == 0 and stdout.count("rcm beside natural: ") == stdout.count("nd beside natural: ") >= 2,
               f"{command}: {stdout} {stderr}")
        written, _ = good(args, options + more)
        if not written:
            continue
        natural, rcm, nested = written["cases"]
        expect([c["ordering"] for c in written["cases"]] == ["natural", "rcm", "nd"], "orders")
        expect(all(c["blocks"] == natural["blocks"] for c in (rcm, nested)), "blocks are lost")
        median = [c["row_bandwidths"]["median"] for c in written["cases"]]
        expect(median[1] < median[0] / 1.5, f"rcm narrows rows: {median}")


def presets():
    """Those that the page of types has."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs/reference/types.md"), encoding="utf-8") as file:
        return re.findall(r"^\| `baijcompound(\w+)` \|", file.read(), re.M)


def test_layouts(args):
    if args.ranks > 1:
        return
    written, _ = good(args, ["-n", "6", "-block_size", "2", "-core_plans", "layouts", "-types", "none"])
    rows = written["cases"][0]["layouts"]
    expect([r["name"].split(":")[0] for r in rows] == presets(), f"layouts: {rows}")
    for r in rows:
        expect(r.get("error", 1) <= 1e-13 and r["padding"] >= 1 and len(r["samples_s"]) == ROUNDS, f"row {r}")
    expect({r["name"]: r["padding"] for r in rows}["csr"] == 1, "padding of csr")
    expect("candidates" not in written["cases"][0], "candidates of -types none")
    written, _ = good(args, ["-n", "40", "-block_size", "1", "-long_rows", "1:10000", "-core_plans",
                             "layouts csr ellr sell:2", "-types", "baij"])
    case = written["cases"][0]
    expect(len(case["candidates"]) == 1 and "why" not in case["layouts"][0] and "why" not in case["layouts"][2],
           f"{case}")
    expect("for each, and" in case["layouts"][1].get("why", ""), f"ellr of a full row: {case['layouts'][1]}")
    for more in (["-block_size", "3x2"], ["-core_scalar", "float"], ["-operation", "transpose"]):
        written, _ = good(args, ["-n", "4", "-core_plans", "layouts csr sell:8 hdia:64"] + more)
        expect(all("error" in r for r in written["cases"][0]["layouts"]), f"{more}: {written['cases'][0]['layouts']}")
    written, _ = good(args, ["-n", "8", "-block_size", "1", "-long_rows", "1:100", "-core_plans", "layouts csr ellr",
                             "-types", "none",
                             "-memory_limit", "1"])
    why = [r.get("why", "") for r in written["cases"][0]["layouts"]]
    expect(why[0] == "" and why[1].startswith("too large: "), f"memory of layouts: {why}")


def test_four_real_matrices(args):
    if args.ranks > 1:
        return
    options = ["-grid", "surface", "-n", "5", "-core_plans", "hamilton csr;hamilton sell:8;hamilton", "-types", "baij"]
    for operation in ("mult", "multadd", "transpose"):
        for scalar in ("double", "float"):
            written, _ = good(args, options + ["-entry", "quaternion", "-block_size",
                                               "2" if args.scalar == "complex" else "4",
                                               "-operation", operation, "-core_scalar", scalar])
            case = written["cases"][0]
            if args.scalar == "complex":
                expect(len(case["left_out"]) == 3, f"complex builds: {case}")
                continue
            names = [c["name"] for c in case["candidates"]]
            expect(names == ["baij", "hamilton csr", "hamilton sell:8", "hamilton auto"], f"candidates: {names}")
            for c in case["candidates"][1:]:
                words = 8 if scalar == "double" else 4
                vectors = 3 if operation == "multadd" else 2
                wanted = (
                    case["blocks"] * (4 * words + 4) + 4 * (case["block_rows"] + 1)
                    + vectors * case["block_rows"] * 4 * words
                )
                expect(c["compulsory_bytes"] == wanted, f"bytes {c['compulsory_bytes']}, not {wanted}")
    written, _ = good(args, options + ["-block_size", "4"])
    why = [left["why"] for left in written["cases"][0]["left_out"]]
    expect(len(why) == 3 and (args.scalar == "complex" or "not all quaternions" in why[0]), f"dense blocks: {why}")


def test_complex_files_as_blocks(args):
    rows, columns = 10, 10
    entries = some_entries(rows, columns, "complex")
    file = os.path.join(args.folder, "complex.mtx")
    write_matrix_market(file, rows, columns, entries, "complex")
    if args.scalar == "complex":
        code, _, stderr, command = bench(args, ["-matrix", file, "-complex", "blocks"])
        expect(code == 1 and "this PETSc's scalars are complex already" in stderr, f"{command}: {stderr}")
        return
    real = [(2 * i + r, 2 * j + c, value) for i, j, v in entries
            for r, c, value in ((0, 0, v.real), (1, 0, v.imag), (0, 1, -v.imag), (1, 1, v.real))]
    wanted = product_norm(2 * rows, 2 * columns, real)
    written, _ = good(args, ["-matrix", file, "-complex", "blocks", "-plans", "auto"])
    case = written["cases"][0]
    expect(case["block_size"] == 2 and case["block_rows"] == rows, f"blocks: {case}")
    expect(abs(case["result_norm"] - wanted) <= 1e-13 * wanted, f"norm {case['result_norm']}, not {wanted}")
    if args.ranks == 1:
        expect(case["entry_check"]["entry"] == "complex", f"kind: {case['entry_check']}")
    for name, text, message in (("petsc.dat", None, "reads Matrix Market files"),
                                ("real.mtx", market("real general", "2 2 1", "1 1 1"),
                                 "the values are real; leave it out")):
        other = os.path.join(args.folder, name)
        if text:
            with open(other, "wb") as out:
                out.write(text)
        else:
            write_petsc(other, 4, 4, [(0, 0, 1.0)], args)
        code, _, stderr, command = bench(args, ["-matrix", other, "-complex", "blocks"])
        expect(code == 1 and message in stderr, f"{command}: {stderr}")


def test_patterns_of_files_are_filled_with_blocks(args):
    file = os.path.join(args.folder, "graph.mtx")
    with open(file, "wb") as out:
        out.write(market("pattern symmetric", "4 4 5", *[f"{i} {i}" for i in range(1, 5)], "3 1"))
    size = "2" if args.scalar == "complex" else "4"
    options = ["-pattern", file, "-block_size", size, "-entry", "quaternion", "-plans", "entry=quaternion sell:2"]
    (case,) = good(args, options)[0]["cases"]
    expect(case["block_rows"] == 4 and case["blocks"] == 6 and case["longest_row"] == 2, f"pattern: {case}")
    expect(case["description"].endswith("graph.mtx, quaternion blocks"), case["description"])
    if args.ranks == 1:
        expect(case["entry_check"]["entry"] == "quaternion", f"kind: {case['entry_check']}")
    other = os.path.join(args.folder, "petsc_pattern.dat")
    write_petsc(other, 4, 4, [(0, 0, 1.0)], args)
    code, _, stderr, command = bench(args, ["-pattern", other])
    expect(code == 1 and "-pattern reads Matrix Market files" in stderr, f"{command}: {stderr}")


def test_csv(args):
    file = os.path.join(args.folder, "out.csv")
    code, _, stderr, command = bench(args, ["-n", "3,4", "-types", "baij", "-plans", "csr;sell:8", "-csv", file]
                                     + QUICK)
    expect(code == 0, f"{command}: {stderr}")
    with open(file, newline="") as read:
        rows = list(csv.DictReader(read))
    expect([r["candidate"] for r in rows] == ["baij", "csr", "sell:8"] * 2, f"candidates: {rows}")
    expect([r["block_rows"] for r in rows] == ["27"] * 3 + ["64"] * 3, f"sizes: {rows}")
    for r in rows:
        expect("," in r["description"] and float(r["median_s"]) >= float(r["least_s"]) > 0 and r["cold_median_s"] == ""
               and None not in r and r["plan"].startswith("" if r["candidate"] == "baij" else "entry=dense "),
               f"row {r}")


def test_entry_halves_bytes(args):
    if args.scalar == "complex":
        return
    written, _ = good(args, ["-n", "3", "-entry", "quaternion", "-block_size", "4", "-plans", "entry=quaternion csr"])
    case = written["cases"][0]
    full, packed = [c["compulsory_bytes"] for c in case["candidates"]]
    expect(full - packed == case["blocks"] * 12 * 8, f"a quaternion has 4 words of 16: {full}, {packed}")


def kinds_of_the_documents(scalar):
    """(kind, rows of a block, words in reals), from the table of docs/entries.md; kinds of any size with blocks of
    3x3."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "entries.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| (\w+)( reals)? of [^|]* \|", file.read(), re.M)
    reals_of_scalar = 2 if scalar == "complex" else 1
    for kind, blocks, words, real_words in rows:
        size = re.search(rf"(\d+)x\d+(?: {scalar}|, {scalar})", blocks)
        if size or blocks.startswith("n x n"):
            words = 3 if words == "n" else int(words)
            yield kind, int(size.group(1)) if size else 3, words * (1 if real_words else reals_of_scalar)


def test_every_kind(args):
    if args.ranks > 1:
        return
    kinds = list(kinds_of_the_documents(args.scalar))
    expect(len(kinds) > 4, f"kinds in docs/entries.md: {kinds}")
    for kind, size, words in kinds:
        plans = ["csr", f"entry={kind} csr", f"entry={kind} csr values=float"]
        core = [p for p in plans if "float" not in p] + ([] if kind == "unit_quaternion" else ["auto"])
        options = ["-n", "4", "-entry", kind, "-block_size", str(size), "-types", "aij,baij"]
        for more in (["-plans", ";".join(plans)], ["-core_plans", ";".join(core)],
                     ["-core_plans", ";".join(core), "-core_scalar", "float"]):
            written, _ = good(args, options + more)
            if not written:
                continue
            case = written["cases"][0]
            found = {"unit_quaternion": "quaternion"}.get(kind, kind)
            expect(case["entry_check"]["entry"] == found, f"{kind}: found {case['entry_check']}")
            by_name = {c["name"].removeprefix("core "): c for c in case["candidates"]}
            saved = by_name["csr"]["compulsory_bytes"] - by_name[f"entry={kind} csr"]["compulsory_bytes"]
            reals = size * size * (2 if args.scalar == "complex" else 1)
            wanted = case["blocks"] * (reals - words) * (4 if "-core_scalar" in more else 8)
            expect(saved == wanted, f"{kind}: saves {saved} bytes, not {wanted}")
            if "auto" in by_name:
                expect(f"entry={kind} " in by_name["auto"]["plan"], f"{kind}: plan {by_name['auto']['plan']}")
            expect(by_name["csr"]["times_dense"] > 0, f"{kind}: no speed relative to whole blocks")


def test_blocks_of_any_shape(args):
    if args.ranks > 1:
        return
    scalar = 16 if args.scalar == "complex" else 8
    _, tables = good(args, ["-n", "3", "-types", "none", "-plans", "auto;sell:8"])
    expect(len(tables) == 1 and [row[0] for row in tables[0]] == ["auto", "sell:8"], f"-types none: {tables}")
    options = ["-n", "4", "-block_size", "3x2,1x4", "-core_plans", "auto;sell:8 vectors=8;csr values=float"]
    for operation in ("mult", "multadd", "transpose"):
        written, tables = good(args, options + ["-operation", operation])
        expect(len(tables) == 2 and all(len(t) == 3 for t in tables), f"tables {tables}")
        for case, (rows, cols) in zip(written["cases"] if written else [], ((3, 2), (1, 4))):
            expect(case["block_shape"] == [rows, cols], f"shape {case['block_shape']}")
            vectors = rows + cols + (rows if operation == "multadd" else 0)
            wanted = (case["blocks"] * (rows * cols * scalar + 4) + 4 * (case["block_rows"] + 1)
                      + case["block_rows"] * vectors * scalar)
            full = case["candidates"][0]
            expect(full["compulsory_bytes"] == wanted, f"bytes {full['compulsory_bytes']}, not {wanted}")
            expect(full["error"] <= 1e-13, f"error {full['error']}")
            expect(1e-10 < case["candidates"][2]["error"] < 1e-5, f"error of floats: {case['candidates'][2]}")
    options = ["-n", "4", "-block_size", "3,3x6", "-types", "aij", "-core_plans", "csr words=rows;csr"]
    for operation in ("mult", "multadd", "transpose"):
        written, tables = good(args, options + ["-operation", operation])
        expect([len(t) for t in tables] == [3, 3], f"tables {tables}")
        for case in written["cases"] if written else []:
            scalars, lying, _ = case["candidates"]
            expect("words=rows" in lying["plan"], f"plan {lying['plan']}")
            expect(scalars["parent_bytes"] > lying["parent_bytes"], f"bytes {scalars} {lying}")
            expect(all(c["error"] <= 1e-13 for c in case["candidates"]), f"errors {case['candidates']}")


def test_files(args):
    rows, columns = 12, 18
    entries = some_entries(rows, columns, args.scalar)
    mtx, petsc = os.path.join(args.folder, "m.mtx"), os.path.join(args.folder, "m.dat")
    write_matrix_market(mtx, rows, columns, entries, args.scalar)
    write_petsc(petsc, rows, columns, entries, args)
    write_petsc(petsc + "3", rows, columns, entries, args, block_size=3)
    cases = [([mtx], 1), ([mtx, "-block_size", "3"], 3), ([petsc], 1), ([petsc, "-block_size", "2"], 2),
             ([petsc + "3"], 3)]
    for options, block_size in cases:
        for operation in ("mult", "multadd", "transpose"):
            written, _ = good(args, ["-matrix"] + options + ["-operation", operation])
            if not written:
                continue
            case = written["cases"][0]
            wanted = product_norm(rows, columns, entries, operation)
            expect(abs(case["result_norm"] - wanted) <= 1e-13 * wanted,
                   f"{options} {operation}: norm {case['result_norm']}, not {wanted}")
            expect(case["block_size"] == block_size, f"{options}: block size {case['block_size']}")
            expect(case["block_rows"] == rows // block_size, f"{options}: block rows {case['block_rows']}")


def test_json_through_a_link(args):
    target, link = os.path.join(args.folder, "target.json"), os.path.join(args.folder, "link.json")
    with open(target, "w") as out:
        out.write("old")
    os.symlink("target.json", link)
    code, _, stderr, command = bench(args, QUICK + ["-n", "2", "-json", link])
    expect(code == 0 and os.path.islink(link), f"{command}\n  replaces the link: {code} {stderr}")
    with open(target) as file:
        expect(file.read(1) == "{", f"{command}\n  does not write the link's target")


def test_device(args):
    code, stdout, stderr, command = bench(args, QUICK + ["-n", "3", "-device", "cuda", "-cusparse", "all", "-cold",
                                                         "-graph"], ranks=1)
    if is_without_device(code, stderr, command, "compound-bench"):
        return
    expect("device copy" in stdout and "x cusparse" in stdout and "graph us" in stdout, f"{command}: {stdout}")


def test_block_formats_on_a_device(args):
    """cuSPARSE's products of complex numbers, those of components, and every layout of a block format."""
    if args.scalar != "real":
        return
    of_complex = ["-block_size", "2", "-entry", "complex", "-cusparse", "complex-csr,complex-sell,complex-coo"]
    of_quaternions = ["-block_size", "4", "-entry", "quaternion", "-core_plans", "hamilton auto;csr;sell:32 lanes=2"]
    for options, wanted in ((of_complex, ["complex-csr", "complex-sell", "complex-coo"]),
                            (of_quaternions, ["hamilton", "csr", "sell:32 lanes=2"])):
        out = os.path.join(args.folder, "formats.json")
        code, _, stderr, command = bench(
            args, QUICK + ["-grid", "7", "-n", "6", "-device", "cuda", "-json", out, *options], ranks=1)
        if is_without_device(code, stderr, command, "compound-bench"):
            return
        with open(out) as file:
            errors = {c["name"]: c["error"] for c in json.load(file)["cases"][0]["candidates"]}
        for name in wanted:
            found = [error for candidate, error in errors.items() if name in candidate]
            expect(found and max(found) < 1e-13, f"{command}: {name}: {errors}")


def test_coordinates(args):
    types = ["baijcompound", "aijcompound", "baij", "aij"]
    written, tables = good(args, ["-n", "3", "-block_size", "2", "-types", ",".join(f"{t}/coo" for t in types)])
    case = written["cases"][0] if written else {}
    scalar = 16 if args.scalar == "complex" else 8
    expect(case["coo_bytes"] == case["blocks"] * 4 * scalar, f"bytes of coordinates: {case['coo_bytes']}")
    wanted = [(t, of) for t in types for of in ("scalars", "blocks") if of == "scalars" or "compound" in t]
    expect([(c["type"], c["coordinates"]) for c in case["coo"]] == wanted, f"types: {case['coo']}")
    expect("candidates" not in case and not tables, f"no products were asked for: {case} {tables}")
    for c in case["coo"]:
        expect(len(c["samples_s"]) == ROUNDS and c["error"] < 1e-13, f"assembly by {c['type']}: {c}")
        expect(c["iterations"] > 1 and c["with_solve_median_s"] > 0, f"a step with {c['type']}: {c}")


def test_assembly(args):
    types = ["baij", "baijcompound", "aij", "aijcompound"]
    command = ["-n", "4", "-block_size", "3", "-types", ",".join(f"{t}/assembly" for t in types), "-pc_type", "jacobi"]
    steps = ["insert_s", "first_solve_s", "second_solve_s", "new_values_s", "solve_after_s"]
    written, tables = good(args, command)
    case = written["cases"][0]
    rows = case["assembly"]
    expect("candidates" not in case and not tables, f"no products were asked for: {case} {tables}")
    expect([r["type"] for r in rows] == types, f"types: {rows}")
    for r in rows:
        expect(len(r["whole_samples_s"]) == ROUNDS, f"the first round is kept apart: {r}")
        expect(all(r[step] > 0 for step in steps), f"steps: {r}")
        expect(r["ksp"] == ("cgcompound" if "compound" in r["type"] else "cg") and r["pc"] == "jacobi", f"solver: {r}")
        expect(r["residual"] < 1e-7 and r["iterations"] == rows[0]["iterations"], f"{r['type']} did not solve: {r}")
    failing = ["-n", "3", "-types", "baij/assembly", "-ksp_max_it", "0"]
    code, _, stderr, _ = bench(args, QUICK + failing)
    expect(code != 0 and "choose another method by -ksp_type and -pc_type" in stderr, f"a solve that fails: {stderr}")


def test_dense(args):
    types = ["baij", "baijcompound", "aij", "aijcompound"]
    command = ["-n", "4", "-block_size", "3", "-types", ",".join(f"{t}/dense" for t in types), "-columns", "1,3"]
    written, tables = good(args, command)
    case = written["cases"][0]
    expect("candidates" not in case and not tables, f"no products were asked for: {case} {tables}")
    expect([(r["type"], r["columns"]) for r in case["dense"]] == [(t, c) for t in types for c in (1, 3)],
           f"rows: {case['dense']}")
    for r in case["dense"]:
        expect(len(r["samples_s"]) == ROUNDS and r["products"] > 0, f"times: {r}")
        expect(r["error"] == 0 if "compound" in r["type"] else r["error"] < 1e-13, f"the last column: {r}")
    written, _ = good(args, [*command, "-operation", "transpose"])
    for r in written["cases"][0]["dense"]:
        expect(r["error"] < 1e-13, f"the last column of A^T B: {r}")


def test_krylov_methods(args):
    solvers = [(t, k) for t in ("aij", "baijcompound") for k in ("cg", "cgcompound", "bcgs")]
    words = ",".join(f"{t}/{k}" for t, k in solvers)
    command = ["-n", "4", "-block_size", "3", "-types", "baij," + words, "-pc_type", "jacobi"]
    written, tables = good(args, command)
    expect([row[0] for row in tables[0]] == ["baij"], f"candidates: {tables}")
    rows = written["cases"][0]["ksp"]
    expect([(r["type"], r["ksp"]) for r in rows] == solvers, f"rows: {rows}")
    for r in rows:
        expect(len(r["iteration_samples_s"]) == ROUNDS and r["first_solve_s"] > 0, f"samples: {r}")
        expect(r["set_up_s"] < r["first_solve_s"], f"set-up: {r}")
        expect(r["pc"] == "jacobi" and r["residual"] < 1e-10, f"{r['type']}/{r['ksp']} did not solve: {r}")
    # Rows of multipliers have no entry on the diagonal.
    no_diagonal = ["-grid", "kkt", "-n", "3", "-block_size", "1", "-types", "aij/bcgs,baijcompound/bcgs", "-pc_type",
                   "none", "-ksp_norm_type", "none"]
    written, _ = good(args, no_diagonal)
    expect(all(r["residual"] < 1e-10 for r in written["cases"][0]["ksp"]),
           f"without diagonal entries: {written['cases'][0]['ksp']}")
    code, _, stderr, _ = bench(args, command + ["-ksp_convergence_test", "default", "-ksp_rtol", "0.9"])
    expect(code == 1 and "-types: cg stopped after 1 of 32 iterations (CONVERGED_RTOL)" in stderr,
           f"a solve that ends early: {code} {stderr}")


def test_float_core(args):
    if args.ranks > 1:
        return
    options = ["-n", "4", "-core_plans", "csr;sell:8 vectors=8", "-core_scalar", "float", "-types", "baij"]
    for operation in ("mult", "multadd", "transpose"):
        written, tables = good(args, options + ["-operation", operation])
        errors = [float(row[-1]) for row in tables[0]] if tables else []
        expect(len(errors) == 3 and errors[0] == 0 and all(1e-9 < e < 1e-4 for e in errors[1:]), f"errors {errors}")
        if written:
            full, half = [c["compulsory_bytes"] for c in written["cases"][0]["candidates"][:2]]
            case = written["cases"][0]
            integers = 4 * (case["blocks"] + case["block_rows"] + 1)
            expect(2 * (half - integers) == full - integers, f"float bytes {half} of {full}")


ERRORS = [
    ("-grid 8", "-grid '8': unknown grid; choose 5, 7, 15, 27, surface, dense, kkt"),
    ("-grid surface -n 2", "needs at least 3 nodes a side"),
    ("-n 0", "-n '0': expected positive integers"),
    ("-n 3x", "-n '3x': expected positive integers"),
    ("-n 3x0x2", "-n '3x0x2': expected positive integers"),
    ("-n 3x4", "-n: -grid 7 takes one number or 3, one for each direction"),
    ("-grid surface -n 3x4x5", "-n: -grid surface takes one number or 2"),
    ("-grid surface -n 9x2", "needs at least 3 nodes a side"),
    ("-grid kkt -n 3x3x3", "-n: -grid kkt takes one number, for all its sides"),
    ("-values same", "-values: unknown values 'same'; choose random, symmetric, stencil, convection"),
    ("-values symmetric -entry complex -block_size 2", "-values symmetric has square dense blocks"),
    ("-n 3 -grid 27 -values convection", "not for -grid 27; choose -grid 5 or 7"),
    ("-n 3 -values convection -long_rows 1:2", "no coefficients for the entries of -long_rows"),
    ("-complex blocks -n 2", "-complex blocks is for files"),
    ("-complex pairs -n 2", "-complex: unknown form 'pairs'; choose scalars, blocks"),
    ("-n 2 -core_plans layouts|sel", "-core_plans: unknown layout 'sel': did you mean sell? Choose csr, ellr"),
    ("-types baij/ -n 2",
     "-types 'baij/': expected a type before the slash, and assembly, coo, dense or a Krylov method after it"),
    ("-n 2 -types baij/dense -columns 0", "-columns '0': expected integers from 1 to 1000, as in 4,8"),
    ("-types baij/ggg -n 2", "ggg"),
    ("-renumber rcm,best", "-renumber: unknown order 'best'; choose natural, rcm, nd"),
    ("-block_size 2x3 -core_plans csr -n 2 -renumber rcm,", "-renumber 'rcm,': expected orders separated by ','"),
    ("-csv {folder}", "-csv: '{folder}' is a folder, not a regular file"),
    ("-csv {folder}/absent/x.csv", "-csv: cannot write '{folder}/absent/x.csv'"),
    ("-long_rows 4", "-long_rows '4': expected how many and how many times"),
    ("-long_rows 0:3", "-long_rows '0:3': expected how many"),
    ("-long_rows 1:0.5", "-long_rows '1:0.5': expected how many"),
    ("-n 3 -long_rows 28:2", "-long_rows: 28 rows of 27; choose fewer or a larger matrix"),
    ("-matrix {folder}/odd.mtx -values stencil", "-matrix excludes the generator's options, such as -values"),
    ("-n 2.5", "-n '2.5': expected positive integers"),
    ("-rows ten", "-rows 'ten': expected positive integers"),
    ("-megabytes -1", "-megabytes '-1': expected positive numbers"),
    ("-n 3 -rows 5", "exclude each other"),
    ("-block_size 0", "-block_size '0': expected integers from 1 to 1024"),
    ("-n 3,", "-n '3,': expected positive integers"),
    ("-block_size 1,,2", "-block_size '1,,2': expected integers"),
    ("-block_size 3,", "-block_size '3,': expected integers"),
    ("-block_size 2,3x", "-block_size '2,3x': expected integers"),
    ("-block_size x3", "-block_size 'x3': expected integers"),
    ("-block_size 3x2000", "-block_size '3x2000': expected integers"),
    ("-block_size 3x2x1", "-block_size '3x2x1': expected integers"),
    ("-block_size 3x2", "blocks that are not square need -core_plans"),
    ("-block_size 3,3x2 -types baij", "blocks that are not square have no -types but aij"),
    ("-matrix {folder}/odd.mtx -block_size 3x2", "-matrix takes square blocks"),
    ("-shuffle -3", "-shuffle '-3': expected a number of rows, or all"),
    ("-seed x", "-seed 'x': expected a non-negative integer"),
    ("-entry octonion -n 2", "unknown -entry 'octonion'; choose dense"),
    ("-entry quaternion -block_size 3 -n 2", "-entry and -block_size: entry quaternion needs blocks of"),
    ("-types", "-types needs a value"),
    ("-types aij,,baij", "expected matrix types separated by ','"),
    ("-types none -n 2", "-types none leaves nothing to compare"),
    ("-types nonesuch -n 2", "-types 'nonesuch': Unknown Mat type given: nonesuch"),
    ("-plans sel -n 2", "unknown plan keyword 'sel': did you mean sell?"),
    ("-plans csr|presence -n 2", "presence bits are for slices"),
    ("-core_scalar half", "-core_scalar: unknown scalar 'half'; choose double, float"),
    ("-baseline dense -n 2", "-baseline 'dense' is not a candidate; choose 'aij', 'baij', 'baijcompound'"),
    ("-operation divide", "unknown operation 'divide'; choose mult, multadd, transpose"),
    ("-rounds 0", "-rounds '0': expected an integer"),
    ("-min_time nan", "-min_time 'nan': expected seconds"),
    ("-warm_up many", "-warm_up 'many': expected an integer"),
    ("-no_check perhaps", "expected true or false"),
    ("-memory_limit 0", "-memory_limit '0': expected a positive number of MB"),
    ("-n 4194304", "the matrix would have more than 1e15 rows or entries; choose a smaller case"),
    ("-n 2097152", "the matrix would have more than 1e15 rows or entries; choose a smaller case"),
    ("-megabytes 1e15", "the matrix would have more than 1e15 rows or entries; choose a smaller case"),
    ("-memory_limit 1 -n 30", "more than 1 MB (-memory_limit); choose a smaller case or fewer types and plans"),
    ("-memory_limit 0.001 -n 3", " MB with all its candidates, more than 0.001 MB (-memory_limit)"),
    ("-matrix {folder}/wide.mtx -memory_limit 100", "more than 100 MB (-memory_limit)"),
    ("-matrix {folder}/full.mtx -memory_limit 1", "more than 1 MB (-memory_limit)"),
    ("-matrix {folder}/wide.dat -memory_limit 100", "more than 100 MB (-memory_limit)"),
    ("-matrix {folder}/dense.dat -memory_limit 100", "more than 100 MB (-memory_limit)"),
    ("-megabytes 100000000", "70 % of what is available"),
    ("-cusparse all -n 2", "-cusparse needs a device; add -device cuda"),
    ("-cold -n 2", "-cold needs a device; add -device cuda"),
    ("-graph -n 2", "-graph needs a device; add -device cuda"),
    ("-cusparse csr,best -n 2", "-cusparse: unknown product 'best'; choose all, bsrmv-row"),
    ("-device opencl -n 2", "-device: unknown device 'opencl'; choose host, cuda"),
    ("-typs aij", "-typs (did you mean -types?)"),
    ("-frobnicate 1", "nothing asked for the option(s) -frobnicate"),
    ("-n 2 -mat_compound_layuot sell", "nothing asked for the option(s) -mat_compound_layuot"),
    ("-n 2 -mat_compound_layout sel", "unknown layout 'sel': did you mean sell? Choose auto, csr, ellr, bellpack, "
     "sell, dia, hdia, ccoo"),
    ("matrix.mtx", "unexpected argument 'matrix.mtx'"),
    ("-n 2 3", "unexpected argument '3'"),
    ("-matrix {folder}/absent", "cannot open '{folder}/absent': No such file"),
    ("-matrix {folder}", "-matrix: '{folder}' is a folder, not a regular file"),
    ("-matrix {folder}/pipe", "-matrix: '{folder}/pipe' is a named pipe, not a regular file"),
    ("-matrix /dev/null", "-matrix: '/dev/null' is a device, not a regular file"),
    ("-matrix {folder}/text", "is neither a PETSc binary matrix nor a Matrix Market file"),
    ("-matrix {folder}/empty", "is neither a PETSc binary matrix nor a Matrix Market file"),
    ("-matrix {folder}/zipped", "is compressed; gunzip it first"),
    ("-matrix {folder}/other.dat", "-bit indices, this one has "),
    ("-matrix {folder}/bad.mtx", "bad.mtx:3: the column is 9; expected 1 to 2"),
    ("-matrix {folder}/half.mtx", "half.mtx:3: the value is '1.5'; expected an integer, as the header says"),
    ("-matrix {folder}/skew.mtx", "skew.mtx:3: the entry 2 2 lies on the diagonal"),
    ("-matrix {folder}/both.mtx", "both.mtx:4: the entry 1 2 lies above the diagonal"),
    ("-matrix {folder}/many.mtx", "4000000000000 entries are announced"),
    ("-matrix {folder}/odd.mtx -block_size 2", "-block_size 2 does not divide the file's 3 x 3"),
    ("-matrix {folder}/cut.dat", "cannot load '{folder}/cut.dat'"),
    ("-matrix {folder}/odd.mtx -block_size 1,2", "takes one -block_size"),
    ("-matrix {folder}/odd.mtx -n 3", "-matrix excludes the generator's options, such as -n"),
]


def market(kind, *lines):
    return "\n".join(["%%MatrixMarket matrix coordinate " + kind, *lines, ""]).encode()


def test_errors(args):
    head = ">4q" if args.index_bits == 64 else ">4i"
    files = {"text": b"hello, world\n", "empty": b"", "zipped": b"\x1f\x8b\x08 and so on",
             "bad.mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 9 1\n",
             "odd.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n",
             "other.dat": struct.pack(">4i" if args.index_bits == 64 else ">4q", 1211216, 4, 4, 4),
             "cut.dat": struct.pack(head, 1211216, 4, 4, 4),
             "wide.mtx": market("real general", "2000000000 2000000000 1", "1 1 1"),
             "full.mtx": market("real symmetric", "2 2 100000", "x" * 400000),  # no line behind the sizes is read
             "wide.dat": struct.pack(head, 1211216, 100000000, 100000000, 1),
             "dense.dat": struct.pack(head, 1211216, 30000, 30000, -1),
             "half.mtx": market("integer general", "2 2 1", "1 1 1.5"),
             "skew.mtx": market("real skew-symmetric", "2 2 1", "2 2 1"),
             "both.mtx": market("real symmetric", "2 2 2", "2 1 3", "1 2 3"),
             "many.mtx": market("real general", "2 2 4000000000000", "1 1 1")}
    os.mkfifo(os.path.join(args.folder, "pipe"))
    os.mkfifo(os.path.join(args.folder, "taken.part"))
    os.symlink("pipe", os.path.join(args.folder, "to_pipe"))
    os.symlink("nothing", os.path.join(args.folder, "to_nothing"))
    for name, content in files.items():
        with open(os.path.join(args.folder, name), "wb") as out:
            out.write(content)
    # On several, that they end at all: mpirun takes its time.
    errors = list(ERRORS if args.ranks == 1 else ERRORS[::4 if WHOLE else 16])
    errors.append(("-n 2 -json {folder}/absent/x.json", "-json: cannot write '{folder}/absent/x.json'"))
    errors.append(("-n 2 -json {folder}", "-json: '{folder}' is a folder, not a regular file"))
    errors.append(("-n 2 -json {folder}/pipe", "-json: '{folder}/pipe' is a named pipe, not a regular file"))
    errors.append(("-n 2 -json {folder}/to_pipe", "-json: '{folder}/to_pipe' is a named pipe, not a regular file"))
    errors.append(("-n 2 -json {folder}/taken", "-json: '{folder}/taken.part' is a named pipe, not a regular file"))
    errors.append(("-n 2 -json {folder}/to_nothing", "-json: '{folder}/to_nothing' is a symbolic link to nothing"))
    errors.append(("-n 2 -csv {folder}/x -json {folder}/x", "-csv and -json name the same file"))
    if args.scalar != "complex" and args.ranks == 1:
        errors.append(("-n 2 -block_size 4 -entry quaternion -core_plans hamilton|sel", "-core_plans 'hamilton sel': "))
    if args.ranks > 1:
        errors.append(("-n 2 -renumber rcm", "-renumber runs on one rank"))
        errors.append(("-n 2 -core_plans layouts", "-core_plans run on one rank"))
        errors.append(("-n 2 -core_plans hamilton", "-core_plans run on one rank"))
        errors.append(("-n 2 -core_plans csr", "-core_plans run on one rank"))
    else:
        errors.append(("-n 2 -core_plans sell:9:7", "-core_plans 'sell:9:7': "))
        errors.append(("-n 2 -core_plans cs", "-core_plans 'cs': unknown plan keyword 'cs'"))
    for options, message in errors:
        words = [w.replace("{folder}", args.folder).replace("|", " ") for w in options.split()]
        code, stdout, stderr, command = bench(args, QUICK + words)
        wanted = message.replace("{folder}", args.folder)
        expect(code not in (0, 59, 124, 139) and wanted in stderr and "compound-bench: error" in stderr,
               f"{command}\n  expected an error with '{wanted}', got code {code}: {stdout[-300:]}{stderr[-600:]}")
        expect("-json" not in words or "candidate " not in stdout,
               f"{command}\n  measures before it fails: {stdout[-300:]}")
        expect(stderr.count(wanted) == 1, f"{command}\n  says it more than once: {stderr[-900:]}")


def test_wrong_candidates(args):
    """Old PETSc makes a symmetric matrix of any; new PETSc refuses."""
    file = os.path.join(args.folder, "upper.mtx")
    with open(file, "w") as out:
        out.write("%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n1 3 1\n")
    options = ["-matrix", file, "-types", "baij,sbaij"]
    code, stdout, stderr, command = bench(args, QUICK + options)
    expect(code == 1 and "candidate" not in stdout, f"{command}\n  times a wrong candidate: {stdout}")
    if "Matrix must be symmetric" in stderr:
        return
    expect("candidate 'sbaij' and the first, 'baij', differ by " in stderr
           and "all are compared with the first" in stderr,
           f"{command}\n  does not say that it is wrong: {stderr}")
    allowed = re.search(r"allowed are (\S+);", stderr)
    expect(allowed and 0 < float(allowed.group(1)) < 1e-6, f"{command}\n  does not say what is allowed: {stderr}")
    _, tables = good(args, options + ["-no_check"])
    expect(tables and [row[-1] for row in tables[0]] == ["-", "-"], f"errors with -no_check: {tables}")


def test_help(args):
    code, stdout, _, _ = bench(args, ["-help"])
    own, petsc, rest = stdout.partition("Options for all PETSc programs:")
    expect(petsc and "-log_view" in rest and "compound-bench's own options are at the top" in rest,
           f"-help ends in {rest[-300:]}")
    _, alone, _, command = bench(args, ["-help", "intro"])
    expect("  -json <" in alone and petsc not in alone and "-log_view" not in alone,
           f"{command} prints more: {alone[-300:]}")
    for option in ("matrix", "grid", "n", "rows", "megabytes", "block_size", "entry", "shuffle", "seed", "types",
                   "plans",
                   "values", "long_rows", "renumber", "csv", "complex", "core_plans",
                   "core_scalar", "baseline", "operation", "rounds", "min_time", "warm_up", "no_check",
                   "memory_limit", "json", "device", "cusparse", "cold", "graph"):
        expect(f"  -{option} <" in own, f"-help does not list -{option} before PETSc's options")
        expect(f"  -{option} <" in alone, f"{command} does not list -{option}")
    expect(code == 0 and "median us" not in stdout, "-help ends without running a case")


def test_options_from_the_environment(args):
    code, stdout, stderr, _ = bench(args, QUICK, env={"PETSC_OPTIONS": "-n 2 -types baijcompound,baij"})
    expect(code == 0 and "2^3 nodes" in stdout, f"PETSC_OPTIONS: {code} {stdout} {stderr}")


def test_values_that_are_not_finite(args):
    file = os.path.join(args.folder, "nan.mtx")
    with open(file, "w") as out:
        out.write("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 nan\n2 2 inf\n2 1 1\n")
    _, tables = good(args, ["-matrix", file])
    expect(len(tables) == 1, "equal results are right even if they are not finite")


def test_progress(args):
    if args.ranks > 1 and not WHOLE:
        return
    options = ["-n", "2", "-types", "baij", "-rounds", "5", "-min_time", "0.3"]
    _, stdout, stderr, _ = bench(args, options)
    expect("compound-bench: round " in stderr and "round" not in stdout.split("candidate", 1)[-1], "progress on stderr")
    begin = time.monotonic()
    _, _, stderr, _ = bench(args, ["-n", "2"] + QUICK)
    took = time.monotonic() - begin
    expect("compound-bench: round " not in stderr or took > 2, f"progress in {took} s, before two seconds are over")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--scalar", required=True)
    parser.add_argument("--index-bits", type=int, required=True)
    args = parser.parse_args()
    return run_tests(globals(), args)


if __name__ == "__main__":
    sys.exit(main())
