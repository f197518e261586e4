"""Matrices of the papers, as compound-bench and compound-tune are told of them: exact, or by stand-ins.

Meshes and matrices of `--data` are optional: a row that names a file and lacks it is generated instead, which its
records then say.
"""

import collections
import lzma
import os
import shutil
import tempfile

# `file`: below the folder of --data, the first that is there; `order`: of the finite elements whose pattern it gives
# (0: the file is a matrix). `exact`: the file has the paper's pattern, or the generator. `about`: what stands in for
# what.
Matrix = collections.namedtuple("Matrix", "name entry block rows entries files order exact generated about",
                                defaults=[""])

BRACKET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/data/bracket.msh")

COMPOUND = [
    Matrix("mhd1280b", "complex", 2, 1280, 22778, ["matrices/mhd1280b.mtx"], 0, True, "-grid 15 -rows 1280",
           "15-point grid"),
    Matrix("RFdevice", "complex", 2, 74104, 365580, [], 0, False, "-grid 5 -n 272x273 -long_rows 4:52.2",
           "5-point grid, four rows as long as the paper's longest"),
    Matrix("fem_filter", "complex", 2, 74062, 1731206, ["tets-public/ipc_Armadillo13K.msh"], 2, False, "-grid 27 -n 42",
           "quadratic tetrahedra of ipc_Armadillo13K"),
    Matrix("mono_500Hz", "complex", 2, 169410, 5033796, ["tets/bunny_27k.ele"], 2, False, "-grid 27 -n 57",
           "quadratic tetrahedra of bunny_27k"),
    Matrix("bunny", "quaternion", 4, 34834, 243410, ["surface/bunny_34834.off"], 1, True, "-grid surface -rows 34834",
           "torus"),
    Matrix("armadillo", "quaternion", 4, 172974, 1210806, ["surface-refined/armadillo_refined_172974.off"], 1, False,
           "-grid surface -rows 172974", "armadillo_49990, refined"),
    Matrix("dragon", "quaternion", 4, 435545, 3049463, ["surface-refined/dragon_refined_435545.off"], 1, False,
           "-grid surface -rows 435545", "dragon_50000, refined"),
    Matrix("buddha", "quaternion", 4, 543524, 3805882, ["surface-refined/buddha_refined_543524.off"], 1, False,
           "-grid surface -rows 543524", "buddha_25697, refined"),
    Matrix("armadillo_1000.1", "dense", 3, 1016, 11180, ["tets/armadillo_1k.ele"], 1, False, "-grid 15 -n 10",
           "armadillo_1k"),
    Matrix("bunny2.4M", "dense", 3, 27112, 284846, ["tets/bunny_27k.ele"], 1, False, "-grid 15 -n 30", "bunny_27k"),
    Matrix("nut_37k", "dense", 3, 9095, 112685, ["tets-public/igl_hand.mesh"], 1, False, "-grid 15 -n 21", "igl_hand"),
    Matrix("dragon_100K", "dense", 3, 26436, 315006, ["tets/linkrods_28k.ele"], 1, False, "-grid 15 -n 30",
           "linkrods_28k"),
    Matrix("NX_MotorH67k", "dense", 3, 66840, 899478, ["tets/crankshaft_66k.ele"], 1, False, "-grid 15 -n 41",
           "crankshaft_66k"),
]


def grid(name, rows, entries, exact, generated, about=""):
    return Matrix(name, "dense", 1, rows, entries, [], 0, exact, generated, about)


PDE = [grid(f"pde{n}", n**3, 7 * n**3 - 6 * n**2, True, f"-grid 7 -n {n} -values convection")
       for n in (50, 60, 80, 90, 100)]


def kkt(n):
    entries = 2 * (3 * n - 2) ** 3 + 12 * (3 * n - 2) ** 2 + n**3 + 6 * n**2
    return grid(f"nlpkkt{n}", 2 * n**3 + 6 * n**2, entries, True, f"-grid kkt -n {n}",
                "by its counts: rows and entries are the paper's, the order of unknowns is not")


def elasticity(name, rows, entries, n):
    return grid(name, rows, entries, False, f"-grid elasticity -n {n}", "27-point elasticity")


FORMATS = PDE + [
    kkt(80),
    kkt(120),
    elasticity("raefsky2", 3242, 294276, 10),
    elasticity("cant", 62451, 4007383, 27),
    grid("FEM_3D_thermal2", 147900, 3489300, False, "-grid 27 -n 53", "27-point grid"),
    grid("thermal1", 82654, 574458, False, "-grid surface -n 287 -shuffle all", "torus, numbered at random"),
    grid("thermal2", 1228045, 8580313, False, "-grid surface -n 1108 -shuffle all", "torus, numbered at random"),
]

