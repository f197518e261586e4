"""Surfaces and images for the tests of spin_transformation, right and wrong ones."""

import math
import re
import struct

PLY = ("ply \nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
       "element face 1\n"
       "property list float float vertex_indices\nend_header \n0 0 0\n1 0 0\n0 1 0\n")
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def torus(around, across):
    """Vertices, quadrilaterals (counterclockwise from outside) and texture coordinates of a torus with bumps."""
    vertices, uv = [], []
    for i in range(around):
        for j in range(across):
            a, b = 2 * math.pi * i / around, 2 * math.pi * j / across
            r = 0.45 + 0.06 * math.sin(3 * a + b) + 0.03 * math.cos(a - 2 * b)
            vertices.append(((1 + r * math.cos(b)) * math.cos(a), (1 + r * math.cos(b)) * math.sin(a), r * math.sin(b)))
            uv.append((0.5 + 0.45 * math.cos(a), 0.5 + 0.6 * math.sin(b)))  # some lie beyond the image
    quads = [(i * across + j, (i + 1) % around * across + j, (i + 1) % around * across + (j + 1) % across,
              i * across + (j + 1) % across) for i in range(around) for j in range(across)]
    return vertices, quads, uv


def write_meshes(folder, vertices, quads, uv):
    """The same surface in every format; returns {file: has texture coordinates}."""
    number = " ".join(["%.17g"] * 3) + "\n"
    files = {f"{folder}/torus{name}": has_uv for name, has_uv in
             ((".obj", True), ("_back.OBJ", False), (".off", False), ("_text.ply", True), ("_little.ply", True),
              ("_big.ply", False))}
    with open(f"{folder}/torus.obj", "w") as file:
        file.write("# made by a test\no torus\nv 7 7 7\n" + "".join("v " + number % v for v in vertices) + "vn 0 0 1\n")
        file.write("".join("vt {:.17g} {:.17g}\n".format(*t) for t in uv))
        file.write("".join("f " + " ".join(f"{v + 2}/{v + 1}/1" for v in q) + "\n" for q in quads))
    with open(f"{folder}/torus_back.OBJ", "w", newline="\r\n") as file:
        file.write("".join("v " + number % v for v in vertices))
        file.write("".join("f " + " ".join(f"{v - len(vertices)}//" for v in q) + "\n" for q in quads))
    with open(f"{folder}/torus.off", "w") as file:
        file.write(f"OFF # made by a test\n\n{len(vertices)} {len(quads)} 0\n" + "".join(number % v for v in vertices))
        file.write("".join("4 " + " ".join(map(str, q)) + " 255 0 0\n" for q in quads))
    header = ("ply\nformat {} 1.0\ncomment made by a test\nelement vertex {}\nproperty uchar red\nproperty double x\n"
              "property float64 y\nproperty double z\n{}element face {}\nproperty uchar flags\n"
              "property list uint8 int vertex_indices\nend_header\n")
    texture = "property double s\nproperty double t\n"
    with open(f"{folder}/torus_text.ply", "w") as file:
        file.write(header.format("ascii", len(vertices), texture, len(quads)))
        file.write("".join(f"255 {number % v}".strip() + " {:.17g} {:.17g}\n".format(*t) for v, t in zip(vertices, uv)))
        file.write("".join("0 4 " + " ".join(map(str, q)) + "\n" for q in quads))
    for name, order, with_uv in (("little", "<", True), ("big", ">", False)):
        with open(f"{folder}/torus_{name}.ply", "wb") as file:
            file.write(header.format(f"binary_{name}_endian", len(vertices), texture if with_uv else "",
                                     len(quads)).encode())
            for v, t in zip(vertices, uv):
                file.write(struct.pack(order + ("B5d" if with_uv else "B3d"), 200, *v, *(t if with_uv else ())))
            for q in quads:
                file.write(struct.pack(order + "BB4i", 1, 4, *q))
    return files


def write_images(folder):
    """One grey image in every format; returns its rows from the bottom and the files."""
    width, height = 9, 6
    rows = [[(37 * x + 101 * y + 13 * x * y) % 256 for x in range(width)] for y in range(height)]
    up, down = bytes(sum(rows, [])), bytes(sum(rows[::-1], []))
    head = struct.pack("<BBBHHBHHHHB", 0, 0, 3, 0, 0, 0, 0, 0, width, height, 8)
    files = {"up.tga": head + b"\0" + up, "down.tga": b"\3" + head[1:] + b"\x20abc" + down,
             "left.tga": head + b"\x10" + bytes(sum((row[::-1] for row in rows), [])),
             "grey.pgm": b"P5 # made by a test\n9 6\n#\n255\n" + down,
             "deep.pgm": b"P5\n9 6\n65535\n" + b"".join(struct.pack(">H", 257 * x) for x in down)}
    for name, content in files.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)
    return rows, [f"{folder}/{name}" for name in files]


