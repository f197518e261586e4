#!/usr/bin/env python3
"""The spin_transformation example against quaternion arithmetic of its own, on every type, and one clear error for bad
input.

A bumpy torus with texture coordinates and an image, both made here. The assembled operator and the surface that comes
out are computed once more in plain Python. With --device: the same on a CUDA device. With --data: the surfaces that the
paper's authors published with their program.
"""

import array
import lzma
import math
import os
import struct
import sys
import tempfile

import spin_input
import spin_reference
import support

TYPES = ["aij", "baij", "sbaij", "baij -renumber rcm -repeat 1", "baijcompound", "baijcompound -ksp_type cgcompound",
         "baijcompound -mat_compound_entry quaternion",
         "baijcompound -mat_compound_entry quaternion -poisson_mat_compound_entry quaternion -mat_compound_layout sell"]
DEVICE_TYPES = ["aijcusparse", "baijcompound", "baijcompound -ksp_type cg",
                "baijcompound -mat_compound_entry quaternion",
                "baijcompound -mat_compound_entry quaternion -poisson_mat_compound_entry quaternion "
                "-mat_compound_layout sell"]
EXACT = "-ksp_rtol 1e-12 -poisson_ksp_rtol 1e-12"
# CG iterations of the three steps (data/README.md), and whether the input is scaled to radius 1 first. Rounding alone
# moves the counts of these nearly singular systems by 2 %: another order of additions does.
REFERENCES = [
    ("bumpy", "Keenan_sphere", "bumpy", (316, 287, 280), ""),
    ("spacemonkey", "capsule", "spacemonkey", (544, 527, 524), "-unit_radius"),
]


def transform(checks, options, obj, ranks=None):
    """What the program prints, as a dictionary, the iterations of all its solves, and the vertices it writes."""
    printed = checks.solve(f"{options} -obj {obj}", ranks)
    steps = [int(n) for n in printed.get("iterations of each step", "").split()]
    return printed, [*steps, int(printed["poisson iterations"])], read_vertices(obj)


def read_vertices(obj):
    with open(obj) as file:
        return [tuple(float(x) for x in line.split()[1:4]) for line in file if line.startswith("v ")]


def distance(points, others):
    return max(math.dist(p, q) for p, q in zip(points, others, strict=True))


