"""A link to the plugin in PETSc's library folder, for `-dll_append '${PETSC_LIB_DIR}/libpetsccompound'`."""

from __future__ import annotations

import os

from ._built import Stop, built_for, plugin
from ._petsc import PetscFiles

NAME = "libpetsccompound.so"


def link_path() -> str:
    """Where the link is, or would be: the folder that PETSc puts for ${PETSC_LIB_DIR}, which the variable of that name
    may change."""
    own = built_for()
    folder = os.environ.get("PETSC_LIB_DIR") or PetscFiles(own.folder, own.arch).plugin_folder
    if not folder and own.library:
        folder = os.path.dirname(own.library)
    if not os.path.isdir(folder):
        raise Stop(f"PETSc takes {folder or 'an unknown folder'} for ${{PETSC_LIB_DIR}}, and there is no such folder: "
                   f"that PETSc was moved after it was built. Use -dll_append {plugin()}")
    return os.path.join(folder, NAME)


def make() -> str:
    """Makes the link, in place of an older link; its path. Stop where a file is in the way or may not be written."""
    path, target = link_path(), plugin()
    if os.path.lexists(path) and not os.path.islink(path):
        raise Stop(f"{path} is a file, not a link: a plugin was installed there in another way; remove it first")
    try:
        if os.path.islink(path):
            os.remove(path)
        os.symlink(target, path)
    except OSError as reason:
        raise Stop(f"{path} cannot be made ({reason.strerror}): run this as the owner of PETSc's folder") from None
    return path


def remove() -> str:
    """Removes the link if it leads to this package's plugin, or to nothing; its path, or "" if there is none."""
    path = link_path()
    if not os.path.islink(path):
        return ""
    target = os.path.join(os.path.dirname(path), os.readlink(path))
    if os.path.exists(target) and not os.path.samefile(target, plugin()):
        raise Stop(f"{path} leads to another plugin, {target}: it stays")
    try:
        os.remove(path)
    except OSError as reason:
        raise Stop(f"{path} cannot be removed ({reason.strerror}): run this as the owner of PETSc's folder") from None
    return path
