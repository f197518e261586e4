"""All functions of petsccompound in one program, on any number of processes, against numbers that are known.

    program.py [--after] [--aij] [PETSc options]

--after: petsc4py starts PETSc, and init() comes after it. --aij: with aijcompound.
"""

import os
import re
import sys
import time

words = sys.argv[1:]
after, aij = ("--after" in words, "--aij" in words)
words = [word for word in words if word not in ("--after", "--aij")]
begin = time.perf_counter()
import petsccompound  # noqa: E402

imported = time.perf_counter() - begin
assert "petsc4py" not in sys.modules and "mpi4py" not in sys.modules, "importing the package imports petsc4py"

import petsc4py  # noqa: E402

kind = "aijcompound" if aij else "baijcompound"
if after:
    petsc4py.init(sys.argv[:1] + words)
    begin = time.perf_counter()
    petsccompound.init(mat_type=kind)
else:
    petsccompound.init(sys.argv[:1] + words, mat_type=kind)
    begin = time.perf_counter()
    petsccompound.init()  # may be called again
later = time.perf_counter() - begin
from petsc4py import PETSc  # noqa: E402


def fails(call, error, text):
    try:
        call()
    except error as found:
        assert text in str(found), f"'{text}' is not in '{found}'"
        assert error is not PETSc.Error or "() at " in str(found), f"no function and line in '{found}'"
        return
    raise AssertionError(f"no {error.__name__} with '{text}'")


def matrix(nodes):
    """Blocks of 3 x 3 on a line; symmetric and positive definite."""
    A = PETSc.Mat().create()
    A.setSizes(3 * nodes, bsize=3)
    A.setFromOptions()
    A.setPreallocationNNZ((9, 9) if aij else (3, 3))
    start, end = A.getOwnershipRange()
    for row in range(start // 3, end // 3):
        for column in range(max(row - 1, 0), min(row + 2, nodes)):
            A.setValuesBlocked([row], [column], [(9.0 if row == column else -2.0) if i % 4 == 0 else 0.25
                                                 for i in range(9)])
    A.assemble()
    return A


assert petsccompound.__version__ == "0.1.0" and os.path.exists(petsccompound.plugin())
nodes = 40
A = matrix(nodes)
size = PETSc.COMM_WORLD.getSize()
assert A.getType() == ("mpi" if size > 1 else "seq") + kind, A.getType()
assert petsccompound.plan(A) == "", "a plan before the first product"
x, b = A.createVecs()
x.set(1)
A.mult(x, b)
# Sums over the processes: a row of the middle has (9 + 2 * 0.25) - 2 * (2 - 2 * 0.25) = 6.5.
assert abs(b.max()[1].real - (9.5 - 1.5)) < 1e-12 and abs(b.min()[1].real - 6.5) < 1e-12, (b.max(), b.min())
assert petsccompound.plan(A).startswith("entry="), petsccompound.plan(A)
found = petsccompound.info(A)
assert found.products == 1 and found.stored_blocks > 0 and found.base_bytes > 0, found
counts = PETSc.Vec().createMPI((1, PETSc.DECIDE))
counts.set(found.stored_blocks)
assert counts.sum().real == 3 * nodes - 2, f"{counts.sum()} blocks in all"

petsccompound.set_plan(A, "sell:8")
y = b.duplicate()
A.mult(x, y)
assert "sell:8" in petsccompound.plan(A), petsccompound.plan(A)
y.axpy(-1, b)
assert y.norm() < 1e-12
assert petsccompound.info(A).pattern_packs > 0
petsccompound.set_plan(A, "auto")
A.mult(x, y)
assert "sell:8" not in petsccompound.plan(A), petsccompound.plan(A)

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.getPC().setType("pbjacobi")
ksp.setTolerances(rtol=1e-10)
ksp.setFromOptions()
solution = x.duplicate()
ksp.solve(b, solution)
solution.axpy(-1, x)
assert ksp.getConvergedReason() > 0 and solution.norm() < 1e-7, (ksp.getConvergedReason(), solution.norm())

petsccompound.tune(A, "measure")
A.mult(x, y)
y.axpy(-1, b)
assert y.norm() < 1e-12
PETSc.COMM_WORLD.barrier()
known = petsccompound.wisdom()
assert known.file == os.path.abspath(os.environ["XDG_CACHE_HOME"]) + "/petsc-compound/wisdom", known.file
assert known.problem == "" and known.entries and known.here == known.entries, known
assert known.here[-1].effort == "measure" and 0 < known.here[-1].seconds < 1, known.here[-1]
with open(known.file) as file:
    lines = file.read()
if PETSc.COMM_WORLD.getRank() == 0:  # a damaged line is no entry, one of another machine is not for this one
    own = f"{known.file}.own"
    with open(own, "w") as file:
        file.write(lines + re.sub("seconds=", "seconds =", lines))
    again = petsccompound.wisdom(own)
    assert len(again.entries) == len(known.entries), again
    os.environ["COMPOUND_HOST_SIMD"] = "another"
    assert petsccompound.wisdom(own).here == () or "-vec_type" in words
    del os.environ["COMPOUND_HOST_SIMD"]
    os.chmod(own, 0o666)
    assert "may be written by others" in petsccompound.wisdom(own).problem
    os.remove(own)
PETSc.COMM_WORLD.barrier()
PETSc.Options().setValue("mat_compound_wisdom", "none")
assert petsccompound.wisdom().file == ""
PETSc.Options().delValue("mat_compound_wisdom")

fails(lambda: petsccompound.set_plan(A, "csrr"), PETSc.Error, "csrr")
fails(lambda: petsccompound.tune(A, "hard"), PETSc.Error, "hard")
fails(lambda: petsccompound.tune(A, 3), TypeError, "int")
fails(lambda: petsccompound.set_plan(A, None), TypeError, "NoneType")
fails(lambda: petsccompound.plan("A"), TypeError, "str")
fails(lambda: petsccompound.plan(PETSc.Mat()), ValueError, "not been created")
other = PETSc.Mat().createAIJ([3, 3], comm=PETSc.COMM_SELF)
fails(lambda: petsccompound.info(other), PETSc.Error, "has type seqaij")
PETSc.Sys.Print(f"all functions work: {A.getType()}, {ksp.getIterationNumber()} iterations, vectors {b.getType()}")
PETSc.Sys.Print(f"seconds: import {imported:.4f}, init() in a PETSc that runs {later:.4f}")
