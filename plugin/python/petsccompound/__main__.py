"""What a shell asks of the package:   python -m petsccompound [--plugin | --check | --link | --unlink | --version]

Without an option: the options that load the plugin, for the command line of any PETSc program.
"""

import argparse
import shlex
import sys

from . import __version__
from ._built import plugin


def main() -> None:
    """Prints what was asked for; status 1 with one line if it cannot."""
    parser = argparse.ArgumentParser(prog="python -m petsccompound", description=(
        "Without an option: print the options that load the plugin, as in ./app $(python -m petsccompound) "
        "-mat_type baijcompound."))
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--plugin", action="store_true", help="print the path of the plugin")
    choice.add_argument("--check", action="store_true",
                        help="start PETSc with the plugin, and print PETSc, devices, NVRTC and caches in one table")
    choice.add_argument("--link", action="store_true", help="make a link to the plugin in PETSc's library folder, so "
                        "that -dll_append '${PETSC_LIB_DIR}/libpetsccompound' loads it in every program")
    choice.add_argument("--unlink", action="store_true", help="remove that link; do this before pip uninstall")
    choice.add_argument("--version", action="version", version=__version__)
    asked = parser.parse_args()
    if asked.plugin:
        print(plugin())
    elif asked.check:
        from ._report import table
        print(table())
    elif asked.link:
        from ._link import make
        print(f"{make()} leads to {plugin()}; every program of this PETSc loads it by\n"
              "-dll_append '${PETSC_LIB_DIR}/libpetsccompound'")
    elif asked.unlink:
        from ._link import remove
        path = remove()
        print(f"removed {path}" if path else "there is no link")
    else:
        from ._start import options
        print(shlex.join(options()))


if __name__ == "__main__":
    sys.exit(main())
