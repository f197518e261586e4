#include "petsc_check.hpp"

#include <petsccompound.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "petsc_handle.hpp"

namespace compound::test {

namespace {

using S = PetscCore;
using Matrix = Handle<Mat, MatDestroy>;
using Vector = Handle<Vec, VecDestroy>;

std::string first_message;

PetscErrorCode remember(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                        const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL && message) first_message = message;
  return code;
}

/// All ranks of a collective call get the same code.
void must(PetscErrorCode code) {
  if (code) throw std::runtime_error("PETSc error " + std::to_string(int(code)) + ": " + first_message);
}

/// Of the first ranks of the world: one each, since PETSc keeps what it knows of each.
std::vector<MPI_Comm> of_first_ranks;

/// One of PETSc's products.
struct Product {
  PetscErrorCode (*assign)(Mat, Vec x, Vec y);
  PetscErrorCode (*add)(Mat, Vec x, Vec z, Vec y);
};
const Product product_calls[] = {{MatMult, MatMultAdd},
                                 {MatMultTranspose, MatMultTransposeAdd},
                                 {MatMultHermitianTranspose, MatMultHermitianTransposeAdd}};

/// Scalars of this rank.
struct Range {
  int first_block = 0, blocks = 0, size = 1;
  std::size_t first() const { return std::size_t(first_block) * size; }
  std::size_t count() const { return std::size_t(blocks) * size; }
};

class MatrixCheck {
 public:
  MatrixCheck(const Case& c, MPI_Comm comm, int rank, bool broken)
      : case_(c), comm_(comm), broken_(broken && c.pattern.column.size() > 3) {
    const auto range = [&](const std::vector<int>& parts, int size) {
      return Range{std::accumulate(parts.begin(), parts.begin() + rank, 0), parts[rank], size};
    };
    rows_ = range(c.row_parts, c.block.rows);
    cols_ = range(c.col_parts, c.block.cols);
    const PlanText lines = split_off_diagonal(c.plan);
    diagonal_ = parse_plan(lines.diagonal, {});
    if (lines.off_diagonal) off_diagonal_ = parse_plan(*lines.off_diagonal, {});
    // The code with room for fewer values: of one or two blocks, of scalars, of blocks.
    const auto room = [](const Plan& p) {
      const ValueCode& code = value_code(p.codes);
      if (code.of == CodeOf::nothing) return any_number;
      return code.of == CodeOf::chunks ? any_number - 1 : static_cast<idx>(code.most) + (code.of == CodeOf::blocks);
    };
    coded_ = room(off_diagonal_) < room(diagonal_) ? off_diagonal_ : diagonal_;
    o_.emplace(operands_of<S>(c, coded_, c.seed));
    A_ = made(*o_);
  }

  using Message = std::string;  ///< empty: the property holds, as far as this rank sees
  struct Property {
    const char* name;
    Message (MatrixCheck::*holds)();
  };
  static std::span<const Property> properties() {
    static constexpr Property all[] = {
        {"agrees with the definition", &MatrixCheck::definition},
        {"repeats bit by bit", &MatrixCheck::repeats},
        {"is linear", &MatrixCheck::linear},
        {"leaks nothing", &MatrixCheck::leaks_nothing},
        {"transposes twice to itself", &MatrixCheck::transposes},
        {"has the diagonals of the definition", &MatrixCheck::diagonals},
        {"takes new values", &MatrixCheck::takes_new_values},
        {"multiplies by its own plan", &MatrixCheck::multiplies_itself},
    };
    return all;
  }
  Message holds(const Property& p) { return (this->*p.holds)(); }

 private:
  bool is_baij() const { return case_.type.starts_with("baij"); }
  const Range& in(Op op) const { return op == Op::none ? cols_ : rows_; }
  const Range& out(Op op) const { return op == Op::none ? rows_ : cols_; }

  Matrix made(const Operands<S>& o) const {
    Matrix A;
    must(MatCreate(comm_, A.out()));
    must(MatSetSizes(A, PetscInt(rows_.count()), PetscInt(cols_.count()), PetscInt(case_.pattern.rows) * rows_.size,
                     PetscInt(case_.pattern.cols) * cols_.size));
    must(MatSetBlockSizes(A, rows_.size, cols_.size));
    must(MatSetType(A, case_.type.c_str()));
    must(MatCompoundSetPlan(A, case_.plan.c_str()));
    if (case_.backend != "host") must(MatCompoundSetBackend(A, case_.backend.c_str()));
    preallocate(A);
    insert(A, o);
    return A;
  }

