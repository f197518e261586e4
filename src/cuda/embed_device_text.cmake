# Writes the files of src/device as text in C++: cmake -DFOLDER=src/device -DOUTPUT=file.cpp -P embed_device_text.cmake
#
# NVRTC looks a header in memory up by the very words of its #include, wherever that stands; so all of them are written
# as paths from src/device.

cmake_minimum_required(VERSION 3.22)

file(GLOB_RECURSE files RELATIVE "${FOLDER}" "${FOLDER}/*.hpp")
list(SORT files)
set(begin "R\"compound_device(")
set(end ")compound_device\"")

set(rows "")
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" text)
  get_filename_component(beside "${FOLDER}/${file}" DIRECTORY)
  string(REGEX MATCHALL "#include \"[^\"\n]+\"" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" header "${include}")
    get_filename_component(header "${beside}/${header}" ABSOLUTE)
    file(RELATIVE_PATH header "${FOLDER}" "${header}")
    if(NOT header IN_LIST files)
      message(FATAL_ERROR "${FOLDER}/${file}: ${include} is none of the files of src/device")
    endif()
    string(REPLACE "${include}" "#include \"${header}\"" text "${text}")
  endforeach()
  string(APPEND rows "    {\"${file}\",\n     ${begin}${text}${end}},\n")
endforeach()

file(WRITE "${OUTPUT}" "// Made by src/cuda/embed_device_text.cmake from src/device.
#include \"cuda/device_text.hpp\"

namespace compound::cuda {

std::span<const DeviceFile> device_text() {
  static constexpr DeviceFile files[] = {
${rows}  };
  return files;
}

}  // namespace compound::cuda
")
