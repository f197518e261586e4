# compound_warnings(target): the warnings every target of this project is built with.
function(compound_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wno-unknown-pragmas)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false alarm on "text" + std::string, GCC bug 105651
  endif()
endfunction()