COORDINATES = [
    grid("ecology1", 1000000, 4996000, True, "-grid 5 -n 1000 -values stencil"),
    grid("atmosmodd", 1270432, 8814880, True, "-grid 7 -n 148x148x58 -values stencil"),
    grid("atmosmodl", 1489752, 10319760, True, "-grid 7 -n 198x198x38 -values stencil"),
    kkt(80),
    grid("thermal2", 1228045, 8580313, False, "-grid surface -n 1108 -shuffle all", "torus, numbered at random"),
    elasticity("bone010", 986703, 47851783, 60),
    elasticity("Flan_1565", 1564794, 114165372, 78),
    kkt(120),
    kkt(160),
]

def mesh(name, file, generated, order=1):
    return Matrix(name, "dense", 3, 0, 0, [file], order, True, generated, generated)


# Those of finite elements that blocks are tuned for (2010, figures 5 and 13): 3 unknowns a node, as single scalars.
FEM = [
    mesh("crankshaft_66k", "tets/crankshaft_66k.ele", "-grid 15 -n 41"),
    mesh("bunny_68k", "tets/bunny_68k.ele", "-grid 15 -n 41"),
    mesh("bunny_27k", "tets/bunny_27k.ele", "-grid 15 -n 30"),
    mesh("linkrods_28k", "tets/linkrods_28k.ele", "-grid 15 -n 30"),
    mesh("igl_hand", "tets-public/igl_hand.mesh", "-grid 15 -n 21"),
    Matrix("bcsstk16", "dense", 1, 4884, 290378, ["matrices/bcsstk16.trip"], 0, True, "-grid elasticity -n 12",
           "27-point elasticity"),
    mesh("bracket", BRACKET, "-grid 27 -n 20", 2),
    Matrix("elasticity_30", "dense", 3, 27000, 681472, [], 0, True, "-grid 27 -n 30", "27-point grid of 3x3 blocks"),
]

# Theirs is 2,000 x 2,000; as many words in blocks that are not square.
DENSE_BLOCKS = ["1x2", "2x2", "2x3", "3x2", "3x3", "3x4", "4x4", "5x5", "6x6", "7x7", "8x8"]
DENSE = "-grid dense -megabytes 32"
DENSE_OF_MODEL = "-grid dense -megabytes 8,32"

HELD_BACK_FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "held-back.txt")


def lines_of_held_back():
    with open(HELD_BACK_FILE, encoding="utf-8") as lines:
        return [line.split() for line in lines if line.strip() and not line.startswith("#")]


# What no plan was made with, of files alone: nothing stands in for them.
HELD_BACK = [Matrix(name, entry, int(block), 0, 0, [file], int(file.startswith("tets")), True, "")
             for name, file, block, entry, _ in lines_of_held_back()]

# Files whose natural blocks are looked for by a sample of their rows.
SAMPLED = ["bcsstk13", "msc01050", "cavity14", "fidap007"]


# Patterns of meshes, as Matrix Market files.


def text_of(file):
    """Of a file, or of FILE.xz; None where neither is there."""
    if os.path.exists(file):
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    if os.path.exists(file + ".xz"):
        with lzma.open(file + ".xz", "rt", encoding="utf-8", errors="replace") as opened:
            return opened.read()
    return None


def lines_between(text, first, last):
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip() == first:
            break
    for line in lines:
        if line.strip() == last:
            return
        yield line.split()


def elements_of_off(text):
    words = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")][1:]
    vertices, faces = int(words[0][0]), int(words[0][1])
    return vertices, [[int(v) for v in face[1 : 1 + int(face[0])]]
                      for face in words[1 + vertices : 1 + vertices + faces]]


def elements_of_ele(text):
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    count, corners = int(lines[0][0]), int(lines[0][1])
    tets = [[int(v) for v in line[1 : 1 + corners]] for line in lines[1 : 1 + count]]
    least = min(min(t) for t in tets)
    tets = [[v - least for v in t] for t in tets]
    return 1 + max(max(t) for t in tets), tets


def elements_of_msh(text):
    """Tetrahedra of Gmsh 2.2, or of 4.1 with one volume."""
    lines = list(lines_between(text, "$Elements", "$EndElements"))
    of_2 = [words[-4:] for words in lines if len(words) > 5 and words[1] == "4"]
    tets = [[int(v) - 1 for v in nodes] for nodes in of_2 or (words[1:] for words in lines if len(words) == 5)]
    return 1 + max(max(t) for t in tets), tets


def elements_of_mesh(text):
    """Medit."""
    tets = [[int(v) - 1 for v in words[:4]] for words in lines_between(text, "Tetrahedra", "Edges") if len(words) == 5]
    return 1 + max(max(t) for t in tets), tets


def elements_of_veg(text):
    """Vega."""
    tets = [[int(v) - 1 for v in words[1:]] for words in lines_between(text, "*ELEMENTS", "*MATERIAL defaultMaterial")
            if len(words) == 5]
    return 1 + max(max(t) for t in tets), tets


