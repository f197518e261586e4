"""Spin transformations in plain Python, as the tests compare them with: quaternions (a, b, c, d), surfaces as lists of
points."""

import math


def times(p, q):
    return (p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0])


def add(p, q, factor=1.0):
    return tuple(a + factor * b for a, b in zip(p, q))


def conjugate(p):
    return (p[0], -p[1], -p[2], -p[3])


def dot(x, y):
    return sum(a * b for p, q in zip(x, y) for a, b in zip(p, q))


def edges_and_area(vertices, face):
    e = [(0.0, *(b - a for a, b in zip(vertices[face[(i + 1) % 3]], vertices[face[(i + 2) % 3]]))) for i in range(3)]
    return e, 0.5 * math.hypot(*times(e[0], e[1])[1:])


def dirac_matrix(vertices, faces, rho):
    """E = (D - R)* A (D - R), from rows of D - R: -e_i / (2 A) - rho / 3 at each corner."""
    matrix = {}
    for face, change in zip(faces, rho):
        e, area = edges_and_area(vertices, face)
        row = [(-change / 3, *(-x / (2 * area) for x in e[i][1:])) for i in range(3)]
        for i in range(3):
            for j in range(3):
                entry = add((0, 0, 0, 0), times(conjugate(row[i]), row[j]), area)
                key = face[i], face[j]
                matrix[key] = add(matrix.get(key, (0, 0, 0, 0)), entry)
    return matrix


def solve(matrix, b, tolerance):
    """Conjugate gradients with the diagonal as preconditioner: the solution and the number of iterations."""
    x, r = [(0.0,) * 4] * len(b), list(b)
    p, old, iterations = None, 0.0, 0
    while max(abs(v) for q in r for v in q) > tolerance * max(abs(v) for q in b for v in q):
        z = [tuple(v / matrix[i, i][0] for v in q) for i, q in enumerate(r)]
        rz = dot(r, z)
        p = [add(q, d, rz / old) for q, d in zip(z, p)] if p else z
        old = rz
        product = [(0.0,) * 4] * len(b)
        for (i, j), entry in matrix.items():
            product[i] = add(product[i], times(entry, p[j]))
        step = rz / dot(p, product)
        x = [add(q, d, step) for q, d in zip(x, p)]
        r = [add(q, d, -step) for q, d in zip(r, product)]
        iterations += 1
    return x, iterations


def eigenvector(matrix, n, tolerance):
    """Three steps of inverse iteration, and the iterations of each."""
    x, iterations = [(1.0, 0.0, 0.0, 0.0)] * n, []
    for _ in range(3):
        x, count = solve(matrix, x, tolerance)
        size = math.sqrt(dot(x, x) / n)
        x = [tuple(v / size for v in q) for q in x]
        iterations.append(count)
    return x, iterations


def put_together(vertices, faces, field, tolerance):
    """Positions whose edges are nearest to those turned and scaled by the field (two-point Gauss rule along each edge),
    and the iterations it took to find them."""
    matrix, b = {}, [(0.0,) * 4] * len(vertices)
    for face in faces:
        e, area = edges_and_area(vertices, face)
        for i in range(3):
            v, w = face[(i + 1) % 3], face[(i + 2) % 3]
            weight = -sum(x * y for x, y in zip(e[(i + 1) % 3], e[(i + 2) % 3])) / (4 * area)
            for t in (0.5 - math.sqrt(1 / 12), 0.5 + math.sqrt(1 / 12)):
                middle = add(tuple((1 - t) * x for x in field[v]), field[w], t)
                turned = times(times(conjugate(middle), e[i]), middle)
                b[v] = add(b[v], turned, -weight / 2)
                b[w] = add(b[w], turned, weight / 2)
            for row, column, sign in ((v, v, 1), (w, w, 1), (v, w, -1), (w, v, -1)):
                matrix[row, column] = add(matrix.get((row, column), (0, 0, 0, 0)), (sign * weight, 0, 0, 0))
    x, iterations = solve(matrix, b, tolerance)
    return with_extent_of([q[1:] for q in x], vertices), iterations


def spin_transformation(vertices, faces, matrix, tolerance):
    """The new surface, and the iterations of the three steps and of the Poisson equation."""
    field, steps = eigenvector(matrix, len(vertices), tolerance)
    surface, last = put_together(vertices, faces, field, tolerance)
    return surface, [*steps, last]


def extent(points):
    centre = [sum(p[d] for p in points) / len(points) for d in range(3)]
    return centre, max(math.dist(p, centre) for p in points)


def with_extent_of(points, wanted):
    (centre, radius), (new_centre, new_radius) = extent(points), extent(wanted)
    return [tuple((x - c) * new_radius / radius + n for x, c, n in zip(p, centre, new_centre)) for p in points]


def nearest_similarity(points, wanted):
    """The points turned, scaled and moved to lie nearest to the wanted (Horn's quaternion; no reflection)."""
    (from_centre, _), (to_centre, _) = extent(points), extent(wanted)
    p = [[x - c for x, c in zip(q, from_centre)] for q in points]
    w = [[x - c for x, c in zip(q, to_centre)] for q in wanted]
    s = [[sum(a[i] * b[j] for a, b in zip(p, w)) for j in range(3)] for i in range(3)]
    m = [[s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]],
         [s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]],
         [s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]],
         [s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]]]
    shift = max(sum(abs(x) for x in row) for row in m)
    m = [[x + (shift if i == j else 0) for j, x in enumerate(row)] for i, row in enumerate(m)]
    for _ in range(40):  # squares of the matrix turn to the projection on its largest eigenvector
        size = max(abs(x) for row in m for x in row)
        m = [[sum(m[i][k] * m[k][j] for k in range(4)) / size ** 2 for j in range(4)] for i in range(4)]
    column = max(zip(*m), key=lambda c: sum(x * x for x in c))
    size = math.hypot(*column)
    q = tuple(x / size for x in column)
    turned = [times(times(q, (0, *x)), conjugate(q))[1:] for x in p]
    scale = dot(turned, w) / dot(p, p)
    return [tuple(scale * x + c for x, c in zip(t, to_centre)) for t in turned]


def change_of_image(rows, scale, faces, uv):
    """Bilinear between pixel corners, constant beyond the margin; the mean over the corners of a triangle."""
    height, width = len(rows), len(rows[0])

    def sample(u, v):
        x, y = u * width, v * height
        x0, y0 = math.floor(x), math.floor(y)
        value = 0.0
        for i, weight in ((x0, 1 - x + x0), (x0 + 1, x - x0)):
            for j, other in ((y0, 1 - y + y0), (y0 + 1, y - y0)):
                value += weight * other * rows[min(max(j, 0), height - 1)][min(max(i, 0), width - 1)] / 255
        return value

    return [scale * (2 * sum(sample(*uv[v]) for v in face) / 3 - 1) for face in faces]
