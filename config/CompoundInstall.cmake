# What `cmake --install` puts where. A plugin fits one PETSc configuration, so everything that belongs to one carries
# its name, <PETSc release>-<scalar>-<index width>[-cuda], and builds for several PETSc lie side by side in one prefix:
#
#   lib/petsccompound/<build>/libpetsccompound.so    the plugin
#   lib/petsccompound/<build>/bin/                   programs, each for its PETSc
#   lib/pkgconfig/petsccompound-<build>.pc           `pkg-config --variable=plugin` is the plugin's path
#   lib/cmake/petsccompound/                         find_package(petsccompound COMPONENTS real ...);
#                                                    builds/<build>.cmake
#   include/petsccompound.h, include/petsccompound/ (block formats of one's own)
#   share/petsccompound/examples/, share/doc/petsc-compound/, share/man/
#
# and, where COMPOUND_INSTALL_LINK is on, a link in PETSc's library folder. Nothing else names the build tree or the
# prefix: the tree may be moved.

include(GNUInstallDirs)
include(CompoundInstallLink)

string(REGEX MATCH "^[0-9]+\\.[0-9]+" petsc_release "${PETSC_VERSION}")
set(compound_build_default "${petsc_release}-${PETSC_SCALAR}-${PETSC_INDEX}")
if(PETSC_CUDA)
  string(APPEND compound_build_default "-cuda")
endif()
set(COMPOUND_INSTALL_BUILD "" CACHE STRING
  "Name of this build's folder among the installed ones; empty: <PETSc release>-<scalar>-<index width>[-cuda]")
if(COMPOUND_INSTALL_BUILD)
  set(compound_build "${COMPOUND_INSTALL_BUILD}")
else()
  set(compound_build "${compound_build_default}")
endif()
if(NOT compound_build MATCHES "^[A-Za-z0-9._-]+$")
  message(FATAL_ERROR
    "COMPOUND_INSTALL_BUILD is '${compound_build}'; it names a folder and a pkg-config file: use letters, "
    "digits, '.', '_' and '-', or leave it empty for ${compound_build_default}.")
endif()

set(compound_plugin_dir "${CMAKE_INSTALL_LIBDIR}/petsccompound/${compound_build}")
set(COMPOUND_INSTALL_TOOLS_DIR "${compound_plugin_dir}/bin")
set(compound_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/petsccompound")
set(compound_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(compound_examples_dir "${CMAKE_INSTALL_DATADIR}/petsccompound/examples")

# Programs find the plugin one folder up, and PETSc and MPI where they were linked; never anything in the build tree.
set(CMAKE_INSTALL_RPATH "$ORIGIN/..")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# compound_path(RESULT FROM TO): the installed folder TO as seen from the installed folder FROM, relative where both
# are.
function(compound_path result from to)
  if(IS_ABSOLUTE "${to}" OR IS_ABSOLUTE "${from}")
    get_filename_component(path "${to}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
    set(${result} "${path}" PARENT_SCOPE)
  else()
    file(RELATIVE_PATH path "/prefix/${from}" "/prefix/${to}")
    string(REGEX REPLACE "/$" "" path "${path}")
    set(${result} "${compound_here}/${path}" PARENT_SCOPE)
  endif()
endfunction()

# The two kinds of package file, with every path as seen from the file itself.
function(compound_package_files)
  set(compound_here "\${pcfiledir}")
  compound_path(pc_plugin_dir "${compound_pkgconfig_dir}" "${compound_plugin_dir}")
  compound_path(pc_tools_dir "${compound_pkgconfig_dir}" "${COMPOUND_INSTALL_TOOLS_DIR}")
  compound_path(pc_include_dir "${compound_pkgconfig_dir}" "${CMAKE_INSTALL_INCLUDEDIR}")
  compound_path(pc_examples_dir "${compound_pkgconfig_dir}" "${compound_examples_dir}")
  configure_file("${PROJECT_SOURCE_DIR}/config/petsccompound.pc.in"
    "${PROJECT_BINARY_DIR}/install/petsccompound-${compound_build}.pc" @ONLY)
  set(compound_here "\${CMAKE_CURRENT_LIST_DIR}")
  compound_path(cmake_plugin_dir "${compound_cmake_dir}/builds" "${compound_plugin_dir}")
  compound_path(cmake_include_dir "${compound_cmake_dir}/builds" "${CMAKE_INSTALL_INCLUDEDIR}")
  configure_file("${PROJECT_SOURCE_DIR}/config/petsccompoundBuild.cmake.in"
    "${PROJECT_BINARY_DIR}/install/builds/${compound_build}.cmake" @ONLY)
endfunction()

# Man pages from the header's comments, tables of docs/reference and the programs' options, made again when one of them
# changes.
function(compound_man_pages)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT Python3_Interpreter_FOUND)
    message(STATUS "python3 not found: no man pages")
    return()
  endif()
  set(command "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/docs/man/make_man.py"
    --version "${PROJECT_VERSION}" --output "${PROJECT_BINARY_DIR}/man")
  execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(result)
    message(FATAL_ERROR "The man pages cannot be made:\n${errors}")
  endif()
  foreach(file docs/man/make_man.py docs/man/baijcompound.7.in docs/man/compound-bench.1.in docs/man/compound-tune.1.in
      docs/reference/source.py docs/reference/header.py docs/reference/types.md docs/reference/options.md
      docs/reference/plans.md docs/reference/environment.md include/petsccompound.h
      docs/compound-bench.md docs/compound-tune.md plugin/tools/bench/case_options.cpp plugin/tools/bench/options.cpp
      plugin/tools/tune/tune_options.cpp)
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}"
      APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
  endforeach()
  set(without "")
  if(NOT COMPOUND_TOOLS)
    set(without PATTERN man1 EXCLUDE)
  endif()
  install(DIRECTORY "${PROJECT_BINARY_DIR}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}" ${without})
endfunction()

function(compound_install)
  install(TARGETS petsccompound LIBRARY DESTINATION "${compound_plugin_dir}")
  set_target_properties(petsccompound PROPERTIES INSTALL_RPATH "")
  compound_install_link("${compound_plugin_dir}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h*")
  # What a kind of entry of a user's own is compiled with.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/device" "${PROJECT_SOURCE_DIR}/src/host_text"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/petsccompound"
    FILES_MATCHING PATTERN "*.hpp")

  include(CMakePackageConfigHelpers)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/install/petsccompoundConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  compound_package_files()
  install(FILES "${PROJECT_BINARY_DIR}/install/petsccompound-${compound_build}.pc"
    DESTINATION "${compound_pkgconfig_dir}")
  install(FILES "${PROJECT_SOURCE_DIR}/config/petsccompoundConfig.cmake"
    "${PROJECT_BINARY_DIR}/install/petsccompoundConfigVersion.cmake" DESTINATION "${compound_cmake_dir}")
  install(FILES "${PROJECT_BINARY_DIR}/install/builds/${compound_build}.cmake"
    DESTINATION "${compound_cmake_dir}/builds")

  install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION "${compound_examples_dir}"
    PATTERN CMakeLists.txt EXCLUDE PATTERN "*.vt[iu]" EXCLUDE)
  install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
    "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
    "${PROJECT_SOURCE_DIR}/CITATION.cff" "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}" PATTERN man EXCLUDE)
  compound_man_pages()
endfunction()
