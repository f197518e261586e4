#!/usr/bin/env python3
"""The Wilson-Dirac example gives one answer on aij, baij and compound types, on any number of ranks.

- Against the operator built anew here, element by element, on gauge files written here.
- Against real gauge fields, if ../shared/data or the folder COMPOUND_DATA has them: the plaquette of the file's header.
- Iteration counts within max(2, 1 %) of aij on one process, solutions to 8 digits at rtol 1e-12.
- One clear error for wrong files and options.
- With --device: every matrix type once more on the CUDA device, and nothing else.
"""

import itertools
import lzma
import math
import os
import random
import struct
import sys
import tempfile

import support

TYPES = ["aij", "baij -adjoint gamma5", "baijcompound", "baijcompound -mat_compound_entry dense",
         "baijcompound -mat_compound_layout sell:7:21", "baijcompound -adjoint gamma5",
         "baijcompound -mat_compound_backend petsc -adjoint gamma5"]
DEVICE_TYPES = ["aijcusparse -adjoint gamma5", "baijcompound", "baijcompound -adjoint gamma5",
                "baijcompound -mat_compound_layout sell:7:21",
                "baijcompound -ksp_type bcgs -normal_ksp_type cg"]
PROBLEMS = ["-lattice 4,3,2,4 -disorder 0.4", "-lattice 2,2,3,2 -mass 0.3 -disorder 1000 -source point -seed 7",
            "-lattice 3,2,2,2 -disorder 0"]
LATTICES = [(2, 2, 2, 2), (4, 3, 2, 1), (3, 4, 3, 3)]
MASS = 0.25
ERRORS = {
    "-lattice 4,4,4": "give four positive integers",
    "-lattice 4,4,0,4": "give four positive integers",
    "-lattice 4,4,4,4,4": "give four positive integers",
    "-lattice 999,999,999,999": "more than the",
    "-disorder -1": "give a number from 0",
    "-disorder nan": "give a number from 0",
    "-mass inf": "-mass is inf",
    "-source line": "give random or point",
    "-adjoint other": "give matrix or gamma5",
    "-source": "-source: found \"\"; give random or point",
    "-adjoint": "-adjoint: found \"\"; give matrix or gamma5",
    "-mass": "-mass: found no value",
    "-gauge /nowhere/field": "cannot read the file /nowhere/field",
    "-gauge field -lattice 2,2,2,2": "Found -gauge and -lattice",
    "-gauge field -disorder 1": "Found -gauge and -disorder",
    "-lattice 2,2,2,2 -ksp_max_it 3": "The solve BiCGSTAB did not converge",
    "-lattice 2,2,2,2 -normal_ksp_max_it 3": "The solve normal CG did not converge",
    "-lattice 2,2,2,2 -mat_type seqbaij": "give -adjoint gamma5",  # on one process
    "-lattice 2,2,2,2 -mat_type baijcompound -mat_compound_entry octonion": "choose auto, dense",
}


# ------------------------------------------- the operator, built again -------------------------------------------

def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def adjoint(a):
    return [[x.conjugate() for x in column] for column in zip(*a)]


def kron(a, b):
    return [[x * y for x in row for y in other] for row in a for other in b]


PAULI = {"x": [[0, 1], [1, 0]], "y": [[0, -1j], [1j, 0]], "z": [[1, 0], [0, -1]], "1": [[1, 0], [0, 1]]}
GAMMA = [kron(PAULI["x"], PAULI["1"])] + [kron(PAULI["y"], PAULI[axis]) for axis in "zyx"]  # T, Z, Y, X


def random_link(generator):
    """The exponential of a traceless anti-Hermitian matrix is in SU(3)."""
    a = [[complex(generator.gauss(0, 1), generator.gauss(0, 1)) for _ in range(3)] for _ in range(3)]
    a = [[(x - y) / 64 for x, y in zip(row, other)] for row, other in zip(a, adjoint(a))]
    trace = sum(a[i][i] for i in range(3)) / 3
    a = [[a[i][j] - trace * (i == j) for j in range(3)] for i in range(3)]
    total, term = [[complex(i == j) for j in range(3)] for i in range(3)], None
    for n in range(1, 20):
        term = [[x / n for x in row] for row in (product(term, a) if term else a)]
        total = [[x + y for x, y in zip(row, other)] for row, other in zip(total, term)]
    for _ in range(5):  # far from 1
        total = product(total, total)
    return total