  bool is_in_diagonal(idx col) const { return col >= cols_.first_block && col < cols_.first_block + cols_.blocks; }

  void preallocate(Mat A) const {
    std::vector<PetscInt> diagonal, other;
    const int rows = is_baij() ? 1 : rows_.size, each = is_baij() ? 1 : cols_.size;
    const Pattern& p = case_.pattern;
    for (idx row = rows_.first_block; row < rows_.first_block + rows_.blocks; ++row) {
      PetscInt here = 0;
      for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) here += is_in_diagonal(p.column[e]);
      diagonal.insert(diagonal.end(), rows, here * each);
      other.insert(other.end(), rows, (p.view().length(row) - here) * each);
    }
    if (is_baij()) return must(MatXAIJSetPreallocation(A, rows_.size, diagonal.data(), other.data(), nullptr, nullptr));
    must(MatSeqAIJSetPreallocation(A, 0, diagonal.data()));
    must(MatMPIAIJSetPreallocation(A, 0, diagonal.data(), 0, other.data()));
  }

  void insert(Mat A, const Operands<S>& o) const {
    must(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE));
    const Pattern& p = case_.pattern;
    for (PetscInt row = rows_.first_block; row < rows_.first_block + rows_.blocks; ++row)
      for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
        const PetscInt col = p.column[e];
        const auto* block =
            reinterpret_cast<const PetscScalar*>(o.blocks.data() + std::size_t(e) * scalars_in(o.shape));
        must(MatSetValuesBlocked(A, 1, &row, 1, &col, block, INSERT_VALUES));
      }
    must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }

  Vector vector_of(const Range& r, const std::vector<S>& all) const {
    Vector v;
    must(VecCreateMPI(comm_, PetscInt(r.count()), PETSC_DETERMINE, v.out()));
    PetscScalar* at = nullptr;
    must(VecGetArray(v, &at));
    if (!all.empty())
      std::copy_n(all.data() + r.first(), r.count(), reinterpret_cast<S*>(at));
    else
      std::fill_n(reinterpret_cast<S*>(at), r.count(), not_a_number<S>());
    must(VecRestoreArray(v, &at));
    return v;
  }

  /// This rank's scalars of y.
  std::vector<S> product(Mat A, const Operands<S>& o, Op op, Form form, const std::vector<S>& x_of_all) const {
    const Vector x = vector_of(in(op), x_of_all), z = vector_of(out(op), o.z(op));
    Vector apart;
    if (form != Form::add_in_place) apart = vector_of(out(op), {});
    const Vec y = form == Form::add_in_place ? Vec(z) : Vec(apart);
    const Product& call = product_calls[static_cast<int>(op)];
    must(form == Form::assign ? call.assign(A, x, y) : call.add(A, x, z, y));
    const PetscScalar* at = nullptr;
    must(VecGetArrayRead(y, &at));
    const auto* from = reinterpret_cast<const S*>(at);
    std::vector<S> mine(from, from + out(op).count());
    must(VecRestoreArrayRead(y, &at));
    if (broken_ && !mine.empty()) mine.back() += S(1);
    return mine;
  }
  std::vector<S> product(Mat A, const Operands<S>& o, Op op, Form form) const {
    return product(A, o, op, form, o.x(op));
  }

  /// Blocks as the plans of both parts store them.
  std::vector<S> stored(const Operands<S>& o) const {
    std::vector<S> blocks = o.blocks;
    const auto single = as_stored(o.blocks, Precision::single);
    const std::size_t size = scalars_in(o.shape);
    const auto owner = [](const std::vector<int>& parts, idx at) {
      int rank = 0;
      for (int end = parts[0]; at >= end; end += parts[++rank]) {
      }
      return rank;
    };
    for (idx row = 0; row < o.pattern.rows; ++row)
      for (count32 e = o.pattern.start[row]; e < o.pattern.start[row + 1]; ++e) {
        const bool in_diagonal = owner(case_.row_parts, row) == owner(case_.col_parts, o.pattern.column[e]);
        if ((in_diagonal ? diagonal_ : off_diagonal_).values == Precision::single)
          std::copy_n(single.begin() + e * size, size, blocks.begin() + e * size);
      }
    return blocks;
  }
  Reference<S> reference(const Operands<S>& o, Op op, Form form) const {
    const auto all = reference_product(o.pattern.view(), o.shape, stored(o), op, o.x(op),
                                       form == Form::assign ? std::vector<S>{} : o.z(op));
    const Range& r = out(op);
    return {{all.y.begin() + r.first(), all.y.begin() + r.first() + r.count()},
            {all.bound.begin() + r.first(), all.bound.begin() + r.first() + r.count()}};
  }

  /// f(op, form) for all products, since the other ranks go through them all: the first message.
  template <class F>
  Message first_of(const F& f) const {
    Message first;
    for_each_product(case_, [&](Op op, Form form) {
      const Message why = f(op, form);
      if (first.empty() && !why.empty()) first = product_name(op, form) + ": " + why;
    });
    return first;
  }
  static Message message_of(const testing::AssertionResult& result) { return result ? "" : result.message(); }

  Message definition() {
    return first_of(
        [&](Op op, Form form) { return message_of(agrees(product(A_, *o_, op, form), reference(*o_, op, form))); });
  }

  Message repeats() {
    const Matrix again = made(*o_);
    return first_of([&](Op op, Form form) -> Message {
      const auto y = product(A_, *o_, op, form), second = product(A_, *o_, op, form),
                 other = product(again, *o_, op, form);
      if (!same_bits(y, second)) return "the second product has other bits";
      return same_bits(y, other) ? "" : "another matrix of the same gives other bits";
    });
  }

  Message linear() {
    Random random(case_.seed + 1);
    return first_of([&](Op op, Form) -> Message {
      auto other = *o_, sum = *o_;
      auto& v = op == Op::none ? other.cols_vector : other.rows_vector;
      v = random_vector<S>(v.size(), random);
      (op == Op::none ? sum.cols_vector : sum.rows_vector) = combined(o_->x(op), v);
      const auto y = product(A_, *o_, op, Form::assign), of_v = product(A_, other, op, Form::assign),
                 of_sum = product(A_, sum, op, Form::assign);
      const Reference<S> y_is = reference(*o_, op, Form::assign), v_is = reference(other, op, Form::assign),
                         sum_is = reference(sum, op, Form::assign);
      return why_not_linear(y, y_is, of_v, v_is, of_sum, sum_is);
    });
  }

  Message leaks_nothing() {
    Random random(case_.seed + 2);
    return first_of([&](Op op, Form form) -> Message {
      auto spoilt = *o_;
      spoil_what_is_not_read(spoilt, op);
      const bool same = same_bits(product(A_, *o_, op, form), product(A_, spoilt, op, form));
      const Ends ends = ends_of(o_->pattern, o_->shape, op);
      if (ends.in_blocks == 0) return {};
      const idx at = random.below(3) ? random.below(ends.in_blocks) : 0;
      const int k = random.below(ends.in);
      auto x = o_->x(op);
      x[std::size_t(at) * ends.in + k] =
          random.below(2) ? S{std::numeric_limits<PetscReal>::infinity()} : not_a_number<S>();
      const Message found = beyond(reach_of_x(*o_, op, at, k), product(A_, *o_, op, form, x), out(op).first());
      if (!same) return "NaN in x where no entry reads changes bits";
      return found.empty() ? ""
                           : "NaN or infinity in scalar " + std::to_string(k) + " of block " + std::to_string(at) +
                                 " of x: " + found;
    });
  }

  /// Of numbers of one or two parts.
  template <class Number>
  Number sum_of_ranks(Number mine) const {
    MPI_Allreduce(MPI_IN_PLACE, &mine, sizeof mine / sizeof(long double), MPI_LONG_DOUBLE, MPI_SUM, comm_);
    return mine;
  }

  Message transposes() {
    const auto y = product(A_, *o_, Op::none, Form::assign);
    const Reference<S> y_is = reference(*o_, Op::none, Form::assign);
    Message first;
    for (const Op op : {Op::transpose, Op::hermitian}) {
      const auto t = product(A_, *o_, op, Form::assign);
      const Reference<S> t_is = reference(*o_, op, Form::assign);
      wide_of<S> apart{};
      long double bound = 1e-15L * (y.size() + t.size());
      const auto conjugated = [&](S s) { return widened(op == Op::hermitian ? conjugate(s) : s); };
      for (std::size_t i = 0; i < y.size(); ++i) {
        const S w = o_->rows_vector[rows_.first() + i];
        apart += conjugated(w) * widened(y[i]);
        bound += magnitude(w) * 2 * y_is.bound[i];
      }
      for (std::size_t j = 0; j < t.size(); ++j) {
        const S x = o_->cols_vector[cols_.first() + j];
        apart -= conjugated(t[j]) * widened(x);
        bound += magnitude(x) * 2 * t_is.bound[j];
      }
      const long double size = magnitude(sum_of_ranks(apart));
      if (!(size <= sum_of_ranks(bound)) && first.empty())
        first = "<w, A x> is not <" + std::string(op_names[static_cast<int>(op)]) + " w, x>";
    }
    return first;
  }

  Message diagonals() {
    const int n = case_.block.rows;
    if (n != case_.block.cols || case_.row_parts != case_.col_parts) return {};
    const Vector d = vector_of(rows_, {});
    must(MatGetDiagonal(A_, d));
    const PetscScalar* at = nullptr;
    must(VecGetArrayRead(d, &at));
    const auto* found = reinterpret_cast<const S*>(at);
    Message why;
    const Pattern& p = case_.pattern;
    for (int b = 0; b < rows_.blocks; ++b) {
      const idx row = rows_.first_block + b;
      for (int i = 0; i < n; ++i) {
        S wanted{};
        for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
          if (p.column[e] == row) wanted = o_->blocks[std::size_t(e) * n * n + i * (n + 1)];
        if (!(found[b * n + i] == wanted))
          why = "scalar " + std::to_string(row * n + i) + " of the diagonal is another";
      }
    }
    must(VecRestoreArrayRead(d, &at));
    return why;
  }

  Message takes_new_values() {
    const Operands<S> other = operands_of<S>(case_, coded_, case_.seed + 3);
    const Matrix changed = made(*o_), fresh = made(other);
    Message first = first_of([&](Op op, Form form) {  // so that there are copies of the old ones
      return message_of(agrees(product(changed, *o_, op, form), reference(*o_, op, form)));
    });
    insert(changed, other);
    const Message then = first_of([&](Op op, Form form) -> Message {
      const auto y = product(changed, other, op, form), wanted = product(fresh, other, op, form);
      if (auto why = message_of(agrees(y, reference(other, op, form))); !why.empty()) return why;
      return same_bits(y, wanted) ? "" : "a matrix made of them has other bits";
    });
    return first.empty() ? then : first;
  }

  /// Not by its parent's kernels.
  Message multiplies_itself() {
    MatCompoundInfo info;
    must(MatCompoundGetInfo(A_, &info));
    const auto& start = case_.pattern.start;
    const bool has_entries = start[rows_.first_block + rows_.blocks] > start[rows_.first_block];
    return has_entries && info.products == 0 ? "its products were the parent's" : "";
  }

  const Case& case_;
  MPI_Comm comm_;
  bool broken_;
  Range rows_, cols_;
  Plan diagonal_, off_diagonal_, coded_;
  std::optional<Operands<S>> o_;
  Matrix A_;
};

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

