"""What stands between the marks of pages: a function for each mark, which formats records."""

from . import bits, gpus, halves, host, multigrid, products, readme, solvers, tuning  # noqa: F401 (they fill FIGURES)
from .records import FIGURES  # noqa: F401