ELEMENTS = {".off": elements_of_off, ".ele": elements_of_ele, ".msh": elements_of_msh, ".mesh": elements_of_mesh,
            ".veg": elements_of_veg}


def pattern_of_binary(file):
    """Of FILE.mat:VARIABLE, by SciPy, or of the tetrahedra of FILE.vtu, by meshio; None where the file is not there."""
    file, _, variable = file.partition(":")
    if os.path.exists(file):
        opened = open(file, "rb")
    elif os.path.exists(file + ".xz"):
        opened = lzma.open(file + ".xz")
    else:
        return None
    with opened, tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(file))
        with open(copy, "wb") as out:
            shutil.copyfileobj(opened, out)
        if variable:
            import scipy.io

            matrix = scipy.io.loadmat(copy)[variable].tocoo()
            entries = sorted(zip(matrix.row.tolist(), matrix.col.tolist()))
            lines = [f"{i + 1} {j + 1}" for i, j in entries]
            return (f"%%MatrixMarket matrix coordinate pattern general\n{matrix.shape[0]} {matrix.shape[1]} "
                    f"{len(lines)}\n" + "\n".join(lines) + "\n")
        import meshio

        tets = [t for of in meshio.read(copy).cells if of.type == "tetra" for t in of.data.tolist()]
        return pattern_of_elements(1 + max(max(t) for t in tets), tets, 1)


def quadratic(nodes, elements):
    """With a node on each edge, numbered after the corners."""
    edges = {}
    found = []
    for e in elements:
        pairs = [(min(a, b), max(a, b)) for i, a in enumerate(e) for b in e[i + 1 :]]
        found.append(e + [nodes + edges.setdefault(pair, len(edges)) for pair in pairs])
    return nodes + len(edges), found


def used_alone(nodes, elements):
    """Nodes of no element are left out."""
    used = sorted({v for e in elements for v in e})
    if len(used) == nodes:
        return nodes, elements
    place = {v: i for i, v in enumerate(used)}
    return len(used), [[place[v] for v in e] for e in elements]


def pattern_of_mesh(text, kind, order):
    return pattern_of_elements(*ELEMENTS[kind](text), order)


def pattern_of_elements(nodes, elements, order):
    """A symmetric pattern in Matrix Market's form: an entry for each two nodes of an element, and the diagonal."""
    nodes, elements = used_alone(nodes, elements)
    if order == 2:
        nodes, elements = quadratic(nodes, elements)
    lower = {(v, v) for v in range(nodes)}
    for e in elements:
        lower.update((max(a, b), min(a, b)) for i, a in enumerate(e) for b in e[i + 1 :])
    lines = [f"{i + 1} {j + 1}" for i, j in sorted(lower)]
    return (
        f"%%MatrixMarket matrix coordinate pattern symmetric\n{nodes} {nodes} {len(lines)}\n" + "\n".join(lines) + "\n"
    )


def pattern_of_triplets(text):
    """Of the lower triangle, from 0: SuiteSparse's files of triplets."""
    lines = [line.split()[:2] for line in text.splitlines() if line.strip()]
    rows = 1 + max(int(i) for i, _ in lines)
    return (f"%%MatrixMarket matrix coordinate pattern symmetric\n{rows} {rows} {len(lines)}\n"
            + "".join(f"{int(i) + 1} {int(j) + 1}\n" for i, j in lines))


BINARY = (".mat", ".vtu")


def source_of(matrix, data):
    """The first of its files that is there, and that file's text; None where there is none."""
    for file in matrix.files:
        text = text_of(os.path.join(data, file)) if data else None
        if text is not None:
            return file, text
    return None


def pattern_file(matrix, folder):
    return os.path.join(folder, matrix.name + ".mtx")


def write_pattern(matrix, data, folder):
    """Whether its pattern is a file there, afterwards. What is there stays: FILE.mtx, or FILE.mtx.xz."""
    target = pattern_file(matrix, folder)
    if not os.path.exists(target):
        text = text_of(target)
        if text is None and data and matrix.files and os.path.splitext(matrix.files[0])[1].startswith(BINARY):
            text = pattern_of_binary(os.path.join(data, matrix.files[0]))
        elif text is None and (source := source_of(matrix, data)):
            file, text = source
            if file.endswith(".trip"):
                text = pattern_of_triplets(text)
            elif matrix.order:
                text = pattern_of_mesh(text, os.path.splitext(file)[1], matrix.order)
        if text is None:
            return False
        with open(target + ".new", "w") as out:
            out.write(text)
        os.replace(target + ".new", target)
    return True


def options_of(matrix, folder):
    """For either program; what write_pattern() has put there counts."""
    blocks = ["-block_size", str(matrix.block)] + (["-entry", matrix.entry] if matrix.entry != "dense" else [])
    if os.path.exists(pattern_file(matrix, folder)):
        return ["-pattern", pattern_file(matrix, folder)] + blocks
    return matrix.generated.split() + blocks
