// A cuSPARSE of plain loops over host memory, of those functions alone that we call: how we call them is tested without
// a device. It keeps count of what it made, and fails where it is told to.
#include "cuda/fake_cusparse.hpp"

#include <cusparse.h>

#include <complex>
#include <cstdint>

struct cusparseContext {
  cudaStream_t queue;
};
struct cusparseSpMatDescr {
  std::int64_t rows, columns, size;
  const int *start, *column;
  const void* values;
  bool by_row;
  cudaDataType type;
};
struct cusparseDnVecDescr {
  std::int64_t size;
  void* values;
};
struct cusparseMatDescr {
  int unused;
};

namespace {

using compound::test::FakeCusparse;

FakeCusparse state;

cusparseStatus_t status_of(std::string_view call) {
  ++state.calls;
  if (state.failing != call) return CUSPARSE_STATUS_SUCCESS;
  state.failing = {};  // once
  return static_cast<cusparseStatus_t>(state.status);
}

template <class T, class... Members>
cusparseStatus_t made(std::string_view call, T** to, Members... members) {
  const cusparseStatus_t status = status_of(call);
  if (status == CUSPARSE_STATUS_SUCCESS) *to = new T{members...}, ++state.alive;
  return status;
}

template <class T>
cusparseStatus_t destroyed(const T* object) {
  delete object;
  --state.alive;
  return CUSPARSE_STATUS_SUCCESS;
}

/// y = alpha A x + beta y; y is not read where beta is 0.
template <class T>
void multiply(const cusparseSpMatDescr& A, const void* alpha, const void* x, const void* beta, void* y) {
  const T a = *static_cast<const T*>(alpha), b = *static_cast<const T*>(beta);
  for (std::int64_t i = 0; i < A.rows * A.size; ++i) {
    T sum = 0;
    for (int e = A.start[i / A.size]; e < A.start[i / A.size + 1]; ++e)
      for (std::int64_t j = 0; j < A.size; ++j) {
        const std::int64_t r = i % A.size, at = A.by_row ? r * A.size + j : j * A.size + r;
        sum += static_cast<const T*>(A.values)[e * A.size * A.size + at] *
               static_cast<const T*>(x)[A.column[e] * A.size + j];
      }
    T& to = static_cast<T*>(y)[i];
    to = b == T(0) ? a * sum : a * sum + b * to;
  }
}

void multiply_any(const cusparseSpMatDescr& A, const void* alpha, const void* x, const void* beta, void* y) {
  if (A.type == CUDA_R_32F) multiply<float>(A, alpha, x, beta, y);
  if (A.type == CUDA_R_64F) multiply<double>(A, alpha, x, beta, y);
  if (A.type == CUDA_C_32F) multiply<std::complex<float>>(A, alpha, x, beta, y);
  if (A.type == CUDA_C_64F) multiply<std::complex<double>>(A, alpha, x, beta, y);
}

/// What a product of the library is asked: in 32 bits, from 0, not transposed, of vectors as long as the matrix.
cusparseStatus_t checked(const cusparseSpMatDescr* A, cusparseOperation_t op, const cusparseDnVecDescr* x,
                         const cusparseDnVecDescr* y, cudaDataType type) {
  const bool fits = op == CUSPARSE_OPERATION_NON_TRANSPOSE && type == A->type && x->size == A->columns * A->size &&
                    y->size == A->rows * A->size;
  return fits ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

template <cudaDataType type, class T>
cusparseStatus_t older(cusparseDirection_t direction, cusparseOperation_t op, int rows, int columns, const T* alpha,
                       const T* values, const int* start, const int* column, int size, const T* x, const T* beta,
                       T* y) {
  const cusparseStatus_t status = status_of("cusparse<t>bsrmv");
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) return CUSPARSE_STATUS_INVALID_VALUE;
  const cusparseSpMatDescr A{rows, columns, size, start, column, values, direction == CUSPARSE_DIRECTION_ROW, type};
  multiply_any(A, alpha, x, beta, y);
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

FakeCusparse* fake_cusparse_state() { return &state; }

cusparseStatus_t cusparseCreate(cusparseHandle_t* h) { return made("cusparseCreate", h, cudaStream_t{}); }
cusparseStatus_t cusparseDestroy(cusparseHandle_t h) { return destroyed(h); }
cusparseStatus_t cusparseSetStream(cusparseHandle_t h, cudaStream_t queue) {
  h->queue = queue;
  return status_of("cusparseSetStream");
}
cusparseStatus_t cusparseGetProperty(libraryPropertyType part, int* value) {
  *value = part == MAJOR_VERSION ? 12 : 0;
  return CUSPARSE_STATUS_SUCCESS;
}
const char* cusparseGetErrorName(cusparseStatus_t) { return "CUSPARSE_STATUS_OF_TEST"; }
const char* cusparseGetErrorString(cusparseStatus_t) { return "a test wants it to"; }

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* to, std::int64_t rows, std::int64_t columns, std::int64_t,
                                   void* start, void* column, void* values, cusparseIndexType_t starts,
                                   cusparseIndexType_t indices, cusparseIndexBase_t base, cudaDataType type) {
  if (starts != CUSPARSE_INDEX_32I || indices != CUSPARSE_INDEX_32I || base != CUSPARSE_INDEX_BASE_ZERO)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return made("cusparseCreateCsr", to, rows, columns, std::int64_t{1}, static_cast<const int*>(start),
              static_cast<const int*>(column), static_cast<const void*>(values), true, type);
}
cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* to, std::int64_t rows, std::int64_t columns, std::int64_t,
                                   std::int64_t block_rows, std::int64_t block_columns, void* start, void* column,
                                   void* values, cusparseIndexType_t starts, cusparseIndexType_t indices,
                                   cusparseIndexBase_t base, cudaDataType type, cusparseOrder_t order) {
  if (starts != CUSPARSE_INDEX_32I || indices != CUSPARSE_INDEX_32I || base != CUSPARSE_INDEX_BASE_ZERO ||
      block_rows != block_columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return made("cusparseCreateBsr", to, rows, columns, block_rows, static_cast<const int*>(start),
              static_cast<const int*>(column), static_cast<const void*>(values), order == CUSPARSE_ORDER_ROW, type);
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m) { return destroyed(m); }
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* to, std::int64_t size, void* values, cudaDataType) {
  return made("cusparseCreateDnVec", to, size, values);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t v) { return destroyed(v); }
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t v, void* values) {
  v->values = values;
  return status_of("cusparseDnVecSetValues");
}
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t op, const void*,
                                         cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void*,
                                         cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t,
                                         std::size_t* bytes) {
  *bytes = 0;  // there is no device to have more
  const cusparseStatus_t status = status_of("cusparseSpMV_bufferSize");
  return status == CUSPARSE_STATUS_SUCCESS ? checked(A, op, x, y, type) : status;
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t, cusparseOperation_t op, const void*,
                                         cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x, const void*,
                                         cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t, void*) {
  ++state.preparations;
  const cusparseStatus_t status = status_of("cusparseSpMV_preprocess");
  return status == CUSPARSE_STATUS_SUCCESS ? checked(A, op, x, y, type) : status;
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t, cusparseOperation_t op, const void* alpha, cusparseConstSpMatDescr_t A,
                              cusparseConstDnVecDescr_t x, const void* beta, cusparseDnVecDescr_t y, cudaDataType type,
                              cusparseSpMVAlg_t algorithm, void*) {
  state.algorithm = static_cast<int>(algorithm);
  cusparseStatus_t status = status_of("cusparseSpMV");
  if (status == CUSPARSE_STATUS_SUCCESS) status = checked(A, op, x, y, type);
  if (status == CUSPARSE_STATUS_SUCCESS) multiply_any(*A, alpha, x->values, beta, y->values);
  return status;
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* to) { return made("cusparseCreateMatDescr", to, 0); }
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t d) { return destroyed(d); }

