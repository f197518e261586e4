# The target compound_core from the build in COMPOUND_CORE, which must have been configured as this one is.

if(NOT EXISTS "${COMPOUND_CORE}/compound_core.cmake")
  message(FATAL_ERROR
    "COMPOUND_CORE: '${COMPOUND_CORE}' is no build folder of this project (compound_core.cmake is not there). "
    "Give one that was built, or leave it empty: the core is then built here.")
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" core_configuration)
set(core_settings
  CMAKE_HOME_DIRECTORY CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS COMPOUND_CUDA_INCLUDE COMPOUND_SANITIZED)
load_cache("${COMPOUND_CORE}" READ_WITH_PREFIX core_ ${core_settings})
foreach(setting IN LISTS core_settings)
  if(NOT "${core_${setting}}" STREQUAL "${${setting}}")
    message(FATAL_ERROR "COMPOUND_CORE: ${COMPOUND_CORE} was built with ${setting}='${core_${setting}}', here it is "
      "'${${setting}}'. Build both with the same, or leave COMPOUND_CORE empty.")
  endif()
endforeach()
find_package(ZLIB QUIET)  # for machine code that may be built in there
include("${COMPOUND_CORE}/compound_core.cmake")
# Built again when its sources change, as if they were this build's own.
set(core_targets compound_core)
if(TARGET compound_device_code)
  list(APPEND core_targets compound_device_code)
endif()
set(core_libraries "")
foreach(target IN LISTS core_targets)
  get_target_property(library ${target} IMPORTED_LOCATION_${core_configuration})
  list(APPEND core_libraries "${library}")
endforeach()
add_custom_target(compound_core_there COMMAND "${CMAKE_COMMAND}" --build "${COMPOUND_CORE}" --target ${core_targets}
  BYPRODUCTS ${core_libraries} COMMENT "The core in ${COMPOUND_CORE}" VERBATIM)
foreach(target IN LISTS core_targets)
  add_dependencies(${target} compound_core_there)
  set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
endforeach()
