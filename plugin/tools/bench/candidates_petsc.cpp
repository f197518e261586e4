// Candidates that are PETSc matrices: any type, and baijcompound with a plan.
#include <petsc/private/petscimpl.h>
#include <petsccompound.h>

#include <algorithm>
#include <cstring>

#include "candidate.hpp"
#include "failure.hpp"
#include "scalar_formats.hpp"

namespace compound::bench {

namespace {

MPI_Comm comm_of(Mat A) { return PetscObjectComm(reinterpret_cast<PetscObject>(A)); }

class PetscCandidate final : public Candidate {
 public:
  PetscCandidate(const CaseMatrix& c, std::string name, const std::string& type, const std::string& plan)
      : Candidate(std::move(name)), case_(c), by_plan_(!plan.empty()) {
    if (!c.parent)
      make_scalars();
    else if (type != MATBAIJ)
      must(MatConvert(c.parent, type.c_str(), MAT_INITIAL_MATRIX, own_.out()));
    compound_ = is_ours(type_name());
    if (compound_ && own_) must(MatSetFromOptions(own_));
    if (compound_ && own_) multiply_on_device(own_);
    if (by_plan_ && plan != "auto") must(MatCompoundSetPlan(own_, plan.c_str()));
    take_vectors();
  }

  std::string kind() const override { return by_plan_ ? "plan" : "type"; }

  std::string plan() const override {
    if (!compound_) return "";
    const char* line;
    must(MatCompoundGetPlan(matrix(), &line));
    // Ranks may have decided differently; the table shows the first one's.
    std::string text = line;
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, comm_of(matrix()));
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm_of(matrix()));
    return text;
  }

  void multiply() override {
    switch (case_.operation) {
      case Operation::mult:
        return must(MatMult(matrix(), x(), y()));
      case Operation::multadd:
        return must(MatMultAdd(matrix(), x(), z(), y()));
      case Operation::transpose:
        return must(MatMultTranspose(matrix(), x(), y()));
    }
  }

  bool on_device() const override { return own_y_ && is_cuda(own_y_); }

  double new_values_s(double steady_s) override {
    const std::int64_t packs = info().value_packs;
    touch_values();
    const double seconds = timed(comm_of(matrix()), [&] { multiply(); });
    // Without a copy there is nothing to pack: what is left then is noise.
    if (compound_ && info().value_packs == packs) return 0;
    return std::max(0.0, seconds - steady_s);
  }

  double pack_again_s(double steady_s) override {
    if (!compound_ || case_.parent == matrix()) return -1;
    const char* line;
    must(MatCompoundGetPlan(matrix(), &line));
    if (!*line) return -1;  // left to the base type
    must(MatCompoundSetPlan(matrix(), std::string(line).c_str()));
    return std::max(0.0, timed(comm_of(matrix()), [&] { multiply(); }) - steady_s);
  }

  Bytes bytes() const override {
    if (!compound_) return {own_bytes(), on_device() ? own_bytes() : 0};
    const MatCompoundInfo i = info();
    return {static_cast<double>(i.base_bytes), static_cast<double>(i.packed_bytes)};
  }

  std::vector<PetscScalar> result() override {
    const PetscScalar* values;
    PetscInt size;
    must(VecGetLocalSize(y(), &size));
    must(VecGetArrayRead(y(), &values));
    std::vector<PetscScalar> copy(values, values + size);
    must(VecRestoreArrayRead(y(), &values));
    return copy;
  }

 private:
  Mat matrix() const { return own_ ? own_ : case_.parent; }
  Vec x() const { return own_x_ ? own_x_ : case_.x; }
  Vec y() const { return own_y_ ? own_y_ : case_.y; }
  Vec z() const { return own_z_ ? own_z_ : case_.z; }

  const char* type_name() const {
    MatType type;
    must(MatGetType(matrix(), &type));
    return type;
  }

  static bool is_cuda(Vec v) {
    VecType type;
    must(VecGetType(v, &type));
    return std::strstr(type, VECCUDA) != nullptr;
  }