class Field:
    def __init__(self, dim, links):
        self.dim, self.sites = dim, list(itertools.product(*map(range, dim)))
        self.link = {(site, mu): links[4 * i + mu] for i, site in enumerate(self.sites) for mu in range(4)}

    @classmethod
    def random(cls, dim, seed):
        generator = random.Random(seed)
        return cls(dim, [random_link(generator) for _ in range(4 * math.prod(dim))])

    @classmethod
    def parse(cls, data):
        value = iter(struct.unpack(f"<{(len(data) - 24) // 8}d", data[24:]))
        numbers = [complex(re, im) for re, im in zip(value, value)]
        return cls(struct.unpack("<4i", data[:16]), [[numbers[9 * n + 3 * i:9 * n + 3 * i + 3] for i in range(3)]
                                                     for n in range(len(numbers) // 9)])

    def next(self, site, mu, step=1):
        return tuple((a + step * (d == mu)) % n for d, (a, n) in enumerate(zip(site, self.dim)))

    def plaquette(self):
        total = 0
        for site in self.sites:
            for mu, nu in itertools.combinations(range(4), 2):
                there = product(self.link[site, mu], self.link[self.next(site, mu), nu])
                back = product(self.link[site, nu], self.link[self.next(site, nu), mu])
                total += sum(product(there, adjoint(back))[i][i] for i in range(3)).real
        return total / (6 * len(self.sites))

    def bytes(self, plaquette=None):
        data = struct.pack("<4id", *self.dim, self.plaquette() if plaquette is None else plaquette)
        return data + b"".join(struct.pack("<18d", *(part for row in self.link[site, mu] for z in row
                                                     for part in (z.real, z.imag)))
                               for site in self.sites for mu in range(4))

    def operator(self, mass):
        """D as a dictionary from (row, column) to its nonzeros, by the formula at the top of the example."""
        number = {site: 12 * i for i, site in enumerate(self.sites)}
        one, D = kron(PAULI["1"], PAULI["1"]), {}

        def add(row, column, spin, colour):
            for (s, t), (a, b) in itertools.product(itertools.product(range(4), repeat=2),
                                                    itertools.product(range(3), repeat=2)):
                key = number[row] + 3 * s + a, number[column] + 3 * t + b
                D[key] = D.get(key, 0) + spin[s][t] * colour[a][b]

        for site in self.sites:
            add(site, site, [[(4 + mass) * x for x in row] for row in one], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
            for mu, gamma in enumerate(GAMMA):
                ahead, behind = self.next(site, mu), self.next(site, mu, -1)
                minus, plus = ([[-0.5 * (x + sign * y) for x, y in zip(*rows)] for rows in zip(one, gamma)]
                               for sign in (-1, 1))
                add(site, ahead, minus, self.link[site, mu])
                add(site, behind, plus, adjoint(self.link[behind, mu]))
        return D


def read_matrix(path):
    """A complex matrix in PETSc's binary format, 32-bit or 64-bit indices: (row, column) to value."""
    with open(path, "rb") as file:
        data = file.read()
    wide = struct.unpack(">q", data[:8])[0] == 1211216
    size, code = (8, "q") if wide else (4, "i")
    _, rows, _, nonzeros = struct.unpack(f">4{code}", data[:4 * size])
    count = struct.unpack_from(f">{rows}{code}", data, 4 * size)
    column = struct.unpack_from(f">{nonzeros}{code}", data, (4 + rows) * size)
    value = iter(struct.unpack_from(f">{2 * nonzeros}d", data, (4 + rows + nonzeros) * size))
    row = (r for r, n in enumerate(count) for _ in range(n))
    return {(r, c): complex(re, im) for r, c, re, im in zip(row, column, value, value)}


# -------------------------------------------------- the checks --------------------------------------------------

def values_of(printed):
    names = ["plaquette", "time slices", "solution norm"]
    return [number for name in names for number in support.numbers(printed[name])]


def check_plaquette(checks, printed, wanted, what):
    checks.true(abs(float(printed["plaquette"]) - wanted) < 1e-13,
                f"{what}: plaquette {printed['plaquette']}, expected {wanted}")


def check_types(checks, types):
    for problem in PROBLEMS:
        wanted = checks.solve(f"{problem} -mat_type aij -ksp_rtol 1e-12", ranks=1)
        for mat_type in types:
            what = f"{problem} -mat_type {mat_type}"
            printed = checks.solve(f"{what} -ksp_rtol 1e-12")
            checks.digits(values_of(printed), values_of(wanted), what)
            checks.true(float(printed["difference of the solutions"]) < 1e-9,
                        f"{what}: the two solves differ: {printed}")
            for name in ("BiCGSTAB", "normal CG"):
                checks.iterations(int(printed[f"{name} iterations"]), int(wanted[f"{name} iterations"]),
                                  f"{what}, {name}")
                checks.true(float(printed[f"{name} relative residual"]) < 1e-10, f"{what}, {name}: residual {printed}")
    check_plaquette(checks, wanted, 3, "links that are all 1")


def compare_operator(checks, field, path, folder):
    wanted = field.operator(MASS)
    for mat_type in ("aij", "baijcompound"):
        options = f"-gauge {path} -mass {MASS} -mat_type {mat_type}"
        printed = checks.solve(f"{options} -mat_view binary:{folder}/matrix")
        found = read_matrix(f"{folder}/matrix")
        blocks = {(row // 12, column // 12) for row, column in wanted}
        checks.true(int(printed["blocks"].split()[0]) == len(blocks),
                    f"{options}: {printed['blocks']}, expected {len(blocks)}")
        far = max(abs(found.get(key, 0) - wanted.get(key, 0)) for key in {*found, *wanted})
        checks.true(far < 1e-14, f"{options}: an element of D differs by {far}")
        check_plaquette(checks, printed, field.plaquette(), options)


def check_operator(checks, folder):
    for seed, dim in enumerate(LATTICES):
        field = Field.random(dim, seed)
        path = f"{folder}/random"
        with open(path, "wb") as file:
            file.write(field.bytes())
        compare_operator(checks, field, path, folder)


def check_reference(checks, folder):
    for name in ("4x4x4x4b6.0000id3n1", "8x8x8x8b6.0000id3n1"):
        packed = os.path.join(os.environ.get("COMPOUND_DATA", checks.args.data), "qcd", f"{name}.xz")
        if not os.path.exists(packed):
            print(f"skipped: {packed} is not there; set COMPOUND_DATA to the data folder")
            continue
        path = f"{folder}/{name}"
        with lzma.open(packed) as file, open(path, "wb") as unpacked:
            data = file.read()
            unpacked.write(data)
        printed = checks.solve(f"-gauge {path} -mat_type baijcompound -ksp_rtol 1e-4 -source point")
        check_plaquette(checks, printed, struct.unpack("<d", data[16:24])[0], name)
        if name.startswith("4"):
            compare_operator(checks, Field.parse(data), path, folder)


def damaged(field):
    """Wrong files: name, contents, message."""
    good = field.bytes()

    def header(*dim):
        return struct.pack("<4i", *dim) + good[16:]

    def link(number, value):
        at = 24 + 8 * number
        return good[:at] + struct.pack("<d", value) + good[at + 8:]

    yield "empty", b"", "has no header of 24 bytes"
    yield "short_header", good[:20], "has no header of 24 bytes"
    yield "header_only", good[:24], "but the file has 24"
    yield "short", good[:-8], f"but the file has {len(good) - 8}"
    yield "long", good + b"\0", f"but the file has {len(good) + 1}"
    yield "zero", header(0, 2, 2, 2), "all must be positive"
    yield "negative", header(2, -2, 2, -2), "all must be positive"
    yield "absurd", header(2**31 - 1, 2**31 - 1, 2**31 - 1, 2**31 - 1), "T,Z,Y,X = 2147483647,"
    yield "big_endian", struct.pack(">4i", *field.dim) + good[16:], "damaged or no gauge file"
    yield "packed", lzma.compress(good), "-gauge: the header of"
    yield "nan", link(18 * 4 * 3 + 5, math.nan), "site t,z,y,x = 0,0,1,1, direction 0, is not unitary"
    yield "infinite", link(7, math.inf), "is not unitary"
    yield "scaled", link(0, 2.0), "is not unitary"
    yield "other_plaquette", field.bytes(plaquette=1.5), "but its header says 1.5"
    yield "nan_plaquette", field.bytes(plaquette=math.nan), "but its header says"


def check_errors(checks, folder):
    for name, contents, message in damaged(Field.random((2, 2, 2, 2), 5)):
        path = f"{folder}/{name}"
        with open(path, "wb") as file:
            file.write(contents)
        checks.error(f"-gauge {path}", message)
    os.mkfifo(f"{folder}/pipe")
    for name in ("", "pipe"):
        checks.error(f"-gauge {folder}/{name}", "check that it is a file")
    for options, message in ERRORS.items():
        if "seqbaij" not in options or checks.args.ranks == 1:
            checks.error(options, message)


def main():
    checks = support.Checks(support.parse_arguments(__doc__))
    if checks.args.device:
        support.skip_without_device(checks.args.program, "-lattice 2,2,2,2 -adjoint gamma5")
        check_types(checks, DEVICE_TYPES)
        return checks.end()
    check_types(checks, TYPES)
    with tempfile.TemporaryDirectory() as folder:
        check_operator(checks, folder)
        check_reference(checks, folder)
        check_errors(checks, folder)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
