# COMPOUND_INSTALL_LINK: `cmake --install` also makes a link to the plugin in PETSc's library folder. PETSc replaces
# ${PETSC_LIB_DIR} in paths itself, so one line in a .petscrc then serves every program, wherever the plugin is:
#
#   -dll_append '${PETSC_LIB_DIR}/libpetsccompound'
#
# Off by default: that folder belongs to PETSc.

option(COMPOUND_INSTALL_LINK "Make a link to the plugin in PETSc's library folder when installing" OFF)

# compound_petsc_library_folder(RESULT): what PETSc puts in place of ${PETSC_LIB_DIR}, which it was configured with.
function(compound_petsc_library_folder result)
  file(STRINGS "${petscconf_h}" line REGEX "^#define PETSC_LIB_DIR +\"")
  string(REGEX REPLACE "^[^\"]*\"(.*)\"[^\"]*$" "\\1" folder "${line}")
  if(NOT IS_DIRECTORY "${folder}")
    set(here "${PETSC_PC_LIBDIR}")
    if(NOT IS_DIRECTORY "${here}")
      message(FATAL_ERROR
        "COMPOUND_INSTALL_LINK is ${COMPOUND_INSTALL_LINK}, but PETSc's library folder is not there: neither '${folder}' "
        "(PETSC_LIB_DIR of ${petscconf_h}) nor '${here}' (libdir of its pkg-config file).")
    endif()
    message(STATUS "This PETSc was moved: it was configured for ${folder}. "
      "Programs need PETSC_LIB_DIR=${here} in their environment to find the link in that folder.")
    set(folder "${here}")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

function(compound_install_link plugin_dir)
  if(NOT COMPOUND_INSTALL_LINK)
    return()
  endif()
  compound_petsc_library_folder(folder)
  install(CODE "set(folder \"${folder}\")\nset(plugin_dir \"${plugin_dir}\")")
  install(SCRIPT "${PROJECT_SOURCE_DIR}/config/make_link.cmake")
endfunction()