  /// AIJ, where the case is no PETSc matrix: MatConvert() gives the same for square blocks.
  void make_scalars() {
    const BlockArrays blocks = case_.arrays().front();
    const RowPattern scalars = scalar_pattern(blocks, case_.block);
    std::vector<PetscInt> lengths;
    for (std::size_t r = 0; r + 1 < scalars.start.size(); ++r)
      lengths.push_back(scalars.start[r + 1] - scalars.start[r]);
    const std::vector<PetscScalar> values = scalar_values(blocks, blocks.values, case_.block);
    const std::vector<PetscInt> columns(scalars.column.begin(), scalars.column.end());
    must(MatCreateSeqAIJ(PETSC_COMM_SELF, blocks.rows * case_.block.rows, blocks.columns * case_.block.cols, 0,
                         lengths.data(), own_.out()));
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      const auto row = static_cast<PetscInt>(r), first = static_cast<PetscInt>(scalars.start[r]);
      must(MatSetValues(own_, 1, &row, lengths[r], columns.data() + first, values.data() + first, INSERT_VALUES));
    }
    must(MatAssemblyBegin(own_, MAT_FINAL_ASSEMBLY));
    must(MatAssemblyEnd(own_, MAT_FINAL_ASSEMBLY));
  }

  /// Makes the matrix believe that its values have changed. Types with a copy on a device see that by their own flags,
  /// which the host's array sets when it is given back.
  void touch_values() {
    if (std::strcmp(type_name(), MATSEQAIJCUSPARSE) == 0) {
      PetscScalar* values;
      must(MatSeqAIJGetArray(matrix(), &values));
      must(MatSeqAIJRestoreArray(matrix(), &values));
    }
    must(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(matrix())));
  }

  /// All share the case's vectors, but types of a device need vectors there.
  void take_vectors() {
    VecType mine, shared;
    if (!case_.parent) return;
    must(MatGetVecType(matrix(), &mine));
    must(MatGetVecType(case_.parent, &shared));
    if (std::strcmp(mine, shared) == 0) return;
    if (case_.operation == Operation::transpose)
      must(MatCreateVecs(matrix(), own_y_.out(), own_x_.out()));
    else
      must(MatCreateVecs(matrix(), own_x_.out(), own_y_.out()));
    must(VecDuplicate(own_y_, own_z_.out()));
    must(VecCopy(case_.x, own_x_));
    must(VecCopy(case_.z, own_z_));
    must(VecSet(own_y_, 0.0));
  }

  /// Sums over all ranks; zeros for other types.
  MatCompoundInfo info() const {
    MatCompoundInfo mine = {}, all = {};
    if (!compound_) return all;
    must(MatCompoundGetInfo(matrix(), &mine));
    constexpr int count = sizeof(mine) / sizeof(PetscInt64);
    MPI_Allreduce(&mine, &all, count, MPIU_INT64, MPI_SUM, comm_of(matrix()));
    return all;
  }

  /// Of values, columns and row starts, by PETSc's count of stored values.
  double own_bytes() const {
    MatInfo i;
    must(MatGetInfo(matrix(), MAT_GLOBAL_SUM, &i));
    const double side = std::strstr(type_name(), "baij") ? case_.block.rows : 1;
    const double rows = static_cast<double>(case_.block_rows) * case_.block.rows / side;
    return i.nz_used * sizeof(PetscScalar) + (i.nz_used / (side * side) + rows + 1) * sizeof(PetscInt);
  }

  const CaseMatrix& case_;
  bool by_plan_, compound_ = false;
  Matrix own_;
  Vector own_x_, own_y_, own_z_;
};

std::unique_ptr<Candidate> make(const CaseMatrix& c, const std::string& name, const std::string& type,
                                const std::string& plan, const std::string& option) {
  try {
    return std::make_unique<PetscCandidate>(c, name, type, plan);
  } catch (const petsc_error& e) {
    throw petsc_error(option + " '" + name + "': " + e.what());
  }
}

}  // namespace

std::unique_ptr<Candidate> make_type_candidate(const CaseMatrix& c, const std::string& type) {
  return make(c, type, type, "", "-types");
}

std::unique_ptr<Candidate> make_plan_candidate(const CaseMatrix& c, const std::string& plan) {
  return make(c, plan, MATBAIJCOMPOUND, plan, "-plans");
}

}  // namespace compound::bench
