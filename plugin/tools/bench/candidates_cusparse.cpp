// Candidates that are cuSPARSE's: every form and algorithm of its product that a matrix of blocks may be given to.
#include <cusparse.h>

#include <map>
#include <type_traits>

#include "candidate.hpp"
#include "cuda_call.hpp"
#include "cusparse_scalars.hpp"
#include "failure.hpp"
#include "scalar_formats.hpp"

namespace compound::bench {

namespace {

constexpr int slice_height = 32;

void must_cusparse(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  (void)cudaGetLastError();
  throw left_out(std::string(call) + ": " + cusparseGetErrorName(status) + " (" + cusparseGetErrorString(status) + ")");
}

template <class T, cusparseStatus_t (*Destroy)(T)>
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (raw_) (void)Destroy(raw_);
  }
  operator T() const { return raw_; }
  T* out() { return &raw_; }

 private:
  T raw_ = nullptr;
};
cusparseStatus_t destroy_matrix(cusparseSpMatDescr_t m) { return cusparseDestroySpMat(m); }
cusparseStatus_t destroy_vector(cusparseDnVecDescr_t v) { return cusparseDestroyDnVec(v); }
using HandleOfCusparse = Descriptor<cusparseHandle_t, cusparseDestroy>;
using MatrixDescriptor = Descriptor<cusparseSpMatDescr_t, destroy_matrix>;
using VectorDescriptor = Descriptor<cusparseDnVecDescr_t, destroy_vector>;
using LegacyDescriptor = Descriptor<cusparseMatDescr_t, cusparseDestroyMatDescr>;

template <class T>
std::shared_ptr<void> uploaded(const std::vector<T>& from) {
  return uploaded_to_device(from.data(), from.size() * sizeof(T));
}

/// One form of the matrix on the device, shared by all products that read it.
struct Form {
  std::shared_ptr<void> start, column, values;  ///< coordinates: `start` is the row of each entry
  std::int64_t places = 0;                      ///< stored scalars, padding among them
  double bytes = 0;
  double integers_s = 0, values_s = 0;  ///< converting and uploading
};

}  // namespace

class CusparseSource {
 public:
  virtual ~CusparseSource() = default;
  virtual std::unique_ptr<Candidate> candidate(const std::shared_ptr<CusparseSource>& self,
                                               const CusparseKind& kind) = 0;
};

namespace {

template <class Scalar>
class Source final : public CusparseSource {
 public:
  explicit Source(const CaseMatrix& c) : matrix(c), block(c.block), arrays_(c.arrays().front()) {
    must_cusparse(cusparseCreate(handle.out()), "cusparseCreate");
    if constexpr (of_pairs<Scalar>) {
      block = {1, 1};
      copy_ = complex_values<Scalar>(arrays_);
    } else if constexpr (!std::is_same_v<Scalar, PetscScalar>) {
      copy_ = converted<Scalar>(arrays_.values, static_cast<std::size_t>(arrays_.entries() * c.area()));
    }
  }

  std::unique_ptr<Candidate> candidate(const std::shared_ptr<CusparseSource>& self, const CusparseKind& kind) override;

  const Form& form(CusparseForm which) {
    if (const auto at = forms_.find(which); at != forms_.end()) return at->second;
    Form made;
    if (which == CusparseForm::rows)
      make_scalars(made, [](const RowPattern& p) -> const RowPattern& { return p; });
    else if (which == CusparseForm::coordinates)
      make_scalars(made, coordinate_pattern);
    else if (which == CusparseForm::slices)
      make_slices(made);
    else
      make_blocks(made, which == CusparseForm::blocks_by_row);
    return forms_.emplace(which, std::move(made)).first->second;
  }

  const CaseMatrix& matrix;
  BlockShape block;  ///< in Scalars
  HandleOfCusparse handle;

 private:
  const Scalar* blocks() const {
    if constexpr (std::is_same_v<Scalar, PetscScalar>)
      return arrays_.values;
    else
      return copy_.data();
  }

  /// Row starts, or rows of the entries; and columns.
  void take_integers(Form& f, const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& columns) {
    f.start = uploaded(rows);
    f.column = uploaded(columns);
    f.bytes += static_cast<double>(4 * (rows.size() + columns.size()));
  }
  template <class Pattern>
  void take_integers(Form& f, const Pattern& pattern) {
    take_integers(f, pattern.start, pattern.column);
  }
  void take_integers(Form& f, const CoordinatePattern& pattern) { take_integers(f, pattern.row, pattern.column); }

