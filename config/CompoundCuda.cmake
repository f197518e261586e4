# COMPOUND_CUDA: whether the CUDA backend is built. It needs a toolkit's headers and static runtime, no nvcc: kernels
# are compiled by NVRTC when they are used.
#
# Sets COMPOUND_HAVE_CUDA, and then makes the target compound_cudart.

set(COMPOUND_CUDA "AUTO"
  CACHE STRING "Build the CUDA backend: ON (a toolkit must be there), OFF, AUTO (if one is there)")
set_property(CACHE COMPOUND_CUDA PROPERTY STRINGS AUTO ON OFF)
set(compound_cuda_oldest 12.8)

# Where parts of a toolkit are looked for; a folder in it follows.
set(compound_cuda_places
  HINTS ${CUDAToolkit_ROOT} ENV CUDAToolkit_ROOT ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES)

# compound_find_cuda(PROBLEM): the cache variables below; PROBLEM says why there is no usable toolkit, or is empty.
function(compound_find_cuda result)
  find_path(COMPOUND_CUDA_INCLUDE cuda_runtime_api.h ${compound_cuda_places} include
    targets/x86_64-linux/include targets/sbsa-linux/include DOC "Folder of CUDA's headers")
  find_library(COMPOUND_CUDART libcudart_static.a ${compound_cuda_places} lib64 lib
    targets/x86_64-linux/lib targets/sbsa-linux/lib DOC "CUDA's static runtime library")
  mark_as_advanced(COMPOUND_CUDA_INCLUDE COMPOUND_CUDART)
  if(NOT COMPOUND_CUDA_INCLUDE)
    set(${result} "cuda_runtime_api.h was not found" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS "${COMPOUND_CUDA_INCLUDE}/cuda_runtime_api.h" line REGEX "^#define CUDART_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  math(EXPR major "${number} / 1000")
  math(EXPR minor "${number} % 1000 / 10")
  set(COMPOUND_CUDA_VERSION "${major}.${minor}" PARENT_SCOPE)
  if("${major}.${minor}" VERSION_LESS compound_cuda_oldest)
    set(${result} "${COMPOUND_CUDA_INCLUDE} is of CUDA ${major}.${minor}" PARENT_SCOPE)
  elseif(NOT EXISTS "${COMPOUND_CUDA_INCLUDE}/nvrtc.h")
    set(${result} "${COMPOUND_CUDA_INCLUDE} has no nvrtc.h" PARENT_SCOPE)
  elseif(NOT COMPOUND_CUDART)
    set(${result} "${COMPOUND_CUDA_INCLUDE} is there, but libcudart_static.a was not found" PARENT_SCOPE)
  else()
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

set(COMPOUND_HAVE_CUDA FALSE)
if(COMPOUND_CUDA)
  compound_find_cuda(compound_cuda_problem)
  set(compound_cuda_needed
    "the CUDA backend needs a CUDA toolkit of ${compound_cuda_oldest} or newer with NVRTC's header and \
libcudart_static.a; say where it is by -DCUDAToolkit_ROOT=FOLDER")
  if(NOT compound_cuda_problem)
    set(COMPOUND_HAVE_CUDA TRUE)
    message(STATUS "CUDA backend: built with CUDA ${COMPOUND_CUDA_VERSION} (${COMPOUND_CUDA_INCLUDE})")
  elseif(COMPOUND_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA backend: not built: ${compound_cuda_problem}; ${compound_cuda_needed}")
  else()
    message(FATAL_ERROR "COMPOUND_CUDA is ${COMPOUND_CUDA}, but ${compound_cuda_problem}; ${compound_cuda_needed}.")
  endif()
endif()

if(COMPOUND_HAVE_CUDA)
  find_package(Threads REQUIRED)
  add_library(compound_cudart INTERFACE IMPORTED GLOBAL)
  # Neither libcuda nor libnvrtc: what is built loads on machines without either.
  target_link_libraries(compound_cudart INTERFACE "${COMPOUND_CUDART}" Threads::Threads ${CMAKE_DL_LIBS} rt)
  target_include_directories(compound_cudart INTERFACE "${COMPOUND_CUDA_INCLUDE}")
endif()
