#include "cuda/cusparse/library.hpp"

#include "cuda/shared_library.hpp"

namespace compound::cuda {

namespace {

/// Its number does not follow the toolkit's: CUDA 12 and 13 both have 12.
std::vector<std::string> names() {
  constexpr const char* known[] = {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so"};
  return library_names("COMPOUND_CUSPARSE", known);
}

}  // namespace

bool CusparseLibrary::take_from(void* handle) {
  constexpr const char* older_names[] = {"cusparseSbsrmv", "cusparseDbsrmv", "cusparseCbsrmv", "cusparseZbsrmv"};
  for (int scalar = 0; scalar < 4; ++scalar) (void)take(handle, older[scalar], older_names[scalar]);
  return take(handle, create, "cusparseCreate") && take(handle, destroy, "cusparseDestroy") &&
         take(handle, set_stream, "cusparseSetStream") && take(handle, property, "cusparseGetProperty") &&
         take(handle, error_name, "cusparseGetErrorName") && take(handle, error_string, "cusparseGetErrorString") &&
         take(handle, create_csr, "cusparseCreateCsr") && take(handle, create_bsr, "cusparseCreateBsr") &&
         take(handle, destroy_matrix, "cusparseDestroySpMat") && take(handle, create_vector, "cusparseCreateDnVec") &&
         take(handle, destroy_vector, "cusparseDestroyDnVec") && take(handle, set_values, "cusparseDnVecSetValues") &&
         take(handle, buffer_size, "cusparseSpMV_bufferSize") && take(handle, preprocess, "cusparseSpMV_preprocess") &&
         take(handle, multiply, "cusparseSpMV") && take(handle, create_description, "cusparseCreateMatDescr") &&
         take(handle, destroy_description, "cusparseDestroyMatDescr");
}

const CusparseLibrary* cusparse_if_any() { return library_if_any<CusparseLibrary>(names); }

std::string why_no_cusparse_opens() {
  return "products of cuSPARSE need that library, of CUDA 12.8 or newer, and none of these opens: " + listed(names()) +
         "; install it, or name its folder in LD_LIBRARY_PATH (or the library in COMPOUND_CUSPARSE)";
}

}  // namespace compound::cuda