  void take_values(Form& f, const Scalar* values, std::size_t count) {
    f.values = uploaded_to_device(values, count * sizeof(Scalar));
    f.places = static_cast<std::int64_t>(count);
    f.bytes += static_cast<double>(count * sizeof(Scalar));
  }

  void make_blocks(Form& f, bool by_row) {
    f.integers_s = timed(PETSC_COMM_SELF, [&] { take_integers(f, block_pattern(arrays_)); });
    f.values_s = timed(PETSC_COMM_SELF, [&] {
      const std::int64_t entries = arrays_.entries();
      const auto count = static_cast<std::size_t>(entries * block.rows * block.cols);
      if (by_row)
        take_values(f, blocks_by_row(blocks(), entries, block).data(), count);
      else
        take_values(f, blocks(), count);
    });
  }

  /// The scalars by rows, in whatever integers.
  template <class Integers>
  void make_scalars(Form& f, const Integers& integers) {
    f.integers_s = timed(PETSC_COMM_SELF, [&] { take_integers(f, integers(scalar_pattern(arrays_, block))); });
    f.values_s = timed(PETSC_COMM_SELF, [&] {
      const std::vector<Scalar> values = scalar_values(arrays_, blocks(), block);
      take_values(f, values.data(), values.size());
    });
  }

  void make_slices(Form& f) {
    RowPattern rows;
    SlicePattern slices;
    f.integers_s = timed(PETSC_COMM_SELF, [&] {
      rows = scalar_pattern(arrays_, block);
      slices = slice_pattern(rows, slice_height);
      if (!slices.start.empty()) take_integers(f, slices);
    });
    if (slices.start.empty()) throw left_out("more slots in slices than 32-bit starts count");
    f.values_s = timed(PETSC_COMM_SELF, [&] {
      const auto values = slice_values(rows, slices, scalar_values(arrays_, blocks(), block));
      take_values(f, values.data(), values.size());
    });
  }

  BlockArrays arrays_;
  std::vector<Scalar> copy_;
  std::map<CusparseForm, Form> forms_;
};

/// x, y and z, and what is the same for both of cuSPARSE's interfaces.
template <class Scalar>
class CusparseCandidate : public Candidate {
 public:
  CusparseCandidate(std::shared_ptr<CusparseSource> self, Source<Scalar>& source, const CusparseKind& kind)
      : Candidate("cusparse " + std::string(kind.name)),
        self_(std::move(self)),
        source_(source),
        form_(source.form(kind.form)) {
    x_ = taken(source.matrix.x);
    y_ = taken(source.matrix.y);
    z_ = taken(source.matrix.z);
  }

  std::string kind() const override { return "cusparse"; }
  std::string plan() const override { return ""; }
  bool on_device() const override { return true; }
  bool float_vectors() const override { return Traits<Scalar>::single; }
  double preparation_s() const override { return form_.integers_s + form_.values_s + preprocess_s_; }
  /// Converting and uploading as measured at first: again it would cost the same.
  double new_values_s(double) override { return form_.values_s; }
  Bytes bytes() const override { return {0, form_.bytes + work_bytes_}; }

  bool use_queue(void* queue) override {
    queue_ = static_cast<cudaStream_t>(queue);
    must_cusparse(cusparseSetStream(source_.handle, queue_), "cusparseSetStream");
    return true;
  }

  void multiply() override {
    // cuSPARSE adds to y alone: what is added must be there first.
    if (adds()) must_cuda(cudaMemcpyAsync(y_.get(), z_.get(), y_bytes_, cudaMemcpyDeviceToDevice, queue_), "copying z");
    product();
  }

  std::vector<PetscScalar> result() override {
    std::vector<Scalar> values(y_bytes_ / sizeof(Scalar));
    must_cuda(cudaMemcpy(values.data(), y_.get(), y_bytes_, cudaMemcpyDeviceToHost), "downloading y");
    return converted_back(values);
  }

 protected:
  virtual void product() = 0;

  bool adds() const { return source_.matrix.operation == Operation::multadd; }
  cusparseOperation_t operation() const {
    return source_.matrix.operation == Operation::transpose ? CUSPARSE_OPERATION_TRANSPOSE
                                                            : CUSPARSE_OPERATION_NON_TRANSPOSE;
  }
  /// Whatever fails shows now, and code is loaded before anything is timed.
  void try_once() {
    multiply();
    must_cuda(cudaDeviceSynchronize(), "trying the product");
  }

