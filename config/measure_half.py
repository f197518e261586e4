#!/usr/bin/env python3
"""Measures products of symmetric matrices by one triangle and by both, on the graphs of real meshes and, on a device,
on grids, with whole solves: appends runs to docs/data/figures/half.json.xz or half-device.json.xz, from which
config/figures.py writes tables.

    python3 config/measure_half.py --build build/host --data ../shared/data
    python3 config/measure_half.py --build build/petsc-3.26.1-cuda-real --device

The meshes are not part of the project; one that is not there is left out, with a line. Their patterns, and for solves
Gmsh files (by meshio, pip install meshio), are written to build/figures once. compound-bench times all types and plans
of a matrix in turns, and solves take turns.
"""

import argparse
import json
import lzma
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from measure_figures import RECORDS, TOP, commit, read, write

# (mesh, elements of order 1 or 2, block size)
CASES = [("tets/bunny_27k.ele", 1, 3), ("tets/bunny_68k.ele", 1, 3), ("tets/crankshaft_66k.ele", 1, 3),
         ("tets/linkrods_28k.ele", 1, 3), ("tets-public/igl_hand.mesh", 1, 3),
         ("tets-public/ipc_Armadillo13K.msh", 1, 3), ("tets/bunny_27k.ele", 2, 3),
         ("tets/linkrods_28k.ele", 1, 6), ("surface/bunny_34834.off", 1, 2), ("tets/bunny_68k.ele", 1, 1),
         ("tets/crankshaft_66k.ele", 1, 1), ("tets/bunny_27k.ele", 2, 1)]
CANDIDATES = ["-types", "baij,sbaij,sbaijcompound", "-plans", "csr;csr half=symmetric"]

ON_DEVICE = ["-device", "cuda", "-types", "baijcompound", "-plans", "half=symmetric"]
# Points of a grid, nodes a side, block size, and what else.
GRIDS = [("27", 100, 3, []), ("27", 60, 3, []), ("27", 30, 3, []), ("15", 90, 3, []), ("7", 100, 3, []),
         ("27", 80, 3, ["-shuffle", "1000"]), ("27", 70, 1, []), ("27", 70, 2, []), ("27", 50, 4, []),
         ("27", 44, 5, []), ("27", 44, 6, []), ("27", 36, 8, []), ("27", 28, 12, [])]
MESHES_ON_DEVICE = [("tets/bunny_68k.ele", 1, 3), ("tets/crankshaft_66k.ele", 1, 3), ("tets/bunny_27k.ele", 2, 3),
                    ("tets/bunny_68k.ele", 1, 6)]
# (what is solved, mesh, options of examples/elasticity)
SOLVED = [*((f"box of {n}^3 bricks", None, ["-box", f"{n},{n},{n}"]) for n in (30, 44, 56)),
          ("box of 32^3 cells, tetrahedra", None, ["-box", "32,32,32", "-box_tets"]),
          *((pathlib.Path(mesh).stem, mesh, []) for mesh in
            ("tets/armadillo_1k.ele", "tets/bunny_27k.ele", "tets/bunny_68k.ele", "tets/crankshaft_66k.ele",
             "tets/linkrods_28k.ele", "tets-public/igl_hand.mesh", "tets-public/ipc_Armadillo13K.msh")),
          ("bunny_27k, refined", "tets/bunny_27k.ele", ["-refine", "1"])]
OF_MESHES = ["-clamp", "ymin", "-load", "ymax", "-select_fraction", "0.05", "-traction", "1e-3,0,0"]
SOLVES = {"aijcusparse": ["-mat_type", "aijcusparse", "-ksp_type", "cg"],
          "whole": ["-mat_type", "baijcompound", "-ksp_type", "cgcompound"],
          "half": ["-mat_type", "baijcompound", "-ksp_type", "cgcompound", "-mat_compound_plan", "half=symmetric"]}


