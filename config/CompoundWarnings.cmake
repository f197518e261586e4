# compound_warnings(target [TOGETHER]): the warnings every target of this project is built with. TOGETHER: with
# COMPOUND_UNITY several of its files are compiled at once, where a local name hides nothing that a file before has.
function(compound_warnings target)
  set(shadow -Wshadow)
  if(TOGETHER IN_LIST ARGN AND COMPOUND_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    set(shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra ${shadow} -Wno-unknown-pragmas)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false alarm on "text" + std::string, GCC bug 105651
  endif()
endfunction()