  std::shared_ptr<CusparseSource> self_;
  Source<Scalar>& source_;
  const Form& form_;
  std::shared_ptr<void> x_, y_, z_;
  std::size_t y_bytes_ = 0;
  std::int64_t x_size_ = 0, y_size_ = 0;
  double preprocess_s_ = 0, work_bytes_ = 0;
  Scalar one_ = 1, factor_of_y_ = adds() ? 1 : 0;

 private:
  std::shared_ptr<void> taken(Vec v) {
    PetscInt size;
    const PetscScalar* values;
    must(VecGetLocalSize(v, &size));
    must(VecGetArrayRead(v, &values));
    const std::vector<Scalar> scalars = converted<Scalar>(values, static_cast<std::size_t>(size));
    must(VecRestoreArrayRead(v, &values));
    (v == source_.matrix.x ? x_size_ : y_size_) = static_cast<std::int64_t>(scalars.size());
    if (v == source_.matrix.y) y_bytes_ = scalars.size() * sizeof(Scalar);
    return uploaded(scalars);
  }

  cudaStream_t queue_ = nullptr;
};

/// cusparse<t>bsrmv(): blocks in compressed rows, no preparation.
template <class Scalar>
class LegacyCandidate final : public CusparseCandidate<Scalar> {
 public:
  LegacyCandidate(std::shared_ptr<CusparseSource> self, Source<Scalar>& source, const CusparseKind& kind)
      : CusparseCandidate<Scalar>(std::move(self), source, kind),
        direction_(kind.form == CusparseForm::blocks_by_row ? CUSPARSE_DIRECTION_ROW : CUSPARSE_DIRECTION_COLUMN) {
    must_cusparse(cusparseCreateMatDescr(descriptor_.out()), "cusparseCreateMatDescr");
    this->try_once();
  }

 protected:
  void product() override {
    using Native = typename Traits<Scalar>::Native;
    const CaseMatrix& c = this->source_.matrix;
    const auto native = [](const std::shared_ptr<void>& p) { return static_cast<Native*>(p.get()); };
    const auto integers = [](const std::shared_ptr<void>& p) { return static_cast<const int*>(p.get()); };
    must_cusparse(
        Traits<Scalar>::bsrmv(this->source_.handle, direction_, this->operation(), static_cast<int>(c.block_rows),
                              static_cast<int>(c.block_columns), static_cast<int>(c.entries),
                              reinterpret_cast<const Native*>(&this->one_), descriptor_, native(this->form_.values),
                              integers(this->form_.start), integers(this->form_.column), this->source_.block.rows,
                              native(this->x_), reinterpret_cast<const Native*>(&this->factor_of_y_), native(this->y_)),
        "cusparse<t>bsrmv");
  }

 private:
  LegacyDescriptor descriptor_;
  cusparseDirection_t direction_;
};

cusparseSpMVAlg_t algorithm_of(CusparseKind::Call call) {
  using Call = CusparseKind::Call;
  switch (call) {
    case Call::bsr1:
      return CUSPARSE_SPMV_BSR_ALG1;
    case Call::csr1:
      return CUSPARSE_SPMV_CSR_ALG1;
    case Call::csr2:
      return CUSPARSE_SPMV_CSR_ALG2;
    case Call::sell1:
      return CUSPARSE_SPMV_SELL_ALG1;
    case Call::coo1:
      return CUSPARSE_SPMV_COO_ALG1;
    case Call::coo2:
      return CUSPARSE_SPMV_COO_ALG2;
    case Call::bsrmv:
    case Call::automatic:
      break;
  }
  return CUSPARSE_SPMV_ALG_DEFAULT;
}

/// cusparseSpMV() after cusparseSpMV_preprocess().
template <class Scalar>
class GenericCandidate final : public CusparseCandidate<Scalar> {
 public:
  GenericCandidate(std::shared_ptr<CusparseSource> self, Source<Scalar>& source, const CusparseKind& kind)
      : CusparseCandidate<Scalar>(std::move(self), source, kind), algorithm_(algorithm_of(kind.call)) {
    describe(kind.form);
    must_cusparse(cusparseCreateDnVec(in_.out(), this->x_size_, this->x_.get(), type), "cusparseCreateDnVec");
    must_cusparse(cusparseCreateDnVec(out_.out(), this->y_size_, this->y_.get(), type), "cusparseCreateDnVec");
    this->preprocess_s_ = timed(PETSC_COMM_SELF, [&] { preprocess(); });
    this->try_once();
  }