def read_petsc_matrix(path, block_size, is_complex):
    """A matrix that -mat_view binary:FILE wrote, as {(block row, block column): quaternion}; the blocks are checked."""
    with open(path, "rb") as file:
        content = file.read()
    code = "i" if struct.unpack(">i", content[:4])[0] else "q"  # width of an index
    integers = array.array(code)
    width = integers.itemsize
    _, rows, _, count = struct.unpack(">4" + code, content[:4 * width])
    integers.frombytes(content[4 * width:(4 + rows + count) * width])
    values = array.array("d")
    values.frombytes(content[(4 + rows + count) * width:][:count * (16 if is_complex else 8)])
    if sys.byteorder == "little":
        integers.byteswap()
        values.byteswap()
    blocks, place = {}, 0
    for row in range(rows):
        for _ in range(integers[row]):
            column = integers[rows + place]
            value = complex(values[2 * place], values[2 * place + 1]) if is_complex else values[place]
            block = blocks.setdefault((row // block_size, column // block_size), {})
            block[row % block_size, column % block_size] = value
            place += 1
    return {key: quaternion_of(block, is_complex) for key, block in blocks.items()}


def quaternion_of(block, is_complex):
    if is_complex:
        a, c = block[0, 0], block[0, 1]
        wanted = {(0, 0): a, (0, 1): c, (1, 0): -c.conjugate(), (1, 1): a.conjugate()}
        q = a.real, a.imag, c.real, c.imag
    else:
        q = a, b, c, d = tuple(block[i, 0] for i in range(4))
        rows = ((a, -b, -c, -d), (b, a, -d, c), (c, d, a, -b), (d, -c, b, a))
        wanted = {(i, j): rows[i][j] for i in range(4) for j in range(4)}
    assert block == wanted, f"not the block of a quaternion: {block}"
    return q


def check_operator(checks, folder, options, wanted):
    """The assembled matrix: exactly quaternions, exactly Hermitian, and equal to one computed otherwise. Is it
    complex?"""
    printed = checks.solve(f"{options} -mat_type baij -mat_view binary:{folder}/matrix")
    block_size = int(printed["block size"])
    matrix = read_petsc_matrix(f"{folder}/matrix", block_size, block_size == 2)
    checks.true(matrix.keys() == wanted.keys(), f"{options}: {len(matrix)} blocks, expected {len(wanted)}")
    size = max(abs(x) for q in wanted.values() for x in q)
    error = max(abs(x - y) for key in matrix.keys() & wanted.keys() for x, y in zip(matrix[key], wanted[key])) / size
    skew = sum(matrix[j, i] != spin_reference.conjugate(matrix[i, j]) for i, j in matrix)
    print(f"operator: {len(matrix)} blocks, relative error {error:.1e}")
    checks.true(error <= 1e-13 and not skew, f"{options}: relative error {error}, {skew} blocks that are not Hermitian")
    return block_size == 2


def check_invariants(checks, folder):
    _, _, before = transform(checks, "-sphere 3 -steps 0 -poisson_ksp_rtol 1e-12", f"{folder}/before.obj")
    _, steps, after = transform(checks, "-sphere 3 -scale 0 -poisson_ksp_rtol 1e-12", f"{folder}/after.obj")
    checks.true(steps[:3] == [0, 0, 0] and distance(before, after) <= 1e-9,
                f"no change of curvature: steps {steps}, moved by {distance(before, after)}")
    # a sphere of larger curvature everywhere is a sphere
    _, _, after = transform(checks, "-sphere 3 -rho constant -scale 1", f"{folder}/after.obj")
    checks.true(max(abs(math.hypot(*p) - 1) for p in after) <= 5e-3 and distance(before, after) > 0,
                f"constant change on a sphere: radii {min(math.hypot(*p) for p in after)} to 1")
    # 1 is an eigenvector here, but not that of the smallest eigenvalue; the same on every number of processes
    exact = f"-sphere 0 -rho constant {EXACT}"
    alone, parts = (transform(checks, exact, f"{folder}/after.obj", ranks) for ranks in (1, None))
    checks.true(0 not in parts[1] and float(parts[0]["eigenvalue"]) <= 1 and distance(alone[2], parts[2]) <= 1e-6,
                f"constant change on an icosahedron: {parts[0]}, moved by {distance(alone[2], parts[2])} from one "
                "process")
    # a bumpy sphere, nearly conformal: finer is closer
    mean = [float(transform(checks, f"-sphere {n} -scale 1.5", f"{folder}/after.obj")[0]["mean distortion"])
            for n in (3, 4)]
    checks.true(1 < mean[1] < 1 + (mean[0] - 1) / 1.7,
                f"distortion of two spheres: {mean}; expected the finer nearer to 1")


def check_answers(checks, folder, options, types, wanted, counts):
    """Every type gives the wanted surface in the wanted number of iterations."""
    for mat_type in types:
        what = f"{options} -mat_type {mat_type}"
        _, found, _ = transform(checks, what, f"{folder}/out.obj")
        _, _, points = transform(checks, f"{what} {EXACT}", f"{folder}/out.obj")
        print(f"{mat_type}: {found} iterations, expected {counts}; off by {distance(points, wanted):.1e}")
        checks.true(distance(points, wanted) <= 1e-6, f"{what}: off by {distance(points, wanted)}")
        for n, m in zip(found, counts, strict=True):
            checks.iterations(n, m, what)


def check_files(checks, folder, files, images, options, wanted):
    """Every format of mesh and image gives the same surface."""
    for mesh, has_uv in files.items():
        for image in (images if mesh.endswith("torus.obj") else images[:1]) if has_uv else ():
            _, _, points = transform(checks, f"-mesh {mesh} -image {image} {options} {EXACT}", f"{folder}/out.obj", 1)
            checks.true(distance(points, wanted) <= 1e-6, f"{mesh} with {image}: off by {distance(points, wanted)}")
    expected = None
    for mesh in files:
        _, _, points = transform(checks, f"-mesh {mesh} -rho stripes {EXACT}", f"{folder}/out.obj")
        expected = expected or points
        checks.true(distance(points, expected) <= 1e-9, f"{mesh}: off from torus.obj by {distance(points, expected)}")


def check_made(checks, folder):
    vertices, quads, uv = spin_input.torus(17, 8)
    faces = [f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]
    files = spin_input.write_meshes(folder, vertices, quads, uv)
    rows, images = spin_input.write_images(folder)
    matrix = spin_reference.dirac_matrix(vertices, faces, spin_reference.change_of_image(rows, 1.5, faces, uv))
    wanted, _ = spin_reference.spin_transformation(vertices, faces, matrix, 1e-12)
    _, counts = spin_reference.spin_transformation(vertices, faces, matrix, 1e-7)
    options = f"-mesh {folder}/torus.obj -image {folder}/up.tga -scale 1.5"
    if checks.args.device:
        return check_answers(checks, folder, options, DEVICE_TYPES, wanted, counts)
    is_complex = check_operator(checks, folder, options, matrix)
    types = [t for t in TYPES if not (is_complex and t == "sbaij")]  # PETSc has no Hermitian sbaij of blocks
    check_answers(checks, folder, options, types, wanted, counts)
    if checks.args.ranks < 3:
        check_files(checks, folder, files, images, "-scale 1.5", wanted)
    check_invariants(checks, folder)
    for i, (options, message) in enumerate(spin_input.bad_input(folder).items()):
        # files are rank 0's affair: a few are enough to see the others end too
        if checks.args.ranks == 1 or i % 6 == 0:
            checks.error(options, message)


def unpack(data, name, folder):
    try:
        with lzma.open(f"{data}/spinxform/{name}.xz") as file, open(f"{folder}/{name}", "wb") as out:
            out.write(file.read())
    except OSError as error:
        print(f"skipped: {error}; set COMPOUND_DATA to the data folder")
        sys.exit(0)


def check_reference(checks, folder):
    data = os.environ.get("COMPOUND_DATA", checks.args.data)
    for name, mesh, image, counts, scaling in REFERENCES:
        for file in (f"{name}_{mesh}.obj", f"{name}_{image}.tga", f"{name}_reference_solution.obj"):
            unpack(data, file, folder)
        wanted = read_vertices(f"{folder}/{name}_reference_solution.obj")
        radius = spin_reference.extent(wanted)[1]
        options = f"-mesh {folder}/{name}_{mesh}.obj -image {folder}/{name}_{image}.tga -scale 5"
        for mat_type in ("baij", "baijcompound", "baijcompound -mat_compound_entry quaternion"):
            # The authors' program takes the mesh as it is; the counts are of one of radius 1.
            _, found, _ = transform(checks, f"{options} -mat_type {mat_type} {scaling}", f"{folder}/out.obj")
            _, _, points = transform(checks, f"{options} -mat_type {mat_type}", f"{folder}/out.obj")
            error = distance(spin_reference.nearest_similarity(points, wanted), wanted) / radius
            what = f"{name} {mat_type}: {found[:3]} iterations, expected {list(counts)}; surface off by {error:.1e}"
            print(what)
            checks.true(error <= 1e-4 and all(abs(n - m) <= 0.025 * m for n, m in zip(found, counts)), what)


def main():
    checks = support.Checks(support.parse_arguments(__doc__))
    if checks.args.device:
        support.skip_without_device(checks.args.program, "-sphere 0 -steps 0")
    with tempfile.TemporaryDirectory() as folder:
        (check_reference if checks.args.data else check_made)(checks, folder)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
