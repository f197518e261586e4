# The Python package of plugin/python: what it says of the PETSc that the plugin was built for, and what goes into a
# wheel. Its Python files are named in pyproject.toml.

# The first library of PETSc that is linked, by its path.
set(petsc_library "")
foreach(library IN LISTS PETSC_PC_LINK_LIBRARIES)
  if(NOT petsc_library AND library MATCHES "/libpetsc[^/]*$")
    set(petsc_library "${library}")
  endif()
endforeach()
set(petsc_folder "${PETSC_PC_PREFIX}")
set(petsc_arch "")
if(PETSC_DIR)
  get_filename_component(petsc_folder "${PETSC_DIR}" ABSOLUTE)
  set(petsc_arch "${PETSC_ARCH}")
endif()
set(petsc_has_cuda false)
if(PETSC_CUDA)
  set(petsc_has_cuda true)
endif()
set(cuda_toolkit "")
if(COMPOUND_HAVE_CUDA)
  set(cuda_toolkit "${COMPOUND_CUDA_VERSION}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/plugin/python/built_for.json.in" "${PROJECT_BINARY_DIR}/python/built_for.json"
  @ONLY)

# Of a build by pip: the plugin beside the module, and nothing else of what `cmake --install` has.
function(compound_install_wheel)
  install(TARGETS petsccompound LIBRARY DESTINATION petsccompound)
  set_target_properties(petsccompound PROPERTIES INSTALL_RPATH "")
  set_property(TARGET petsccompound PROPERTY INSTALL_RPATH_USE_LINK_PATH ON)
  install(FILES "${PROJECT_BINARY_DIR}/python/built_for.json" DESTINATION petsccompound)
endfunction()