def bad_input(folder):
    """{options: part of the error}, and the files that the options name."""
    files = {
        "empty.obj": ("", "no face"), "points.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no face"),
        **{f"junk{i}.obj": (TETRAHEDRON + f"f 1{junk} 2 3\n", f"vertex: found \"1{junk} 2 3\", an integer")
           for i, junk in enumerate((",9,9", ".5", "xyz"))},
        "marked.obj": ("\ufeffv 0 0\n", "line 1: found 2 of the 3 numbers"),
        "short.obj": ("v 0 0\n", "found 2 of the 3 numbers"),
        "word.obj": (TETRAHEDRON + "f 1 two 3\n", "an integer is wanted"),
        "two.obj": (TETRAHEDRON + "f 1 2\n", "a face of 2 corners"),
        "high.obj": (TETRAHEDRON + "f 1 2 9\n", "has vertex 8"),
        "zero.obj": (TETRAHEDRON + "f 0 1 2\n", "vertex 0; numbers are 1, 2"),
        "back.obj": (TETRAHEDRON + "f -9 1 2\n", "vertex -9"),
        "same.obj": (TETRAHEDRON + "f 1 1 2\n", "they must differ"),
        "nan.obj": (TETRAHEDRON.replace("1 0 0", "1 nan 0"), "finite"),
        "texture.obj": (TETRAHEDRON + "f 1/1 2/1 3/1\n", "texture coordinate 1; the file has 0"),
        "three.obj": (TETRAHEDRON + "v 1 1 1\nf 1 2 5\n", "3 triangles meet at the edge from"),
        "turned.obj": (TETRAHEDRON.replace("f 1 3 2", "f 1 2 3"), "oriented inconsistently"),
        "flat.obj": ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "has no area"),
        "parts.obj": (TETRAHEDRON + re.sub(r"v 0", "v 5", TETRAHEDRON).replace(
            "f 1 3 2", "f -4 -2 -3").split("f 1 2 4")[0] +
                      "f -4 -3 -1\nf -3 -2 -1\nf -4 -1 -2\n", "2 separate parts"),
        "early.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n", "the file ends after 2 of 3 vertices"),
        "many.off": ("OFF\n99999999999 1 0\n", "an integer is wanted"), "binary.off": ("OFF BINARY\n", "reads text"),
        "notply.ply": ("plyy\n", "begins with the line"), "noformat.ply": ("ply\nend_header\n", "without format"),
        "badtype.ply": ("ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\nend_header\n",
                        "unknown type \"quad\""),
        "noz.ply": ("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n",
                    "lacks one of"),
        "early.ply": ("ply\nformat binary_little_endian 1.0\nelement vertex 999999999\nproperty float x\n"
                      "property float y\n"
                      "property float z\nend_header\n0000", "the file ends early"),
        "nothing.ply": ("ply\nformat ascii 1.0\nelement vertex 999999999\nend_header\n", "lacks one of"),
        "over.ply": (f"ply\nformat ascii 1.0\nelement vertex {2**32 + 6}\n",
                     "number of an element: found \" 4294967302\""),
        "half.ply": (PLY + "3 0.7 1 2\n", "vertex 0.7 of a face"),
        "length.ply": (PLY + "3.5 0 1 2 0\n", "a list of 3.5"),
        "mesh.stl": ("solid\n", "must end in .obj, .off or .ply"),
    }
    errors = {f"-mesh {folder}/{name}": message for name, (_, message) in files.items()}
    images = {"short.tga": (b"\0\0\3", "shorter than a TGA header"),
              "colour.tga": (b"\0\0\2" + bytes(13) + b"\x18\0", "type 2 with 24"),
              "cut.pgm": (b"P5 4 4 255\nabc", "ends after 3 of 4 x 4"),
              "large.tga": (b"\0\0\3" + bytes(9) + b"\x30\x75\x30\x75\x08\0ab", "ends after 2 of 30000 x 30000"),
              "white.pgm": (b"P5 2 2 100\nad\0e", "pixel 1 of row 1 is 101, but white is 100"),
              "huge.pgm": (b"P5 999999 999999 255\n", "2^30 in all"),
              "text.pgm": (b"P2 1 1 255 0\n", "found \"P2\""), "image.png": (b"", "must end in .tga or .pgm")}
    errors |= {f"-sphere 1 -image {folder}/{name}": message for name, (_, message) in images.items()}
    for name, content in [(n, c.encode()) for n, (c, _) in files.items()] + [(n, c) for n, (c, _) in images.items()]:
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)
    with open(f"{folder}/good.obj", "w") as file:
        file.write(TETRAHEDRON)
    return errors | {
        "": "Found neither of -mesh and -sphere", "-sphere 2 -mesh x.obj": "Found both of -mesh and -sphere",
        "-mesh /nowhere/x.obj": "cannot read the file /nowhere/x.obj", f"-mesh {folder}": "must end in",
        "-sphere 11": "0 to 10 times", "-sphere -1": "out of range",
        "-sphere 1 -rho moon": "choose constant, height, stripes",
        "-sphere 1 -image /nowhere/x.tga": "cannot read the file /nowhere/x.tga",
        "-sphere 1 -image x.tga -rho waves": "Found both of -image and -rho",
        "-sphere 1 -scale 1e200": "did not converge",
        f"-mesh {folder}/good.obj -image {folder}/grey.pgm": "needs texture coordinates",
        "-sphere 1 -obj /nowhere/out.obj": "cannot write the file", "-sphere 3 -ksp_max_it 3": "did not converge",
        "-sphere 1 -obj": "-obj: found no value", "-sphere 1 -renumber": "-renumber: found no value",
    }
