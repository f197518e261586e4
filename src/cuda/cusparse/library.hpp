// The functions of cuSPARSE that products need, from the library that opens.
#pragma once

#include <cusparse.h>

#include <string>

namespace compound::cuda {

/// cusparse<t>bsrmv(): of any scalar t, whose pointers are plain here. Not by the header, which may come to drop it.
using cusparse_bsrmv = cusparseStatus_t (*)(cusparseHandle_t, cusparseDirection_t, cusparseOperation_t, int rows,
                                            int columns, int blocks, const void* alpha, cusparseMatDescr_t,
                                            const void* values, const int* start, const int* column, int size,
                                            const void* x, const void* beta, void* y);

struct CusparseLibrary {
  decltype(&::cusparseCreate) create = nullptr;
  decltype(&::cusparseDestroy) destroy = nullptr;
  decltype(&::cusparseSetStream) set_stream = nullptr;
  decltype(&::cusparseGetProperty) property = nullptr;
  decltype(&::cusparseGetErrorName) error_name = nullptr;
  decltype(&::cusparseGetErrorString) error_string = nullptr;
  decltype(&::cusparseCreateCsr) create_csr = nullptr;
  decltype(&::cusparseCreateBsr) create_bsr = nullptr;
  decltype(&::cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&::cusparseCreateDnVec) create_vector = nullptr;
  decltype(&::cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&::cusparseDnVecSetValues) set_values = nullptr;
  decltype(&::cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&::cusparseSpMV_preprocess) preprocess = nullptr;
  decltype(&::cusparseSpMV) multiply = nullptr;
  decltype(&::cusparseCreateMatDescr) create_description = nullptr;
  decltype(&::cusparseDestroyMatDescr) destroy_description = nullptr;
  /// Of float, double, complex float, complex double; null where the library has them no more.
  cusparse_bsrmv older[4] = {};

  bool has_older() const { return older[0] && older[1] && older[2] && older[3]; }
  bool take_from(void* handle);
};

/// Null without cuSPARSE; looked for again then.
const CusparseLibrary* cusparse_if_any();

/// Why there is none: what was tried, and what to do.
std::string why_no_cusparse_opens();

}  // namespace compound::cuda
