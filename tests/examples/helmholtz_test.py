#!/usr/bin/env python3
"""The Helmholtz example gives the same field with real and with complex scalars, on every matrix type and rank count.

- helmholtz_reference.txt holds what both builds print; each must print it again, to 8 digits at rtol 1e-12.
- Iteration counts of GMRES within max(2, 1 %) of those of baij on one process. (Those of BiCGSTAB, the default, follow
  the rounding errors: PETSc's own types differ by several.)
- On a small grid, against element matrices by Gauss' quadrature and a direct solve written here.
- Without an obstacle, against the incident plane or spherical wave: the error falls with the square of the cells' size.
- With a sphere in free space, against the exact series; the absorbing boundary is of first order only, so within 30 %.
- With --device: the first of these alone, on the CUDA device.

helmholtz_test.py ... --write FILE makes the table of references anew.
"""

import cmath
import itertools
import math
import os
import sys
import tempfile

import support

REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "helmholtz_reference.txt")
TYPES = ["aij", "baij", "baijcompound", "baijcompound -mat_compound_layout sell:7:21",
         "baijcompound -mat_compound_backend petsc"]
# Not aijcusparse: with pbjacobi on several ranks it reads beyond its inverses (its parts lack the block size; PETSc
# 3.26.1).
DEVICE_TYPES = ["baijcompound", "baijcompound -mat_compound_layout sell:7:21"]
BY_NAME = {"real": "complex", "complex": "dense"}  # the entry that the matrix has, asked for by name
# The classical Gram-Schmidt process calls PETSc's VecMDot(), which initcheck has findings in (exceptions.txt): under
# the tool a solve on one process ended in 11 s with some 1,000 of them, and one on two processes stood still after 34
# to 40 iterations. By the modified process both end in 11 s, with none (one H200).
GMRES = "-ksp_type gmres -ksp_gmres_restart 300 -ksp_gmres_modifiedgramschmidt -pc_type pbjacobi"
SMALL = ["-cells 4,3,5 -frequency 100 -obstacle none",
         "-cells 4,3,5 -frequency 100 -obstacle none -source -0.5,0.2,0.4",
         "-cells 6,5,4 -frequency 120 -obstacle fluid -inner_speed 300 -radius 0.15 -direction 1,-2,0.5",
         "-cells 5,6,5 -frequency 110 -speed 300 -obstacle soft -radius 0.15",
         "-cells 6,6,6 -frequency 110 -obstacle hard -radius 0.3 -center 0.52,0.5,0.47"]
ERRORS = {
    "-cells 4,4": "give three positive integers",
    "-cells 4,0,4": "give three positive integers",
    "-cells 4,4,4x": "give three positive integers",
    "-cells 9999999,9999999,9999999": "more than the",
    "-frequency 0": "it must be finite and positive: the frequency in Hz",
    "-frequency nan": "it must be finite and positive",
    "-speed -1": "it must be finite and positive",
    "-size 1,1": "-size: found 2 numbers; give 3",
    "-frequency 20000": "fewer than 4 cells a wavelength",
    "-obstacle cube": "give one of none, fluid, soft, hard",
    "-radius 0.6": "a layer of one cell",
    "-center 5,0,0": "a layer of one cell",
    "-obstacle fluid -inner_speed inf": "it must be finite and positive",
    "-direction 0,0,0": "-direction is 0,0,0",
    "-source 0.5,0.5,0.5": "lies in the box",
    "-source 2,0,0 -direction 1,0,0": "Found both -direction and -source",
    "-turn nan": "it must be finite",
    "-vti /nowhere/field.vti": "cannot write the file",
    "-cells 12,12,12 -frequency 400 -radius 0.03": "contains the centre of none",
    "-cells 8,8,8 -frequency 1e-300": "The square of the load's norm is 0",
    "-direction 1,0,0,5": "-direction: found 4 numbers or more; give 3",
    "-radius 0.1,0.2": "-radius: found 2 numbers or more; give 1",
    "-frequency": "-frequency: found 0 numbers; give 1",
    "-obstacle": "-obstacle: found \"\"; give one of none, fluid, soft, hard",
    "-vti": "-vti: found no name of a file",
    "-ksp_max_it 3": "The solve did not converge",
    "-mat_type baijcompound -mat_compound_entry octonion": "choose auto, dense, complex",
}


def functionals(printed):
    names = ["root mean square pressure", "scattered field",
             *(name for name in printed if name.startswith("pressure at"))]
    return [number for name in names for number in support.numbers(printed[name])]


# --------------------------------------- the same problem, written again ---------------------------------------

