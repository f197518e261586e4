"""petsc-compound for petsc4py: PETSc matrix types for block matrices with fast products.

    import sys
    import petsccompound
    petsccompound.init(sys.argv, mat_type="baijcompound")
    from petsc4py import PETSc

After ``init()`` PETSc knows the types ``baijcompound``, ``aijcompound`` and ``sbaijcompound``, in options and in
``A.setType()``.
Importing this module starts nothing: neither MPI nor PETSc.
"""

from ._built import Stop, plugin
from ._matrix import Info, info, plan, set_plan, tune
from ._start import init, options
from ._wisdom import Wisdom, WisdomEntry, wisdom

__version__ = "0.1.0"

__all__ = ["Info", "Stop", "Wisdom", "WisdomEntry", "__version__", "info", "init", "options", "plan", "plugin",
           "set_plan", "tune", "wisdom"]
