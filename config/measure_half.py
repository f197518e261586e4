#!/usr/bin/env python3
"""Measures products of symmetric matrices by one triangle and by both, on the host, on the graphs of real meshes:
appends runs to docs/data/figures/half.json.xz, from which config/figures.py writes a table.

    python3 config/measure_half.py --build build/host --data ../shared/data

The meshes are not part of the project; one that is not there is left out, with a line. compound-bench times all types
and plans of a mesh in turns.
"""

import argparse
import json
import lzma
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "docs/reproduction"))
from experiments.matrices import pattern_of_mesh, text_of  # noqa: E402

RECORD = TOP / "docs/data/figures/half.json.xz"
# (mesh, elements of order 1 or 2, block size)
CASES = [("tets/bunny_27k.ele", 1, 3), ("tets/bunny_68k.ele", 1, 3), ("tets/crankshaft_66k.ele", 1, 3),
         ("tets/linkrods_28k.ele", 1, 3), ("tets-public/igl_hand.mesh", 1, 3),
         ("tets-public/ipc_Armadillo13K.msh", 1, 3), ("tets/bunny_27k.ele", 2, 3),
         ("tets/linkrods_28k.ele", 1, 6), ("surface/bunny_34834.off", 1, 2), ("tets/bunny_68k.ele", 1, 1),
         ("tets/crankshaft_66k.ele", 1, 1), ("tets/bunny_27k.ele", 2, 1)]
CANDIDATES = ["-types", "baij,sbaij,sbaijcompound", "-plans", "csr;csr half=symmetric"]


def commit():
    return subprocess.run(["git", "-C", str(TOP), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                          check=True).stdout.strip()


def measured(program, file, mesh, order, block_size, rounds):
    out = file.with_suffix(".json")
    command = [str(program), "-pattern", str(file), "-block_size", str(block_size), "-values", "symmetric", *CANDIDATES,
               "-rounds", str(rounds), "-json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"measure_half.py: {' '.join(command)} ended with status {done.returncode}: {done.stderr[-600:]}")
    written = json.loads(out.read_text(encoding="utf-8"))
    case = written["cases"][0]
    candidates = {c["name"]: {"product_us": round(1e6 * c["median_s"], 2),
                              "spread_per_cent": round(100 * c["spread"], 1),
                              "bytes": c.get("parent_bytes", 0) + c.get("packed_bytes", 0)}
                  for c in case["candidates"]}
    return {"program": "compound-bench",
            "command_line": " ".join(["compound-bench", "-pattern", file.name, *command[3:-2]]), "commit": commit(),
            "date": written["date"][:10], "device": {"name": written["machine"]["processor"]},
            "versions": written["versions"], "rounds": rounds, "mesh": mesh, "order": order, "block_size": block_size,
            "block_rows": case["block_rows"], "blocks": case["blocks"], "candidates": candidates}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder with compound-bench")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of meshes")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    folder = TOP / "build/figures"
    folder.mkdir(parents=True, exist_ok=True)
    runs = json.loads(lzma.open(RECORD, "rt").read())["runs"] if RECORD.exists() else []
    for mesh, order, block_size in CASES:
        text = text_of(str(args.data / mesh))
        if text is None:
            print(f"left out: {mesh} is not in {args.data}")
            continue
        file = folder / f"{pathlib.Path(mesh).stem}-{order}.mtx"
        if not file.exists():
            file.write_text(pattern_of_mesh(text, pathlib.Path(mesh).suffix, order), encoding="utf-8")
        runs.append(measured(args.build / "plugin/tools/compound-bench", file, mesh, order, block_size, args.rounds))
        print(f"{mesh}, order {order}, blocks of {block_size}: " +
              ", ".join(f"{name} {c['product_us']:.0f} us" for name, c in runs[-1]["candidates"].items()), flush=True)
        with lzma.open(RECORD, "wt", preset=9) as out:
            json.dump({"schema": "figures 1", "runs": runs}, out, sort_keys=True)


if __name__ == "__main__":
    main()
