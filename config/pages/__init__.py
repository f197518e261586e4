"""What stands between the marks of pages: a function for each mark, which formats records."""

from . import (  # noqa: F401 (they fill FIGURES)
    bits,
    gpus,
    halves,
    host,
    multigrid,
    products,
    readme,
    solvers,
    trust,
    tuning,
)
from .records import FIGURES  # noqa: F401
