# COMPOUND_DEVICE_CODE: whether the machine code of the default plans' kernels is made when the library is built, by
# NVRTC, and is part of it: first runs then compile nothing, and need no NVRTC.
#
# After CompoundCuda and, where there is one, FindPetscByPkgConfig. Sets COMPOUND_HAVE_DEVICE_CODE.

set(COMPOUND_DEVICE_CODE "AUTO" CACHE STRING
  "Build machine code of the default plans in: ON, OFF, AUTO (for a PETSc with CUDA or named scalars)")
set_property(CACHE COMPOUND_DEVICE_CODE PROPERTY STRINGS AUTO ON OFF)
set(COMPOUND_DEVICE_CODE_CAPABILITIES "80;90;100" CACHE STRING
  "Compute capabilities that machine code is built in for; newer devices of the same major number run it too")
set(COMPOUND_DEVICE_CODE_SCALARS ""
  CACHE STRING "Scalars that machine code is built in for: real, complex; empty: PETSc's")
set(compound_store "${PROJECT_BINARY_DIR}/device_code")
if(DEFINED ENV{COMPOUND_DEVICE_CODE_STORE})
  set(compound_store "$ENV{COMPOUND_DEVICE_CODE_STORE}")
endif()
set(COMPOUND_DEVICE_CODE_STORE "${compound_store}" CACHE PATH
  "Folder that keeps the machine code that builds have made, so that several build folders make it once")

# compound_find_nvrtc(PROBLEM): COMPOUND_NVRTC_LIBRARY and compound_capabilities, those of the list that it knows.
function(compound_find_nvrtc result)
  get_filename_component(toolkit "${COMPOUND_CUDART}" DIRECTORY)
  find_library(COMPOUND_NVRTC_LIBRARY NAMES libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so nvrtc
    HINTS "${toolkit}" ${compound_cuda_places} lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib
    DOC "NVRTC, for machine code that is built in")
  mark_as_advanced(COMPOUND_NVRTC_LIBRARY)
  set(known "")
  if(NOT COMPOUND_NVRTC_LIBRARY)
    set(${result} "libnvrtc was not found" PARENT_SCOPE)
    return()
  endif()
  if(NOT "${COMPOUND_NVRTC_KNOWS}" MATCHES "^${COMPOUND_NVRTC_LIBRARY}:")  # asked once
    try_run(status compiled "${PROJECT_BINARY_DIR}/nvrtc_knows" "${PROJECT_SOURCE_DIR}/config/nvrtc_knows.c"
      LINK_LIBRARIES ${CMAKE_DL_LIBS} RUN_OUTPUT_VARIABLE printed ARGS "\"${COMPOUND_NVRTC_LIBRARY}\"")
    string(STRIP "${printed}" printed)
    if(NOT compiled OR NOT status EQUAL 0)
      set(${result} "${COMPOUND_NVRTC_LIBRARY} does not work (${printed})" PARENT_SCOPE)
      return()
    endif()
    set(COMPOUND_NVRTC_KNOWS "${COMPOUND_NVRTC_LIBRARY}:${printed}" CACHE INTERNAL "Capabilities that NVRTC knows")
  endif()
  string(REGEX REPLACE "^.*:" "" known "${COMPOUND_NVRTC_KNOWS}")
  separate_arguments(known)
  set(all ${COMPOUND_DEVICE_CODE_CAPABILITIES})
  set(unknown ${all})
  list(REMOVE_ITEM unknown ${known})
  if(unknown)
    list(REMOVE_ITEM all ${unknown})
    message(STATUS
      "Device code: none for capability ${unknown}, which ${COMPOUND_NVRTC_LIBRARY} does not know (it knows ${known})")
  endif()
  set(compound_capabilities "${all}" PARENT_SCOPE)
  set(${result} "" PARENT_SCOPE)
  if(NOT all)
    set(${result} "COMPOUND_DEVICE_CODE_CAPABILITIES has no capability that NVRTC knows" PARENT_SCOPE)
  endif()
endfunction()

# compound_device_code_problem(PROBLEM): why there can be none; empty if there can.
function(compound_device_code_problem result)
  set(problem "")
  find_package(ZLIB QUIET)
  if(NOT COMPOUND_HAVE_CUDA)
    set(problem "the CUDA backend is not built")
  elseif(COMPOUND_DEVICE_CODE STREQUAL "AUTO"
    AND DEFINED PETSC_CUDA AND NOT PETSC_CUDA AND NOT COMPOUND_DEVICE_CODE_SCALARS)
    set(problem "this PETSc has no CUDA")
  elseif(COMPOUND_DEVICE_CODE STREQUAL "AUTO" AND COMPOUND_SANITIZED)
    set(problem "this is a build with sanitizers")
  elseif(NOT ZLIB_FOUND)
    set(problem "zlib (zlib1g-dev) was not found")
  else()
    compound_find_nvrtc(problem)
    set(compound_capabilities "${compound_capabilities}" PARENT_SCOPE)
  endif()
  set(${result} "${problem}" PARENT_SCOPE)
