"""DOLFINx 0.5: a clamped beam under its weight, linear elasticity, as its demos write it.

    dolfinx_elasticity.py WAY TYPE

WAY says how the matrix comes to its TYPE: `options` (-mat_type in PETSC_OPTIONS), `problem` (the same, solved by
LinearProblem), `kind` (create_matrix(a, TYPE)), `convert` (assembled as aij, then converted).
"""

import sys

import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem, apply_lifting, assemble_matrix, assemble_vector, create_matrix, set_bc
from mpi4py import MPI
from petsc4py import PETSc

way, mat_type = sys.argv[1:3]


def forms():
    domain = mesh.create_box(MPI.COMM_WORLD, [[0, 0, 0], [2, 1, 1]], [10, 5, 5], mesh.CellType.tetrahedron)
    V = fem.VectorFunctionSpace(domain, ("Lagrange", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    mu, lame = 1.0, 1.25

    def strain(w):
        return ufl.sym(ufl.grad(w))

    stress = lame * ufl.tr(strain(u)) * ufl.Identity(3) + 2 * mu * strain(u)
    weight = fem.Constant(domain, PETSc.ScalarType((0, 0, -0.016)))
    clamped = fem.locate_dofs_geometrical(V, lambda x: np.isclose(x[0], 0))
    bc = fem.dirichletbc(np.zeros(3, dtype=PETSc.ScalarType), clamped, V)
    return ufl.inner(stress, strain(v)) * ufl.dx, ufl.inner(weight, v) * ufl.dx, [bc]


def solve_by_hand(a, L, bcs):
    kind = {"options": None, "kind": mat_type}.get(way, "aij")
    A = create_matrix(fem.form(a), kind)
    assemble_matrix(A, fem.form(a), bcs)
    A.assemble()
    if way == "convert":
        A = A.convert(mat_type)
    b = assemble_vector(fem.form(L))
    apply_lifting(b, [fem.form(a)], [bcs])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    set_bc(b, bcs)
    ksp = PETSc.KSP().create(MPI.COMM_WORLD)
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setTolerances(rtol=1e-12)
    x = b.duplicate()
    ksp.solve(b, x)
    return A, x, b, ksp


def solve_problem(a, L, bcs):
    options = {"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-12}
    problem = LinearProblem(a, L, bcs, petsc_options=options)
    problem.solve()
    return problem, problem.A, problem.u.vector, problem.b, problem.solver


def main():
    if way == "problem":
        keep, A, x, b, ksp = solve_problem(*forms())
    elif way in ("options", "kind", "convert"):
        A, x, b, ksp = solve_by_hand(*forms())
    else:
        sys.exit(f"dolfinx_elasticity.py: unknown way '{way}'; choose options, problem, kind, convert")
    show = PETSc.Sys.Print
    show(f"type: {A.getType()}")
    show(f"iterations: {ksp.getIterationNumber()}")
    show(f"norm: {x.norm():.15e}")
    show(f"energy: {abs(x.dot(b)):.15e}")
    show(f"largest displacement: {x.norm(PETSc.NormType.INFINITY):.15e}")
    viewer = PETSc.Viewer.STDOUT(A.getComm())
    viewer.pushFormat(PETSc.Viewer.Format.ASCII_INFO)
    A.view(viewer)


main()
