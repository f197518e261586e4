// Packed matrices as cuSPARSE has them.
#include <atomic>
#include <complex>
#include <limits>
#include <memory>
#include <new>

#include "base/error.hpp"
#include "cuda/cusparse.hpp"
#include "cuda/cusparse/library.hpp"
#include "cuda/runtime.hpp"
#include "device/layout/compressed_rows.hpp"

namespace compound::cuda {

namespace {

std::atomic<int> products_made = 0;

void must(const CusparseLibrary& library, cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  (void)cudaGetLastError();  // it is told here
  if (status == CUSPARSE_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  throw error(ErrorKind::device, "cuSPARSE " + cusparse_version().value_or("") + ": " + call + "() returned " +
                                     library.error_name(status) + " (" + library.error_string(status) +
                                     "); name another plan than one of cusparse: (-mat_compound_plan), or leave "
                                     "cuSPARSE out of tuning (-mat_compound_tune_libraries none)");
}

/// What one function of the library makes and another destroys.
template <class T>
class Owned {
 public:
  using Destroy = cusparseStatus_t (*)(T);
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() { clear(); }
  operator T() const { return raw_; }
  /// To be filled by the library.
  T* renewed(Destroy destroy) {
    clear();
    destroy_ = destroy;
    return &raw_;
  }
  void clear() {
    if (raw_) (void)destroy_(raw_);
    raw_ = nullptr;
  }

 private:
  T raw_ = nullptr;
  Destroy destroy_ = nullptr;
};

/// 1 and 0 as the library takes them, by their address: the real ones lie first in the complex ones.
struct Numbers {
  std::complex<double> wide;
  std::complex<float> narrow;
  const void* of(Precision precision) const {
    return precision == Precision::single ? static_cast<const void*>(&narrow) : &wide;
  }
};
constexpr Numbers one{{1, 0}, {1, 0}}, zero{};

/// That of BSR is the one which is promised to repeat its bits; headers before CUDA 13 have no name for it.
cusparseSpMVAlg_t algorithm_of(const LibraryProduct& product) {
  constexpr auto of_blocks = static_cast<cusparseSpMVAlg_t>(6);  // CUSPARSE_SPMV_BSR_ALG1
  if (product.form == LibraryForm::blocks) return of_blocks;
  return product.call == LibraryCall::second ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_ALG_DEFAULT;
}

/// Which arrays the library was told of.
struct Arrays {
  const void *start = nullptr, *column = nullptr, *values = nullptr;
  idx rows = 0, cols = 0;
  slot_t blocks = 0;
  bool operator==(const Arrays&) const = default;
};

Arrays arrays_of(const ProductTask& t) {
  using arrays = compressed_rows_arrays;
  return {t.layout.array[arrays::start], t.layout.array[arrays::columns], t.values, t.rows, t.cols, t.layout.slots};
}

/// In the library's scalars, which in a real matrix of complex entries are pairs of the problem's.
struct Form {
  Form(const Plan& plan, const Problem& problem)
      : precision(problem.scalar.precision),
        is_complex(problem.scalar.field == Field::complex || plan.entry == "complex"),
        size(plan.entry == "dense" ? problem.block.rows : 1) {}
  cudaDataType type() const {
    constexpr cudaDataType types[2][2] = {{CUDA_R_32F, CUDA_R_64F}, {CUDA_C_32F, CUDA_C_64F}};
    return types[is_complex][precision == Precision::double_];
  }
  /// Its place among CusparseLibrary::older.
  int place() const { return 2 * is_complex + (precision == Precision::double_); }
  Precision precision;
  bool is_complex;
  int size;  ///< of a block
};

class Matrix : public CusparseMatrix {
 public:
  Matrix(const LibraryProduct& product, const Plan& plan, const Problem& problem)
      : library_(*cusparse_if_any()), product_(product), form_(plan, problem) {}

  void multiply(const ProductTask& t, cudaStream_t queue) override {
    prepare(t, queue);
    if (t.update == Update::add && t.z != t.y)
      check(cudaMemcpyAsync(t.y, t.z, bytes_of_y(t), cudaMemcpyDeviceToDevice, queue), "copying within the device");
    product(t, (t.update == Update::add ? one : zero).of(form_.precision));
    ++products_made;
  }

 protected:
  /// Of arrays that the library was not told of yet.
  virtual void describe(const ProductTask& t) = 0;
  virtual void product(const ProductTask& t, const void* beta) = 0;

  void must(cusparseStatus_t status, const char* call) const { cuda::must(library_, status, call); }
  const void* alpha() const { return one.of(form_.precision); }
  bool is_by_row() const { return product_.order == WordOrder::row; }

  const CusparseLibrary& library_;
  const LibraryProduct& product_;
  const Form form_;
  Owned<cusparseHandle_t> handle_;
  Arrays arrays_;

 private:
  void prepare(const ProductTask& t, cudaStream_t queue) {
    if (!handle_) must(library_.create(handle_.renewed(library_.destroy)), "cusparseCreate");
    if (!has_queue_ || queue != queue_) {
      must(library_.set_stream(handle_, queue), "cusparseSetStream");
      queue_ = queue;
      has_queue_ = true;
    }
    const Arrays arrays = arrays_of(t);
    if (arrays == arrays_) return;
    if (arrays.blocks > static_cast<slot_t>(std::numeric_limits<int>::max()))
      throw error(ErrorKind::too_large, std::string(product_.word) + " counts up to 2^31 blocks, the matrix has " +
                                            std::to_string(arrays.blocks) + "; take the kernels of this plugin (csr)");
    arrays_ = {};
    describe(t);
    arrays_ = arrays;
  }

  cudaStream_t queue_ = nullptr;
  bool has_queue_ = false;
};

/// cusparseSpMV() after cusparseSpMV_preprocess(), which looks at the pattern alone: values and vectors may be others
/// in each product.
class Generic final : public Matrix {
 public:
  using Matrix::Matrix;
  std::size_t bytes() const override { return work_bytes_; }

 protected:
  void describe(const ProductTask& t) override {
    make_matrix(arrays_of(t));
    const auto make_vector = [&](Owned<cusparseDnVecDescr_t>& vector, idx blocks, const void* values) {
      must(library_.create_vector(
               vector.renewed([](cusparseDnVecDescr_t v) { return cusparse_if_any()->destroy_vector(v); }),
               std::int64_t{blocks} * form_.size, const_cast<void*>(values), form_.type()),
           "cusparseCreateDnVec");
    };
    make_vector(x_, t.cols, t.x);
    make_vector(y_, t.rows, t.y);
    std::size_t bytes = 0;
    must(call(library_.buffer_size, one.of(form_.precision), &bytes), "cusparseSpMV_bufferSize");
    grow(bytes);
    const cusparseStatus_t status = call(library_.preprocess, one.of(form_.precision), work_.get());
    if (status != CUSPARSE_STATUS_NOT_SUPPORTED) must(status, "cusparseSpMV_preprocess");  // it is no need
  }

  void product(const ProductTask& t, const void* beta) override {
    must(library_.set_values(x_, const_cast<void*>(t.x)), "cusparseDnVecSetValues");
    must(library_.set_values(y_, t.y), "cusparseDnVecSetValues");
    must(call(library_.multiply, beta, work_.get()), "cusparseSpMV");
  }

 private:
  void make_matrix(const Arrays& a) {
    constexpr auto wide = CUSPARSE_INDEX_32I;
    constexpr auto base = CUSPARSE_INDEX_BASE_ZERO;
    const auto plain = [](const void* array) { return const_cast<void*>(array); };
    cusparseSpMatDescr_t* const to =
        matrix_.renewed([](cusparseSpMatDescr_t m) { return cusparse_if_any()->destroy_matrix(m); });
    const auto blocks = static_cast<std::int64_t>(a.blocks);
    if (product_.form == LibraryForm::scalars)
      must(library_.create_csr(to, a.rows, a.cols, blocks, plain(a.start), plain(a.column), plain(a.values), wide, wide,
                               base, form_.type()),
           "cusparseCreateCsr");
    else
      must(library_.create_bsr(to, a.rows, a.cols, blocks, form_.size, form_.size, plain(a.start), plain(a.column),
                               plain(a.values), wide, wide, base, form_.type(),
                               is_by_row() ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
           "cusparseCreateBsr");
  }

  /// The three that cusparseSpMV() is, which differ in the last argument.
  template <class Function, class Last>
  cusparseStatus_t call(Function function, const void* beta, Last last) const {
    return function(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha(), matrix_, x_, beta, y_, form_.type(),
                    algorithm_of(product_), last);
  }

  void grow(std::size_t bytes) {
    if (bytes <= work_bytes_) return;
    work_.reset();  // before another takes memory
    work_bytes_ = 0;
    work_.reset(allocate(bytes));
    work_bytes_ = bytes;
  }

  Owned<cusparseSpMatDescr_t> matrix_;
  Owned<cusparseDnVecDescr_t> x_, y_;
  OwnedMemory work_;
  std::size_t work_bytes_ = 0;
};

/// cusparse<t>bsrmv(), which prepares nothing.
class Older final : public Matrix {
 public:
  using Matrix::Matrix;
  std::size_t bytes() const override { return 0; }

 protected:
  void describe(const ProductTask&) override {
    if (!description_)
      must(library_.create_description(description_.renewed(library_.destroy_description)), "cusparseCreateMatDescr");
  }
  void product(const ProductTask& t, const void* beta) override {
    const Arrays a = arrays_of(t);
    must(library_.older[form_.place()](handle_, is_by_row() ? CUSPARSE_DIRECTION_ROW : CUSPARSE_DIRECTION_COLUMN,
                                       CUSPARSE_OPERATION_NON_TRANSPOSE, a.rows, a.cols, static_cast<int>(a.blocks),
                                       alpha(), description_, a.values, static_cast<const int*>(a.start),
                                       static_cast<const int*>(a.column), form_.size, t.x, beta, t.y),
         "cusparse<t>bsrmv");
  }

 private:
  Owned<cusparseMatDescr_t> description_;
};

}  // namespace

std::optional<std::string> why_no_cusparse(const LibraryProduct& product) {
  const CusparseLibrary* const library = cusparse_if_any();
  if (!library) return why_no_cusparse_opens();
  if (product.call == LibraryCall::older && !library->has_older())
    return std::string(product.word) + " needs cusparse<t>bsrmv(), which cuSPARSE " + cusparse_version().value_or("") +
           " has no more; take cusparse:bsr-row or cusparse:bsr-column";
  return {};
}

std::optional<std::string> cusparse_version() {
  const CusparseLibrary* const library = cusparse_if_any();
  if (!library) return {};
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    if (library->property(part, &number) != CUSPARSE_STATUS_SUCCESS) return {};
    if (!text.empty()) text += '.';
    text += std::to_string(number);
  }
  return text;
}

int cusparse_product_count() { return products_made; }

std::unique_ptr<CusparseMatrix> cusparse_matrix(const LibraryProduct& product, const Plan& plan,
                                                const Problem& problem) {
  if (product.call == LibraryCall::older) return std::make_unique<Older>(product, plan, problem);
  return std::make_unique<Generic>(product, plan, problem);
}

}  // namespace compound::cuda
