"""Functions of petsccompound.h for matrices of petsc4py."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ._running import call, load

if TYPE_CHECKING:
    from petsc4py import PETSc


@dataclass(frozen=True)
class Info:
    """Counts of a matrix on this process: MatCompoundInfo of petsccompound.h.

    For a matrix on several processes each number is the sum over this process's diagonal and off-diagonal part; add
    them up over the processes for those of the whole matrix.
    """

    products: int  #: products by the plugin's own kernels, transposes included
    pattern_packs: int  #: times the integers of a layout were built
    value_packs: int  #: times values were packed; 0 if the plan uses the arrays of the base type
    stored_blocks: int  #: blocks of the pattern
    padding_blocks: int  #: blocks of the layout that are padding
    base_bytes: int  #: bytes of the base type: values, columns, row starts
    packed_bytes: int  #: bytes of packed storage, on the host and on a device
    device_bytes: int  #: bytes of these on a device


def _handle(A: Any) -> Any:
    """The Mat of C. PETSc would end the program where there is none."""
    from ctypes import c_void_p
    PETSc = sys.modules["petsc4py.PETSc"]
    if not isinstance(A, PETSc.Mat):
        raise TypeError(f"A is a {type(A).__name__}; a petsc4py.PETSc.Mat is needed")
    if not A.handle:
        raise ValueError("A is a PETSc.Mat that has not been created; call A.create(), or one of its relatives, first")
    return c_void_p(A.handle)


def plan(A: PETSc.Mat) -> str:
    """The plan by which a matrix is stored and multiplied.

    Args:
        A: A matrix of a type of this plugin. Not collective.

    Returns:
        One line, as views print it; of a matrix on several processes with ``off: ...`` for the off-diagonal part.
        Empty before the first product, and if the base type makes the products.

    Raises:
        petsc4py.PETSc.Error: if the matrix has another type.
    """
    from ctypes import byref, c_char_p
    library, text = load(), c_char_p()
    call(library, "MatCompoundGetPlan", _handle(A), byref(text))
    return (text.value or b"").decode()


def set_plan(A: PETSc.Mat, line: str) -> None:
    """Sets the plan, as the option ``-mat_compound_plan`` does; the next product packs the matrix by it.

    Args:
        A: A matrix of a type of this plugin. Logically collective.
        line: A plan as :func:`plan` returns it or shorter (``"sell:32"``): what is left out is chosen by the default
            heuristic, except the block format, which is then dense. Empty, or ``"auto"``: back to the default plan.

    Raises:
        petsc4py.PETSc.Error: if a plan keyword is not known. That the plan does not suit the matrix is an error of the
            next product.
    """
    if not isinstance(line, str):
        raise TypeError(f"line is a {type(line).__name__}; a plan is a string such as 'sell:32'")
    text = None if line in ("", "auto") else line.encode()
    library = load()
    call(library, "MatCompoundSetPlan", _handle(A), text)


def info(A: PETSc.Mat) -> Info:
    """Counts of products and packing, and sizes of a matrix on this process.

    Args:
        A: A matrix of a type of this plugin. Not collective.

    Returns:
        An :class:`Info`: numbers of products and packs, of blocks, and of bytes.

    Raises:
        petsc4py.PETSc.Error: if the matrix has another type.
    """
    from ctypes import byref, c_int64, c_size_t, sizeof
    names = [field.name for field in fields(Info)]
    library, found = load(), (c_int64 * len(names))()  # a struct of as many PetscInt64
    call(library, "MatCompoundGetInfoSized", _handle(A), byref(found), c_size_t(sizeof(found)))
    return Info(*found)


def tune(A: PETSc.Mat, effort: str = "measure") -> None:
    """Sets how the plan is found, as the option ``-mat_compound_tune`` does. The next product finds it.

    Args:
        A: A matrix of a type of this plugin. Logically collective.
        effort: ``"off"`` (default heuristic), ``"model"`` (predicted times, on devices), ``"wisdom"`` (what was
            measured before), ``"measure"`` (times neighbouring plans) or ``"exhaustive"`` (times all plans).

    Raises:
        petsc4py.PETSc.Error: if the effort is not known, or the matrix has another type.
    """
    if not isinstance(effort, str):
        raise TypeError(f"effort is a {type(effort).__name__}; choose off, model, wisdom, measure or exhaustive")
    library = load()
    call(library, "MatCompoundTune", _handle(A), effort.encode())
