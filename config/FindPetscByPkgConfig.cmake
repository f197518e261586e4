# Finds one PETSc and makes the target PETSc::petsc.
#
# With PETSC_DIR (and PETSC_ARCH, unless PETSc was installed to a prefix) in the environment or the cache, that PETSc is
# used. Otherwise the system's: Debian and Ubuntu keep one per scalar type and index width, and COMPOUND_SCALAR and
# COMPOUND_INDEX pick.
# Sets PETSC_VERSION, PETSC_SCALAR (real or complex), PETSC_INDEX (32 or 64), PETSC_CUDA (TRUE or FALSE).

find_package(PkgConfig REQUIRED)

# The environment counts until a PETSc is found, which is then kept: a later build that configures again, with another
# environment, stays with its PETSc.
if(NOT PETSC_DIR AND DEFINED ENV{PETSC_DIR} AND NOT COMPOUND_PETSC_IS_CHOSEN)
  set(PETSC_DIR "$ENV{PETSC_DIR}")
  set(PETSC_ARCH "$ENV{PETSC_ARCH}")
endif()
if(DEFINED ENV{PETSC_DIR} AND NOT "$ENV{PETSC_DIR}" STREQUAL "${PETSC_DIR}")
  message(STATUS
    "PETSC_DIR of the environment ($ENV{PETSC_DIR}) is not used: "
    "this folder was configured without it or for another one; "
    "-DPETSC_DIR=$ENV{PETSC_DIR} changes that")
endif()
if(PETSC_DIR)
  set(petsc_folders "${PETSC_DIR}/${PETSC_ARCH}/lib/pkgconfig" "${PETSC_DIR}/lib/pkgconfig")
else()
  set(petsc_name petsc)
  if(COMPOUND_INDEX EQUAL 64)
    set(petsc_name petsc64)
  endif()
  # petsc3.18, but petsc64-3.18
  set(petsc_pattern "/usr/lib/petscdir/${petsc_name}-3.*/*-${COMPOUND_SCALAR}/lib/pkgconfig")
  if(petsc_name STREQUAL petsc)
    set(petsc_pattern "/usr/lib/petscdir/petsc3.*/*-${COMPOUND_SCALAR}/lib/pkgconfig")
  endif()
  file(GLOB petsc_folders "${petsc_pattern}")
  if(NOT petsc_folders)
    message(FATAL_ERROR
      "No system PETSc with ${COMPOUND_SCALAR} scalars and ${COMPOUND_INDEX}-bit indices: nothing is at "
      "${petsc_pattern}. Install lib${petsc_name}-${COMPOUND_SCALAR}-dev, or set PETSC_DIR (and PETSC_ARCH).")
  endif()
endif()

# Only the chosen folder may answer: the system's default PETSc must not slip in.
string(JOIN ":" petsc_path ${petsc_folders})
set(ENV{PKG_CONFIG_PATH} "${petsc_path}")
set(ENV{PKG_CONFIG_LIBDIR} "${petsc_path}")
unset(PETSC_PC_FOUND CACHE)
pkg_check_modules(PETSC_PC QUIET IMPORTED_TARGET GLOBAL PETSc)
if(NOT PETSC_PC_FOUND)
  pkg_check_modules(PETSC_PC QUIET IMPORTED_TARGET GLOBAL petsc)
endif()
if(NOT PETSC_PC_FOUND)
  message(FATAL_ERROR "No PETSc.pc in ${petsc_path}. Check PETSC_DIR='${PETSC_DIR}' and PETSC_ARCH='${PETSC_ARCH}'.")
endif()
add_library(PETSc::petsc INTERFACE IMPORTED GLOBAL)
target_link_libraries(PETSc::petsc INTERFACE PkgConfig::PETSC_PC MPI::MPI_C)

set(PETSC_VERSION "${PETSC_PC_VERSION}")
if(PETSC_VERSION VERSION_LESS 3.18)
  message(FATAL_ERROR "PETSc ${PETSC_VERSION} is too old: 3.18 to 3.26 are supported.")
endif()
find_file(petscconf_h petscconf.h PATHS ${PETSC_PC_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE REQUIRED)
file(STRINGS "${petscconf_h}" petsc_conf REGEX "^#define PETSC_")
set(PETSC_SCALAR real)
set(PETSC_INDEX 32)
set(PETSC_CUDA FALSE)
if(petsc_conf MATCHES "PETSC_USE_COMPLEX ")
  set(PETSC_SCALAR complex)
endif()
if(petsc_conf MATCHES "PETSC_USE_64BIT_INDICES ")
  set(PETSC_INDEX 64)
endif()
if(petsc_conf MATCHES "PETSC_HAVE_CUDA ")
  set(PETSC_CUDA TRUE)
endif()
if(petsc_conf MATCHES "PETSC_USE_REAL_(SINGLE|__FLOAT128|___FP16) ")
  message(FATAL_ERROR "PETSc at ${petsc_path} does not use double precision, the only one supported.")
endif()
set(PETSC_DIR "${PETSC_DIR}" CACHE PATH "PETSc to build for; empty: the system's")
set(PETSC_ARCH "${PETSC_ARCH}" CACHE STRING "PETSC_ARCH of PETSC_DIR; empty if that is an installation")
set(COMPOUND_PETSC_IS_CHOSEN ON CACHE INTERNAL "PETSC_DIR has been decided on")
message(STATUS
  "PETSc ${PETSC_VERSION}, ${PETSC_SCALAR}, ${PETSC_INDEX}-bit indices, CUDA: ${PETSC_CUDA} (${petsc_path})")
