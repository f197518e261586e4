"""A petsc4py program as users write them: assembles blocks of 3 x 3, solves with the matrix and with its aij copy.

    petsc4py_solve.py WAY TYPE [PETSc options]

WAY says how the matrix comes to its TYPE: `options` (setFromOptions), `prefix` (the same with the prefix fluid_),
`settype` (A.setType), `late` (assembled as aij entry by entry, then converted), `dmda` and `dmplex` (the DM's options).
"""

import sys

import petsc4py

petsc4py.init(sys.argv[:1] + sys.argv[3:])
from petsc4py import PETSc  # noqa: E402


def abort(kind, error, trace):
    """An error on one process must not leave the others waiting."""
    sys.__excepthook__(kind, error, trace)
    sys.stderr.flush()
    PETSc.COMM_WORLD.tompi4py().Abort(1)


sys.excepthook = abort

CELLS = (5, 4, 6)
IS_COMPLEX = PETSc.ScalarType is complex or "complex" in PETSc.ScalarType.__name__


def block(row, column):
    """A 3 x 3 block from the numbers of its nodes, of a matrix that is Hermitian and positive definite."""
    if row == column:
        return [60.0 if a == b else 0.5 for a in range(3) for b in range(3)]
    turn = (0.2j if row < column else -0.2j) if IS_COMPLEX else 0.0
    return [-1.0 / (1 + abs(a - b) + 0.1 * ((row + column) % 7)) + turn for a in range(3) for b in range(3)]


def nodes_near(i, j, k):
    nx, ny, nz = CELLS
    return [(a, b, c) for c in range(max(k - 1, 0), min(k + 2, nz)) for b in range(max(j - 1, 0), min(j + 2, ny))
            for a in range(max(i - 1, 0), min(i + 2, nx))]


def number(i, j, k):
    return i + CELLS[0] * (j + CELLS[1] * k)


def rows_of(A):
    """(row, column, values) of the blocks of this process, columns in a box of 3 x 3 x 3 nodes."""
    start, end = A.getOwnershipRange()
    for row in range(start // 3, end // 3):
        near = nodes_near(row % CELLS[0], row // CELLS[0] % CELLS[1], row // (CELLS[0] * CELLS[1]))
        for column in (number(*node) for node in near):
            yield row, column, block(row, column)


def plain_matrix(prefix=None, mat_type=None):
    A = PETSc.Mat().create()
    A.setSizes(3 * CELLS[0] * CELLS[1] * CELLS[2], bsize=3)
    if prefix:
        A.setOptionsPrefix(prefix)
    if mat_type:
        A.setType(mat_type)
    A.setFromOptions()
    A.setPreallocationNNZ((27, 27) if "baij" in A.getType() else (81, 81))
    return A


def by_blocks(A):
    for row, column, values in rows_of(A):
        A.setValuesBlocked([row], [column], values)
    A.assemble()
    return A


def by_entries(A):
    for row, column, values in rows_of(A):
        for a in range(3):
            for b in range(3):
                A.setValue(3 * row + a, 3 * column + b, values[3 * a + b])
    A.assemble()
    return A


def dmda_matrix():
    da = PETSc.DMDA().create(CELLS, dof=3, stencil_width=1, stencil_type=PETSc.DMDA.StencilType.BOX)
    da.setFromOptions()
    A = da.createMat()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (i0, i1), (j0, j1), (k0, k1) = da.getRanges()
    for node in ((i, j, k) for k in range(k0, k1) for j in range(j0, j1) for i in range(i0, i1)):
        for near in nodes_near(*node):
            row.index, column.index = node, near
            A.setValueBlockedStencil(row, column, block(number(*node), number(*near)))
    A.assemble()
    return A


def dmplex_matrix():
    """Three unknowns a vertex; every cell adds one dense 24 x 24 matrix, by single indices."""
    dm = PETSc.DMPlex().createBoxMesh(CELLS, simplex=False)
    dm.distribute()
    dm.setFromOptions()
    dm.setField(0, PETSc.FE().createLagrange(3, 3, False, 1, PETSc.DETERMINE))
    dm.createDS()
    A = dm.createMat()
    section = dm.getGlobalSection()
    first, last = dm.getDepthStratum(0)
    element = [float(30 + a % 3) if a == b else -1.0 / (1 + abs(a - b)) for a in range(24) for b in range(24)]
    for cell in range(*dm.getHeightStratum(0)):
        points = [p for p in dm.getTransitiveClosure(cell)[0] if first <= p < last]
        offsets = [section.getOffset(p) for p in points]
        unknowns = [(o if o >= 0 else -(o + 1)) + a for o in offsets for a in range(3)]
        A.setValues(unknowns, unknowns, element, addv=True)
    A.assemble()
    return A


WAYS = {"options": lambda: by_blocks(plain_matrix()),
        "prefix": lambda: by_blocks(plain_matrix(prefix="fluid_")),
        "settype": lambda: by_blocks(plain_matrix(mat_type=sys.argv[2])),
        "late": lambda: by_entries(plain_matrix(mat_type="aij")).convert(sys.argv[2]),
        "dmda": dmda_matrix,
        "dmplex": dmplex_matrix}


def solve(A, b):
    ksp = PETSc.KSP().create(A.getComm())
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setTolerances(rtol=1e-12)
    ksp.setFromOptions()
    x = b.duplicate()
    ksp.solve(b, x)
    return x, ksp.getIterationNumber()


def main():
    A = WAYS[sys.argv[1]]()
    reference = A.convert("aij", PETSc.Mat())
    b = A.createVecLeft()
    b.setArray([1 + 0.1 * (i % 10) for i in range(*A.getOwnershipRange())])
    y, y_aij = A * b, reference * b
    x, iterations = solve(A, b)
    x_aij, iterations_aij = solve(reference, b)
    show = PETSc.Sys.Print
    show(f"type: {A.getType()}")
    show(f"iterations: {iterations}")
    show(f"iterations with aij: {iterations_aij}")
    show(f"relative product difference: {(y - y_aij).norm() / y_aij.norm():.3e}")
    show(f"relative solution difference: {(x - x_aij).norm() / x_aij.norm():.3e}")
    viewer = PETSc.Viewer.STDOUT(A.getComm())
    viewer.pushFormat(PETSc.Viewer.Format.ASCII_INFO)
    A.view(viewer)


main()