def option(text, name, default):
    words = text.split()
    return [float(w) for w in words[words.index(name) + 1].split(",")] if name in words else default


class Problem:
    """Trilinear elements by Gauss' quadrature, 2 points a direction, which is exact for these products."""

    def __init__(self, text):
        self.cells = [int(c) for c in option(text, "-cells", None)]
        self.size = [c / max(self.cells) for c in self.cells]
        self.h = [s / c for s, c in zip(self.size, self.cells)]
        self.speed = option(text, "-speed", [343])[0]
        self.omega = 2 * math.pi * option(text, "-frequency", [686])[0]
        direction = option(text, "-direction", [1, 0, 0])
        self.direction = [d / math.hypot(*direction) for d in direction]
        self.source = option(text, "-source", None)
        self.obstacle = text.split("-obstacle ")[1].split()[0]
        self.radius = option(text, "-radius", [0.2 * min(self.size)])[0]
        self.center = option(text, "-center", [s / 2 for s in self.size])
        self.inner_speed = option(text, "-inner_speed", [self.speed / 2])[0]
        self.nodes = list(itertools.product(*(range(c + 1) for c in self.cells)))
        self.index = {node: i for i, node in enumerate(self.nodes)}

    def incident(self, node):
        """The incident field and its gradient."""
        x, k = [n * h for n, h in zip(node, self.h)], self.omega / self.speed
        if not self.source:
            p = cmath.exp(1j * k * sum(d * a for d, a in zip(self.direction, x)))
            return p, [1j * k * d * p for d in self.direction]
        r, r0 = math.dist(x, self.source), math.dist([s / 2 for s in self.size], self.source)
        p = r0 / r * cmath.exp(1j * k * (r - r0))
        return p, [(1j * k - 1 / r) * p * (a - s) / r for a, s in zip(x, self.source)]

    def inside(self, cell):
        centre = [(c + 0.5) * h for c, h in zip(cell, self.h)]
        return self.obstacle != "none" and math.dist(centre, self.center) < self.radius

    def touching(self, node):
        around = (tuple(n - d for n, d in zip(node, step)) for step in itertools.product((0, 1), repeat=3))
        return [c for c in around if all(0 <= a < n for a, n in zip(c, self.cells))]

    def fixed(self, node):
        inside = [self.inside(c) for c in self.touching(node)]
        return any(inside) if self.obstacle == "soft" else self.obstacle == "hard" and all(inside)

    def integrals(self, directions):
        """Over the product of intervals in these directions: for each pair of corners, of p q and of grad p . grad
        q."""
        points = [0.5 - math.sqrt(1 / 12), 0.5 + math.sqrt(1 / 12)]
        corners = list(itertools.product((0, 1), repeat=len(directions)))
        weight = math.prod(self.h[d] / 2 for d in directions)

        def value(corner, x, without=None):
            return math.prod(a if c else 1 - a for i, (c, a) in enumerate(zip(corner, x)) if i != without)

        mass, stiff = {}, {}
        for a, b in itertools.product(corners, repeat=2):
            mass[a, b] = stiff[a, b] = 0
            for x in itertools.product(points, repeat=len(directions)):
                mass[a, b] += weight * value(a, x) * value(b, x)
                for i, d in enumerate(directions):
                    slope = (1 if a[i] == b[i] else -1) / self.h[d]**2
                    stiff[a, b] += weight * slope * value(a, x, i) * value(b, x, i)
        return mass, stiff

    def system(self):
        n, k0 = len(self.nodes), self.omega / self.speed
        A, load = [[0j] * n for _ in range(n)], [0j] * n
        mass, stiff = self.integrals((0, 1, 2))
        for cell in itertools.product(*(range(c) for c in self.cells)):
            inside = self.inside(cell)
            if inside and self.obstacle != "fluid":
                continue
            k = self.omega / (self.inner_speed if inside else self.speed)
            for a, b in mass:
                i, j = (self.index[tuple(c + s for c, s in zip(cell, v))] for v in (a, b))
                A[i][j] += stiff[a, b] - k * k * mass[a, b]
        for d, end in itertools.product(range(3), (0, 1)):
            others = [e for e in range(3) if e != d]
            side, _ = self.integrals(others)
            for at in itertools.product(*(range(self.cells[e]) for e in others)):
                for a, b in side:
                    corner = {}
                    for name, v in (("a", a), ("b", b)):
                        node = [end * self.cells[d]] * 3
                        for e, c, s in zip(others, at, v):
                            node[e] = c + s
                        corner[name] = tuple(node)
                    i, j = self.index[corner["a"]], self.index[corner["b"]]
                    p, gradient = self.incident(corner["b"])
                    A[i][j] -= 1j * k0 * side[a, b]
                    load[i] += side[a, b] * ((1 if end else -1) * gradient[d] - 1j * k0 * p)
        for i, node in enumerate(self.nodes):
            if self.fixed(node):
                A[i] = [complex(i == j) for j in range(n)]
                load[i] = 0
        return A, load

    def functionals(self):
        p = solve_directly(*self.system())
        rows = [(value, self.incident(node)[0]) for node, value in zip(self.nodes, p) if not self.fixed(node)]
        values = [math.sqrt(sum(abs(v)**2 for v, _ in rows) / len(rows)),
                  math.sqrt(sum(abs(v - w)**2 for v, w in rows) / sum(abs(w)**2 for _, w in rows))]
        for part in ((0.125, 0.5, 0.5), (0.5, 0.875, 0.5), (0.875, 0.5, 0.5)):
            value = p[self.index[tuple(int(a * c + 0.5) for a, c in zip(part, self.cells))]]
            values += [value.real, value.imag]
        return values