endfunction()

set(COMPOUND_HAVE_DEVICE_CODE FALSE)
if(COMPOUND_CORE)
  message(STATUS "Device code: that of the core in ${COMPOUND_CORE}")
elseif(COMPOUND_DEVICE_CODE)
  compound_device_code_problem(problem)
  set(compound_scalars ${COMPOUND_DEVICE_CODE_SCALARS})
  if(NOT compound_scalars)
    set(compound_scalars real complex)
    if(DEFINED PETSC_SCALAR)
      set(compound_scalars ${PETSC_SCALAR})
    endif()
  endif()
  if(NOT problem)
    set(COMPOUND_HAVE_DEVICE_CODE TRUE)
    string(REPLACE ";" ", " text "${compound_capabilities}, ${compound_scalars}")
    message(STATUS
      "Device code: built in for ${text} (${COMPOUND_NVRTC_LIBRARY}; kept in ${COMPOUND_DEVICE_CODE_STORE})")
  elseif(COMPOUND_DEVICE_CODE STREQUAL "AUTO")
    message(STATUS "Device code: not built in: ${problem}; kernels are compiled when they are first used")
  else()
    message(FATAL_ERROR "COMPOUND_DEVICE_CODE is ${COMPOUND_DEVICE_CODE}, but ${problem}.")
  endif()
endif()

# compound_add_device_code(CORE PROGRAM): what links the static library CORE gets machine code, made by a program of
# CORE's own sources and PROGRAM, in shares that are made side by side.
function(compound_add_device_code core program)
  add_executable(compound_device_code_maker "${program}")
  # By path: what CORE passes on to others is what this program makes.
  target_link_libraries(compound_device_code_maker PRIVATE "$<TARGET_FILE:${core}>" compound_cudart ZLIB::ZLIB)
  target_include_directories(compound_device_code_maker
    PRIVATE "$<TARGET_PROPERTY:${core},INTERFACE_INCLUDE_DIRECTORIES>")
  add_dependencies(compound_device_code_maker ${core})
  compound_warnings(compound_device_code_maker)
  set(shares 16)
  math(EXPR last "${shares} - 1")
  set(archives "")
  set(assembly "")
  set(table "")
  foreach(scalar IN LISTS compound_scalars)
    foreach(capability IN LISTS compound_capabilities)
      foreach(share RANGE ${last})
        set(name "code_${scalar}_${capability}_${share}")
        set(archive "${CMAKE_CURRENT_BINARY_DIR}/device_code/${name}.bin")
        add_custom_command(OUTPUT "${archive}" DEPENDS compound_device_code_maker VERBATIM
          COMMENT "Machine code of default plans: ${scalar}, capability ${capability}, share ${share} of ${shares}"
          COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/device_code"
          COMMAND "${CMAKE_COMMAND}" -E env "COMPOUND_CUDA_CACHE=${COMPOUND_DEVICE_CODE_STORE}"
          "COMPOUND_NVRTC=${COMPOUND_NVRTC_LIBRARY}"
            $<TARGET_FILE:compound_device_code_maker> "${archive}" ${scalar} ${capability} ${share} ${shares})
        list(APPEND archives "${archive}")
        string(APPEND assembly "    \".balign 16\\n${name}: .incbin \\\"${archive}\\\"\\n${name}_end:\\n\"\n")
        string(APPEND externs "extern __attribute__((visibility(\"hidden\"))) const char ${name}[], ${name}_end[];\n")
        string(APPEND table "      {${name}, ${name}_end},\n")
      endforeach()
    endforeach()
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/device_code/device_code.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [[
// Made by config/CompoundDeviceCode.cmake.
#include "cuda/code_archive.hpp"

asm(".section .rodata\n"
@assembly@    ".previous\n");
extern "C" {
@externs@}

namespace compound::cuda {

std::span<const std::string_view> device_code() {
  static const std::string_view archives[] = {
@table@  };
  return archives;
}

}  // namespace compound::cuda
]])
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${archives}")
  add_library(compound_device_code STATIC "${source}")
  # ccache knows nothing of files that the assembler reads, and would give an object with other code.
  set_target_properties(compound_device_code PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_include_directories(compound_device_code PRIVATE "$<TARGET_PROPERTY:${core},INTERFACE_INCLUDE_DIRECTORIES>")
  target_link_libraries(${core} PUBLIC ZLIB::ZLIB INTERFACE compound_device_code)
endfunction()
