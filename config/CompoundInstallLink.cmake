# COMPOUND_INSTALL_LINK: `cmake --install` also makes a link to the plugin in PETSc's library folder. PETSc replaces
# ${PETSC_LIB_DIR} in paths itself, so one line in a .petscrc then serves every program, wherever the plugin is:
#
#   -dll_append ${PETSC_LIB_DIR}/libpetsccompound
#
# Off by default: that folder belongs to PETSc. A folder that was configured without it can be asked when it installs:
#
#   cmake -DCOMPOUND_INSTALL_LINK=ON -DCMAKE_INSTALL_PREFIX=PREFIX -P build/host/cmake_install.cmake

option(COMPOUND_INSTALL_LINK "Make a link to the plugin in PETSc's library folder when installing" OFF)

# compound_petsc_library_folder(RESULT): what PETSc puts in place of ${PETSC_LIB_DIR}, which it was configured with. Of
# a PETSc that was moved, the folder where its library is now; empty if there is none.
function(compound_petsc_library_folder result)
  file(STRINGS "${petscconf_h}" line REGEX "^#define PETSC_LIB_DIR +\"")
  string(REGEX REPLACE "^[^\"]*\"(.*)\"[^\"]*$" "\\1" folder "${line}")
  if(NOT IS_DIRECTORY "${folder}")
    get_filename_component(here "${PETSC_PC_LIBDIR}" ABSOLUTE)
    if(COMPOUND_INSTALL_LINK)
      message(STATUS "This PETSc was moved: it was configured for ${folder}. "
        "Programs need PETSC_LIB_DIR=${here} in their environment to find the link in that folder.")
    endif()
    set(folder "${here}")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

function(compound_install_link plugin_dir)
  compound_petsc_library_folder(folder)
  install(CODE "if(NOT DEFINED COMPOUND_INSTALL_LINK)
    set(COMPOUND_INSTALL_LINK \"${COMPOUND_INSTALL_LINK}\")
  endif()
  if(COMPOUND_INSTALL_LINK)
    set(folder \"${folder}\")
    set(plugin_dir \"${plugin_dir}\")
    include(\"${PROJECT_SOURCE_DIR}/config/make_link.cmake\")
  endif()")
endfunction()