def run_of(command):
    """What the command prints, and as a last line the most memory that it had."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [(of.seek(0), of.read())[1] for of in (out, err)]
    if process.returncode:
        sys.exit(f"measure_half.py: {' '.join(command)} ended with status {process.returncode}: {texts[1][-600:]}")
    return f"{texts[0]}peak host MB: {usage.ru_maxrss / 1024:.0f}\n"


def measured(program, source, candidates, rounds, **what):
    out = TOP / "build/figures/half.json"
    arguments = [*source, "-values", "symmetric", *candidates, "-rounds", str(rounds)]
    run_of([str(program), *arguments, "-json", str(out)])
    written = json.loads(out.read_text(encoding="utf-8"))
    case = written["cases"][0]
    of = {c["name"]: {"product_us": round(1e6 * c["median_s"], 2), "spread_per_cent": round(100 * c["spread"], 1),
                      "bytes": c.get("parent_bytes", 0) + c.get("packed_bytes", 0),
                      "packed_bytes": c.get("packed_bytes", 0),
                      "values_us": round(1e6 * c.get("new_values_s", 0), 1)}
          for c in case["candidates"]}
    device = written["device"]["name"] if "-device" in candidates else written["machine"]["processor"]
    return {"program": "compound-bench",
            "command_line": " ".join(["compound-bench", *(pathlib.Path(a).name for a in arguments)]),
            "date": written["date"][:10], "device": {"name": device}, "versions": written["versions"],
            "rounds": rounds, "block_rows": case["block_rows"], "blocks": case["blocks"], "candidates": of, **what}


def pattern_file(data, mesh, order):
    file = TOP / "build/figures" / f"{pathlib.Path(mesh).stem}-{order}.mtx"
    if not file.exists():
        sys.path.insert(0, str(TOP / "docs/reproduction"))
        from experiments.matrices import pattern_of_mesh, text_of
        text = text_of(str(data / mesh)) if data else None
        if text is None:
            print(f"left out: {mesh} is not in {data}")
            return None
        file.write_text(pattern_of_mesh(text, pathlib.Path(mesh).suffix, order), encoding="utf-8")
    return str(file)


def gmsh_file(data, mesh):
    file = TOP / "build/figures" / f"{pathlib.Path(mesh).stem}.msh"
    if not file.exists():
        source = data / mesh if data else None
        if source is None or not pathlib.Path(f"{source}.xz").exists():
            print(f"left out: {mesh} is not in {data}")
            return None
        import meshio
        with tempfile.TemporaryDirectory() as folder:
            for part in source.parent.glob(source.stem + ".*.xz"):
                (pathlib.Path(folder) / part.stem).write_bytes(lzma.open(part).read())
            read = meshio.read(pathlib.Path(folder) / source.name)
        tetrahedra = [("tetra", of.data) for of in read.cells if of.type == "tetra"]
        meshio.write(file, meshio.Mesh(read.points, tetrahedra), file_format="gmsh22", binary=False)
    return str(file)


def on_meshes(program, data, cases, candidates, rounds):
    for mesh, order, block_size in cases:
        if file := pattern_file(data, mesh, order):
            yield measured(program, ["-pattern", file, "-block_size", str(block_size)], candidates, rounds, mesh=mesh,
                           order=order, block_size=block_size)


def solves(build, data, rounds):
    """Elasticity by CG with Jacobi, the types in turns."""
    wanted = {"iteration_us": r"repeat microseconds an iteration: (\S+)", "iterations": r"iterations: (\d+)",
              "relative_residual": r"relative residual: (\S+)", "assembly_s": r"assembly seconds: (\S+)",
              "first_solve_s": r"solve seconds: (\S+)", "unknowns": r"unknowns: (\d+)",
              "peak_host_mb": r"peak host MB: (\d+)"}
    for name, mesh, options in SOLVED:
        file = gmsh_file(data, mesh) if mesh else None
        if mesh and not file:
            continue
        shared = [*(["-mesh", file, *OF_MESHES] if mesh else []), *options, "-vec_type", "cuda", "-pc_type", "jacobi",
                  "-ksp_rtol", "1e-8", "-ksp_max_it", "20000", "-repeat", "2"]
        texts = {of: [] for of in SOLVES}
        for _ in range(rounds):
            for of, more in SOLVES.items():
                texts[of].append(run_of([str(build / "examples/elasticity"), "-dll_append",
                                         str(build / "plugin/libpetsccompound.so"), *shared, *more]))
        values = {of: {key: [float(re.search(pattern, text)[1]) for text in all_of] for key, pattern in wanted.items()}
                  for of, all_of in texts.items()}
        yield {"program": "elasticity", "solved": name, "rounds": rounds,
               "command_line": " ".join(["elasticity", *(pathlib.Path(a).name if a == file else a for a in shared)]),
               "solves": {of: {**{key: statistics.median(v) for key, v in all_of.items()},
                               "spread_per_cent": round(100 * (max(all_of["iteration_us"]) /
                                                               min(all_of["iteration_us"]) - 1), 1)}
                          for of, all_of in values.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder with compound-bench")
    parser.add_argument("--data", type=pathlib.Path, help="the folder of meshes")
    parser.add_argument("--device", action="store_true", help="on a CUDA device")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--commit", help="of the build, where this is no repository")
    parser.add_argument("--out", type=pathlib.Path, default=RECORDS, help="the folder of the record")
    args = parser.parse_args()
    (TOP / "build/figures").mkdir(parents=True, exist_ok=True)
    program, rounds = args.build / "plugin/tools/compound-bench", args.rounds
    record = args.out / ("half-device.json.xz" if args.device else "half.json.xz")
    runs = read(record)

    def all_runs():
        if not args.device:
            yield from on_meshes(program, args.data, CASES, CANDIDATES, rounds)
            return
        for points, nodes, size, more in GRIDS:
            yield measured(program, ["-grid", points, "-n", str(nodes), "-block_size", str(size), *more], ON_DEVICE,
                           rounds, grid=points, nodes=nodes, shuffled=bool(more), block_size=size)
        yield from on_meshes(program, args.data, MESHES_ON_DEVICE, ON_DEVICE, rounds)
        for run in solves(args.build, args.data, 2):
            yield {**run, "date": runs[-1]["date"], "device": runs[-1]["device"], "versions": runs[-1]["versions"]}

    for run in all_runs():
        runs.append({**run, "commit": args.commit or commit()})
        print(run["command_line"] + ": " +
              ", ".join(f"{name} {c.get('product_us', c.get('iteration_us')):.0f} us"
                        for name, c in run.get("candidates", run.get("solves")).items()), flush=True)
        write(record, runs)


if __name__ == "__main__":
    main()