cusparseStatus_t cusparseSbsrmv(cusparseHandle_t, cusparseDirection_t direction, cusparseOperation_t op, int rows,
                                int columns, int, const float* alpha, cusparseMatDescr_t, const float* values,
                                const int* start, const int* column, int size, const float* x, const float* beta,
                                float* y) {
  return older<CUDA_R_32F>(direction, op, rows, columns, alpha, values, start, column, size, x, beta, y);
}
cusparseStatus_t cusparseDbsrmv(cusparseHandle_t, cusparseDirection_t direction, cusparseOperation_t op, int rows,
                                int columns, int, const double* alpha, cusparseMatDescr_t, const double* values,
                                const int* start, const int* column, int size, const double* x, const double* beta,
                                double* y) {
  return older<CUDA_R_64F>(direction, op, rows, columns, alpha, values, start, column, size, x, beta, y);
}
cusparseStatus_t cusparseCbsrmv(cusparseHandle_t, cusparseDirection_t direction, cusparseOperation_t op, int rows,
                                int columns, int, const cuComplex* alpha, cusparseMatDescr_t, const cuComplex* values,
                                const int* start, const int* column, int size, const cuComplex* x,
                                const cuComplex* beta, cuComplex* y) {
  return older<CUDA_C_32F>(direction, op, rows, columns, alpha, values, start, column, size, x, beta, y);
}
cusparseStatus_t cusparseZbsrmv(cusparseHandle_t, cusparseDirection_t direction, cusparseOperation_t op, int rows,
                                int columns, int, const cuDoubleComplex* alpha, cusparseMatDescr_t,
                                const cuDoubleComplex* values, const int* start, const int* column, int size,
                                const cuDoubleComplex* x, const cuDoubleComplex* beta, cuDoubleComplex* y) {
  return older<CUDA_C_64F>(direction, op, rows, columns, alpha, values, start, column, size, x, beta, y);
}

}  // extern "C"
