#!/usr/bin/env python3
"""Memory as users are told: -mat_view has the bytes of the arrays, and config/compare_types.py adds parent and
copies."""

import re
import sys

from support import TOP, Checks, Client, arguments

PROBLEM = ["-box", "9,8,7"]
TYPES = ("baij", "baijcompound", "baijcompoundcsr", "baijcompoundsell")


def viewed(output):
    found = re.search(r"compound memory: .* base type ([\d.]+) MB, packed storage ([\d.]+) MB", output)
    return float(found[1]), float(found[2])


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks()
    program = client.compile_elasticity(f"{args.scratch}/elasticity")
    table = client.run([sys.executable, f"{TOP}/config/compare_types.py", "--program", program, "--plugin",
                        client.plugin,
                        "--types", ",".join(TYPES), "--rounds", "1", *(["--complex"] if args.scalar == "complex"
                                                                       else []),
                        "--", *PROBLEM])
    column = {t: float(re.search(rf"^{t} .* ([\d.]+)$", table, re.M)[1]) for t in TYPES}
    index, scalar = int(args.build.split("-")[2]) // 8, 16 if args.scalar == "complex" else 8
    for mat_type in TYPES[1:]:
        output = client.run([program, *PROBLEM, "-dll_append", client.plugin, "-mat_type", mat_type,
                             "-mat_compound_view"])
        blocks, unknowns = (int(re.search(rf"^{word}: (\d+)", output, re.M)[1]) for word in ("blocks", "unknowns"))
        parent, packed = viewed(output)
        bytes_wanted = blocks * (9 * scalar + index) + (unknowns // 3 + 1) * index
        checks.close(parent, bytes_wanted / 1e6, 0.001, f"{mat_type}: parent's MB in -mat_compound_view")
        checks.true(abs(column[mat_type] - parent - packed) <= 0.051,
                    f"{mat_type}: {column[mat_type]} MB in the table, parent {parent} and packed {packed} in "
                    "-mat_compound_view")
        if mat_type == "baijcompoundsell":
            checks.true(packed >= blocks * (9 * scalar + 4) / 1e6,
                        f"{mat_type}: {packed} MB of copies are less than its blocks")
        print(f"{mat_type}: parent {parent} MB, packed storage {packed} MB, table {column[mat_type]} MB")
    checks.finish()


main()