def solve_directly(A, b):
    """Gauss' elimination with row exchanges."""
    n = len(b)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(A[i][k]))
        A[k], A[pivot], b[k], b[pivot] = A[pivot], A[k], b[pivot], b[k]
        for i in range(k + 1, n):
            if A[i][k] != 0:
                f = A[i][k] / A[k][k]
                A[i] = A[i][:k] + [0] + [x - f * y for x, y in zip(A[i][k + 1:], A[k][k + 1:])]
                b[i] -= f * b[k]
    x = [0j] * n
    for k in reversed(range(n)):
        x[k] = (b[k] - sum(a * v for a, v in zip(A[k][k + 1:], x[k + 1:]))) / A[k][k]
    return x


# -------------------------------------------------- the checks --------------------------------------------------

def references():
    with open(REFERENCE) as table:
        lines = [line.split(":") for line in table if not line.startswith("#")]
    return {options.strip(): support.numbers(values) for options, values in lines}


def write_references(checks, path):
    with open(path, "w") as table:
        for options in references():
            values = functionals(checks.solve(f"{options} -mat_type baij -ksp_rtol 1e-13 {GMRES}"))
            table.write(f"{options}: {' '.join(f'{v:.10e}' for v in values)}\n")


def check_types(checks, types):
    by_name = f"baijcompound -mat_compound_entry {BY_NAME[checks.args.scalar]}"
    for n, (options, wanted) in enumerate(references().items()):
        baij = checks.solve(f"{options} -mat_type baij -ksp_rtol 1e-12 {GMRES}", ranks=1)
        for m, mat_type in enumerate([*types, by_name]):
            solvers = ("", GMRES)
            for solver in solvers if support.WHOLE else solvers[(n + m) % 2:][:1]:  # by turns
                what = f"{options} -mat_type {mat_type} {solver}"
                printed = checks.solve(f"{what} -ksp_rtol 1e-12")
                checks.digits(functionals(printed), wanted, what)
                checks.true(float(printed["relative residual"]) < 1e-11,
                            f"{what}: residual {printed['relative residual']}")
                if solver:
                    checks.iterations(int(printed["iterations"]), int(baij["iterations"]), what)
    checks.solve(f"-cells 6,6,6 -frequency 300 -mat_type {by_name} -mat_compound_view")
    checks.true(f"entry={BY_NAME[checks.args.scalar]} " in checks.output,
                f"-mat_compound_view does not name the entry: {checks.output}")


def check_small(checks):
    for options in SMALL:
        printed = checks.solve(f"{options} -mat_type baijcompound -ksp_rtol 1e-12")
        checks.digits(functionals(printed), Problem(options).functionals(), f"{options}, against the direct solve")


def check_order(checks):
    for wave in ("-direction 1,0,0", "-direction 1,2,-1", "-source -0.3,0.5,0.6"):
        fixed = f"-obstacle none {wave} -frequency 200 -ksp_rtol 1e-10"
        error = [float(checks.solve(f"{fixed} -cells {n},{n},{n}")["scattered field"]) for n in (6, 12)]
        order = math.log2(error[0] / error[1])
        print(f"{wave}: errors {error[0]:.3e} (6 cells), {error[1]:.3e} (12 cells), order {order:.2f}")
        checks.true(1.8 < order < 2.3, f"{wave}: the error falls with the power {order} of the cells' size, not 2")


