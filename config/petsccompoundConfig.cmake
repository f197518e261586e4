# find_package(petsccompound REQUIRED COMPONENTS real): one of the builds installed side by side, each for one PETSc.
#
# The components are words of the build's name, <PETSc release>-<scalar>-<index width>[-cuda], in any order and as many
# as it takes to leave one: `real`, `3.18 complex`, `64`. None are needed where one build is installed. A build without
# CUDA is taken before its twin with it, unless `cuda` is a component.
#
# Makes the target petsccompound::petsccompound (petsccompound.h and the library), for programs that call its functions;
# they find PETSc and MPI themselves. Sets petsccompound_BUILD (the name), petsccompound_PLUGIN (the path for
# -dll_append), petsccompound_PETSC_VERSION, petsccompound_PETSC_SCALAR, petsccompound_PETSC_INDEX.

file(GLOB petsccompound_builds RELATIVE "${CMAKE_CURRENT_LIST_DIR}/builds" "${CMAKE_CURRENT_LIST_DIR}/builds/*.cmake")
list(TRANSFORM petsccompound_builds REPLACE "\\.cmake$" "")
string(JOIN ", " petsccompound_all ${petsccompound_builds})
string(JOIN " " petsccompound_wanted ${petsccompound_FIND_COMPONENTS})

set(petsccompound_fitting "")
foreach(build IN LISTS petsccompound_builds)
  string(REPLACE "-" ";" petsccompound_words "${build}")
  set(petsccompound_fits TRUE)
  foreach(word IN LISTS petsccompound_FIND_COMPONENTS)
    if(NOT word IN_LIST petsccompound_words AND NOT word STREQUAL build)
      set(petsccompound_fits FALSE)
    endif()
  endforeach()
  if(petsccompound_fits)
    list(APPEND petsccompound_fitting "${build}")
  endif()
endforeach()
foreach(build IN LISTS petsccompound_fitting)
  if("${build}-cuda" IN_LIST petsccompound_fitting)
    list(REMOVE_ITEM petsccompound_fitting "${build}-cuda")
  endif()
endforeach()

list(LENGTH petsccompound_fitting petsccompound_count)
if(petsccompound_count EQUAL 1)
  set(petsccompound_BUILD "${petsccompound_fitting}")
  include("${CMAKE_CURRENT_LIST_DIR}/builds/${petsccompound_BUILD}.cmake")
  foreach(word IN LISTS petsccompound_FIND_COMPONENTS)
    set(petsccompound_${word}_FOUND TRUE)
  endforeach()
  if(NOT TARGET petsccompound::petsccompound)
    add_library(petsccompound::petsccompound SHARED IMPORTED)
    set_target_properties(petsccompound::petsccompound PROPERTIES
      IMPORTED_LOCATION "${petsccompound_PLUGIN}"
      IMPORTED_SONAME libpetsccompound.so
      INTERFACE_INCLUDE_DIRECTORIES "${petsccompound_INCLUDE_DIR}")
  endif()
  set(petsccompound_FOUND TRUE)
else()
  set(petsccompound_FOUND FALSE)
  if(petsccompound_count EQUAL 0)
    set(petsccompound_NOT_FOUND_MESSAGE
      "No installed build of petsc-compound has all the words '${petsccompound_wanted}' in its "
      "name; installed in ${CMAKE_CURRENT_LIST_DIR}/builds: ${petsccompound_all}. "
      "Give other COMPONENTS, or build the plugin for "
      "that PETSc and install it into the same prefix.")
  else()
    string(JOIN ", " petsccompound_fitting ${petsccompound_fitting})
    set(petsccompound_NOT_FOUND_MESSAGE
      "Several builds of petsc-compound fit '${petsccompound_wanted}': ${petsccompound_fitting}. "
      "Give words of one's name as COMPONENTS of find_package(petsccompound), such as: real.")
  endif()
  string(CONCAT petsccompound_NOT_FOUND_MESSAGE ${petsccompound_NOT_FOUND_MESSAGE})
endif()