 protected:
  void product() override { must_cusparse(call(cusparseSpMV, work_.get()), "cusparseSpMV"); }

 private:
  static constexpr cudaDataType type = Traits<Scalar>::type;

  template <class Last>
  cusparseStatus_t call(cusparseStatus_t (*function)(cusparseHandle_t, cusparseOperation_t, const void*,
                                                     cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                                     cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, Last),
                        std::type_identity_t<Last> last) {
    return function(this->source_.handle, this->operation(), &this->one_, matrix_, in_, &this->factor_of_y_, out_, type,
                    algorithm_, last);
  }

  void preprocess() {
    std::size_t bytes = 0;
    must_cusparse(call(cusparseSpMV_bufferSize, &bytes), "cusparseSpMV_bufferSize");
    work_ = device_memory(bytes);
    this->work_bytes_ = static_cast<double>(bytes);
    const cusparseStatus_t status = call(cusparseSpMV_preprocess, work_.get());
    if (status != CUSPARSE_STATUS_NOT_SUPPORTED) must_cusparse(status, "cusparseSpMV_preprocess");
  }

  void describe(CusparseForm which) {
    const CaseMatrix& c = this->source_.matrix;
    const Form& f = this->form_;
    constexpr auto wide = CUSPARSE_INDEX_32I;
    constexpr auto base = CUSPARSE_INDEX_BASE_ZERO;
    const BlockShape& b = this->source_.block;
    const std::int64_t rows = c.block_rows * b.rows, columns = c.block_columns * b.cols;
    const std::int64_t scalars = c.entries * b.rows * b.cols;
    if (which == CusparseForm::rows)
      must_cusparse(cusparseCreateCsr(matrix_.out(), rows, columns, scalars, f.start.get(), f.column.get(),
                                      f.values.get(), wide, wide, base, type),
                    "cusparseCreateCsr");
    else if (which == CusparseForm::coordinates)
      must_cusparse(cusparseCreateCoo(matrix_.out(), rows, columns, scalars, f.start.get(), f.column.get(),
                                      f.values.get(), wide, base, type),
                    "cusparseCreateCoo");
    else if (which == CusparseForm::slices)
      must_cusparse(cusparseCreateSlicedEll(matrix_.out(), rows, columns, scalars, f.places, slice_height,
                                            f.start.get(), f.column.get(), f.values.get(), wide, wide, base, type),
                    "cusparseCreateSlicedEll");
    else
      must_cusparse(cusparseCreateBsr(matrix_.out(), c.block_rows, c.block_columns, c.entries, b.rows, b.cols,
                                      f.start.get(), f.column.get(), f.values.get(), wide, wide, base, type,
                                      which == CusparseForm::blocks_by_row ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
                    "cusparseCreateBsr");
  }

  cusparseSpMVAlg_t algorithm_;
  MatrixDescriptor matrix_;
  VectorDescriptor in_, out_;
  std::shared_ptr<void> work_;
};

template <class Scalar>
std::unique_ptr<Candidate> Source<Scalar>::candidate(const std::shared_ptr<CusparseSource>& self,
                                                     const CusparseKind& kind) {
  if (kind.call == CusparseKind::Call::bsrmv) return std::make_unique<LegacyCandidate<Scalar>>(self, *this, kind);
  return std::make_unique<GenericCandidate<Scalar>>(self, *this, kind);
}

}  // namespace

std::shared_ptr<CusparseSource> make_cusparse_source(const CaseMatrix& c, bool single, CusparseScalars scalars) {
  if constexpr (sizeof(PetscScalar) == sizeof(double)) {  // why_not_cusparse() says that others have none
    if (scalars == CusparseScalars::complex && single) return std::make_shared<Source<std::complex<float>>>(c);
    if (scalars == CusparseScalars::complex) return std::make_shared<Source<std::complex<double>>>(c);
  }
  using Single = std::conditional_t<sizeof(PetscScalar) == sizeof(double), float, std::complex<float>>;
  if (single) return std::make_shared<Source<Single>>(c);
  return std::make_shared<Source<PetscScalar>>(c);
}

std::unique_ptr<Candidate> make_cusparse_candidate(const std::shared_ptr<CusparseSource>& source,
                                                   const CusparseKind& kind) {
  return source->candidate(source, kind);
}

}  // namespace compound::bench