def spherical_bessel(x, top):
    """j_n and y_n for n = 0 ... top + 1."""
    y = [-math.cos(x) / x, -math.cos(x) / x**2 - math.sin(x) / x]
    j = [0.0] * (top + 40)
    j[-2] = 1e-200  # backward, where the recurrence is stable
    for n in range(1, top + 1):
        y.append((2 * n + 1) / x * y[n] - y[n - 1])
    for n in range(len(j) - 2, 0, -1):
        j[n - 1] = (2 * n + 1) / x * j[n] - j[n + 1]
    scale = math.sin(x) / x / j[0]
    return [a * scale for a in j[:top + 2]], y


def exact_scattered(kind, k, inner_k, a, r, cosine, top=20):
    """What a sphere of radius a makes of exp(i k z), at distance r from its centre."""
    def waves(x):
        """j_n, h_n and their derivatives."""
        j, y = spherical_bessel(x, top)
        h = [p + 1j * q for p, q in zip(j, y)]
        return j, h, *([n / x * f[n] - f[n + 1] for n in range(top + 1)] for f in (j, h))

    (j, h, dj, dh), (i, _, di, _), (_, out, _, _) = waves(k * a), waves(inner_k * a), waves(k * r)
    ratio = {"soft": lambda n: j[n] / h[n], "hard": lambda n: dj[n] / dh[n],
             "fluid": lambda n: (k * dj[n] * i[n] - inner_k * di[n] * j[n])
             / (k * dh[n] * i[n] - inner_k * di[n] * h[n])}
    legendre, total = [1.0, cosine], 0
    for n in range(top + 1):
        legendre.append(((2 * n + 3) * cosine * legendre[n + 1] - (n + 1) * legendre[n]) / (n + 2))
        total -= (2 * n + 1) * 1j**n * ratio[kind](n) * out[n] * legendre[n]
    return total


def check_sphere(checks):
    cells, radius, frequency, inner_speed = 24, 0.2, 450, 250
    k, centres = 2 * math.pi * frequency / 343, [(i + 0.5) / cells - 0.5 for i in range(cells)]
    inside = sum(math.hypot(*c) < radius for c in itertools.product(centres, repeat=3))
    a = (inside / cells**3 * 0.75 / math.pi)**(1 / 3)  # the sphere that is as large as the cells
    for kind in ("soft", "hard", "fluid"):
        values = functionals(checks.solve(f"-cells {cells},{cells},{cells} -frequency {frequency} -obstacle {kind} "
                                          f"-radius {radius} -inner_speed {inner_speed} -mat_type baijcompound"))[2:]
        far = size = 0
        for n, (x, y) in enumerate(((-0.375, 0), (0, 0.375), (0.375, 0))):
            r = math.hypot(x, y)
            exact = exact_scattered(kind, k, 2 * math.pi * frequency / inner_speed, a, r, x / r)
            exact *= cmath.exp(1j * k * 0.5)
            found = complex(*values[2 * n:2 * n + 2]) - cmath.exp(1j * k * (x + 0.5))
            far, size = far + abs(found - exact)**2, size + abs(exact)**2
        print(f"{kind} sphere: the scattered field at the probes differs by {math.sqrt(far / size):.3f} from the exact "
              "one")
        checks.true(far < 0.3**2 * size, f"{kind} sphere: the scattered field is {math.sqrt(far / size)} off")


def check_file(checks):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/field.vti"
        printed = checks.solve(f"-cells 6,5,4 -frequency 250 -obstacle none -vti {path}")
        with open(path) as file:
            text = file.read()
    rows = [support.numbers(line) for line in text.split('format="ascii">\n')[1].split("</DataArray>")[0].splitlines()]
    checks.true(len(rows) == 7 * 6 * 5 and 'WholeExtent="0 6 0 5 0 4"' in text, f"the file has {len(rows)} points")
    rms = math.sqrt(sum(a * a + b * b for a, b, _, _ in rows) / len(rows))
    checks.digits([rms], [float(printed["root mean square pressure"])], "the file's pressure")
    here = rows[int(6 * 0.125 + 0.5) + 7 * (int(5 * 0.5 + 0.5) + 6 * int(4 * 0.5 + 0.5))]  # the first probe, x fastest
    checks.digits(here[:2], functionals(printed)[2:4], "the file's pressure at the first probe")


def main():
    if "--write" in sys.argv:
        args = support.parse_arguments(__doc__, "scalar", "write")
        return write_references(support.Checks(args), args.write)
    checks = support.Checks(support.parse_arguments(__doc__, "scalar"))
    if checks.args.device:
        support.skip_without_device(checks.args.program, "-cells 6,6,6 -frequency 100")
        check_types(checks, DEVICE_TYPES)
        return checks.end()
    check_types(checks, TYPES)
    check_small(checks)
    check_order(checks)
    check_sphere(checks)
    check_file(checks)
    checks.errors(ERRORS)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