/// What this rank's verdict says of a property, else what the first rank that has one says; the same on all.
std::string agreed(const std::string& mine) {
  int size = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  int has = mine.empty() ? size : world_rank(), first = size;
  MPI_Allreduce(&has, &first, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  if (first == size) return {};
  std::string text = mine;
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, PETSC_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, PETSC_COMM_WORLD);
  return "rank " + std::to_string(first) + ": " + text;
}

}  // namespace

void begin_petsc_checks() {
  (void)PetscPushErrorHandler(remember, nullptr);
  int size = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  for (int n = 1; n <= size; ++n) {
    MPI_Comm comm;
    MPI_Comm_split(PETSC_COMM_WORLD, world_rank() < n ? 0 : MPI_UNDEFINED, 0, &comm);
    of_first_ranks.push_back(comm);
  }
}

void end_petsc_checks() {
  for (MPI_Comm& comm : of_first_ranks)
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  of_first_ranks.clear();
  (void)PetscPopErrorHandler();
}

Verdict check_petsc(const Case& c, bool broken) {
  std::vector<std::string> messages(MatrixCheck::properties().size());
  std::string error;
  const MPI_Comm comm = of_first_ranks.at(static_cast<std::size_t>(c.ranks() - 1));
  if (comm != MPI_COMM_NULL) {
    try {
      MatrixCheck of(c, comm, world_rank(), broken);
      for (std::size_t n = 0; n < messages.size(); ++n) messages[n] = of.holds(MatrixCheck::properties()[n]);
    } catch (const std::exception& e) {
      error = e.what();
    }
  }
  Verdict verdict;
  verdict.checked = static_cast<int>(messages.size());
  int failed = !error.empty();
  for (const std::string& m : messages) failed |= !m.empty();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, PETSC_COMM_WORLD);
  if (!failed) return verdict;
  for (std::size_t n = 0; n < messages.size(); ++n)
    if (const auto why = agreed(messages[n]); !why.empty())
      verdict.failures.push_back({MatrixCheck::properties()[n].name, why});
  if (const auto why = agreed(error); !why.empty()) verdict.failures.push_back({property_of_errors, why});
  return verdict;
}

}  // namespace compound::test
