# A folder whose configuration failed, for want of a PETSc or with a wrong PETSC_DIR, takes the PETSC_DIR of the next
# attempt; one that found its PETSc keeps it.
#
# CONFIG: the folder config of the project; PKGCONFIG: that of a PETSc's PETSc.pc; SCRATCH: a folder of this test.
file(REMOVE_RECURSE "${SCRATCH}")
file(WRITE "${SCRATCH}/CMakeLists.txt" "
cmake_minimum_required(VERSION 3.22)
project(chosen LANGUAGES C)
include(\"${CONFIG}/FindPetscByPkgConfig.cmake\")
")
file(MAKE_DIRECTORY "${SCRATCH}/petsc/lib")
file(CREATE_LINK "${PKGCONFIG}" "${SCRATCH}/petsc/lib/pkgconfig" SYMBOLIC)

# configure FOLDER STATUS TEXT: with the PETSC_DIR of the environment; `ok` or `error`, and a text of what is printed.
function(configure folder status text)
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SCRATCH}" -B "${SCRATCH}/${folder}"
    RESULT_VARIABLE result OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  if((result EQUAL 0 AND status STREQUAL "error") OR (NOT result EQUAL 0 AND status STREQUAL "ok"))
    message(FATAL_ERROR "${folder} with PETSC_DIR=$ENV{PETSC_DIR}: status ${result}, not ${status}: ${printed}")
  endif()
  if(NOT printed MATCHES "${text}")
    message(FATAL_ERROR "${folder} with PETSC_DIR=$ENV{PETSC_DIR}: '${text}' is not printed: ${printed}")
  endif()
endfunction()

set(ENV{PETSC_DIR} "${SCRATCH}/nowhere")
configure(build error "No PETSc.pc in")
set(ENV{PETSC_DIR} "${SCRATCH}/petsc")
configure(build ok "-- PETSc 3[^ ]*, [^(]*[(]${SCRATCH}/petsc")
set(ENV{PETSC_DIR} "${SCRATCH}/nowhere")
configure(build ok "is not used")
