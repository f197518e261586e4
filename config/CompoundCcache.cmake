# Builds with tests keep compilers' answers where ccache is installed. CCACHE_DEPEND: it compares the text of all
# headers. Else it goes by what the preprocessor prints, without comments, and takes a precompiled header from before a
# comment of it was changed, for which #pragma once fails. CCACHE_SLOPPINESS: precompiled headers need it.
find_program(COMPOUND_CCACHE ccache)
mark_as_advanced(COMPOUND_CCACHE)
if(COMPOUND_CCACHE AND COMPOUND_TESTS STREQUAL "ON")
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${COMPOUND_CCACHE}")
    endif()
  endforeach()
endif()
