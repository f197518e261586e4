#include "pc/cycle_plan.hpp"

#include "spmv/refresh.hpp"

// Private structures of PETSc: other releases may have others.
#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 26, 0) && PETSC_VERSION_LT(3, 27, 0)

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcmgimpl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "pc/diagonal_blocks.hpp"
#include "petsc/agree.hpp"
#include "spmv/device_vectors.hpp"
#include "spmv/mpi_state.hpp"
#include "spmv/placement.hpp"
#include "spmv/state.hpp"
#include "spmv/vec_types.hpp"

namespace compound::plugin {

namespace {

/// KSPCHEBYSHEV's and KSPRICHARDSON's own data, which their sources alone know (chebyshevimpl.h, richardsonimpl.h).
/// known_solvers() checks that they lie here.
struct ChebyshevData {
  PetscReal least, most, least_computed, most_computed, least_provided, most_provided;
  PetscReal* weights;
  PetscInt weights_allocated;
  KSP estimator;
  PetscReal transform[4];
  PetscInt estimator_steps;
  PetscBool uses_noise;
  KSPChebyshevKind variant;
};
struct RichardsonData {
  PetscReal scale;
  PetscBool scales_itself;
};

constexpr PetscInt most_coarse_unknowns = 256;  // an inverse takes as many solves, of n^2 each

bool is_of_type(void* object, const char* type) {
  const char* const name = static_cast<PetscObject>(object)->type_name;
  return name && std::strcmp(name, type) == 0;
}

/// Whether what PETSc's functions set is seen in the structures above. Asked once.
PetscErrorCode known_solvers(bool* known) {
  PetscFunctionBegin;
  static int found = -1;
  if (found < 0) {
    KSP ksp, estimator;
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
    const auto* const c = static_cast<const ChebyshevData*>(ksp->data);
    found = 1;
    for (const PetscReal x : {2.0, 3.0}) {
      const auto variant = x == 2 ? KSP_CHEBYSHEV_FOURTH : KSP_CHEBYSHEV_OPT_FOURTH;
      PetscCall(KSPChebyshevSetEigenvalues(ksp, x, x / 8));
      PetscCall(KSPChebyshevEstEigSet(ksp, x / 64, x / 32, x / 16, x / 2));
      PetscCall(KSPChebyshevSetKind(ksp, variant));
      PetscCall(KSPChebyshevEstEigGetKSP(ksp, &estimator));
      const PetscReal* const t = c->transform;
      if (c->least != x / 8 || c->most != x || c->estimator != estimator || c->variant != variant || t[0] != x / 64 ||
          t[1] != x / 32 || t[2] != x / 16 || t[3] != x / 2)
        found = 0;
    }
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    const auto* const r = static_cast<const RichardsonData*>(ksp->data);
    for (const PetscBool on : {PETSC_TRUE, PETSC_FALSE}) {
      PetscCall(KSPRichardsonSetScale(ksp, on ? 2 : 3));
      PetscCall(KSPRichardsonSetSelfScale(ksp, on));
      if (r->scale != (on ? 2 : 3) || r->scales_itself != on) found = 0;
    }
    PetscCall(KSPDestroy(&ksp));
  }
  *known = found == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a solver is a matrix: of one application of a preconditioner that is one.
PetscErrorCode is_linear(KSP ksp, bool* yes) {
  PetscFunctionBegin;
  constexpr const char* linear[] = {PCLU, PCCHOLESKY, PCSVD, PCILU, PCICC, PCJACOBI, PCPBJACOBI, PCSOR, PCNONE};
  *yes = is_of_type(ksp, KSPPREONLY) && ksp->numbermonitors == 0;
  if (!*yes) PetscFunctionReturn(PETSC_SUCCESS);
  if (!is_of_type(ksp->pc, PCBJACOBI)) {
    *yes = std::ranges::any_of(linear, [&](const char* type) { return is_of_type(ksp->pc, type); });
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt count;
  KSP* blocks;
  PetscCall(PCBJacobiGetSubKSP(ksp->pc, &count, nullptr, &blocks));
  for (PetscInt k = 0; k < count && *yes; ++k) PetscCall(is_linear(blocks[k], yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PC_MG& mg_of(PC pc) { return *static_cast<PC_MG*>(pc->data); }

/// As KSPCHEBYSHEV chooses them.
struct Bounds {
  double least, most;
};
Bounds bounds_of(const ChebyshevData& c) {
  const auto& t = c.transform;
  if (c.most != 0) return {double(c.least), double(c.most)};
  const bool is_computed = c.most_computed != 0;
  const PetscReal least = is_computed ? c.least_computed : c.least_provided;
  const PetscReal most = is_computed ? c.most_computed : c.most_provided;
  return {double(t[0] * least + t[1] * most), double(t[2] * least + t[3] * most)};
}

std::string steps_of(KSP ksp, CycleSmoother* s) {
  const auto steps = static_cast<int>(ksp->max_it);
  if (is_of_type(ksp, KSPRICHARDSON)) {
    const auto& r = *static_cast<const RichardsonData*>(ksp->data);
    if (r.scales_itself) return "a smoother of -ksp_richardson_self_scale";
    s->steps.assign(static_cast<std::size_t>(steps), {1, 0, double(r.scale)});
    return "";
  }
  const auto& c = *static_cast<const ChebyshevData*>(ksp->data);
  const Bounds bounds = bounds_of(c);
  if (!(bounds.most > 0)) return "a smoother without estimates of eigenvalues";
  if (c.variant == KSP_CHEBYSHEV_FIRST) {
    s->steps = chebyshev_steps(steps, bounds.least, bounds.most);
    return "";
  }
  const std::vector<double> weights(c.weights, c.weights + steps);
  auto made = fourth_kind_steps(steps, bounds.most, weights.data());
  if (!made) return "a smoother of -ksp_chebyshev_kind opt_fourth with more than two steps";
  s->steps = *std::move(made);
  return "";
}

/// What is wrong with a smoother for a device; empty if nothing is.
std::string why_not_smoother(KSP ksp, Mat A) {
  const char* const type = reinterpret_cast<PetscObject>(ksp)->type_name;
  const char* const of_pc = ksp->pc ? reinterpret_cast<PetscObject>(ksp->pc)->type_name : nullptr;
  const struct {
    bool holds;
    std::string why;
  } reasons[] = {{!is_of_type(ksp, KSPCHEBYSHEV) && !is_of_type(ksp, KSPRICHARDSON),
                  "a smoother of type " + std::string(type ? type : "(none)")},
                 {!ksp->pc || !diagonal_blocks_of(ksp->pc),
                  "a smoother with preconditioner " + std::string(of_pc ? of_pc : "(none)")},
                 {ksp->normtype != KSP_NORM_NONE, "a smoother that makes norms (-mg_levels_ksp_norm_type)"},
                 {ksp->numbermonitors > 0, "a smoother with a monitor"},
                 {ksp->pc_side != PC_LEFT || ksp->transpose_solve || ksp->guess, "a smoother with other options"},
                 {ksp->pc && ksp->pc->mat != A, "a smoother of another matrix than its level's"}};
  for (const auto& [holds, why] : reasons)
    if (holds) return why;
  return "";
}

/// Its values as the matrix has them now.
PetscErrorCode refresh_finest(Mat A, SeqState& st, PlannedCycle& planned, bool* enough) {
  PetscFunctionBegin;
  const PetscInt64 version = st.matrix_values.version(A);
  *enough = true;
  if (planned.finest_version == version) PetscFunctionReturn(PETSC_SUCCESS);
  Backend& on = planned.finest->backend();
  PetscCall(begin_device_work(on));
  PetscCall(guarded_memory(comm_of(A), enough, [&] {
    planned.finest->try_update_values(st.matrix_values.read(A, on), Memory::backend, Fit::known);
  }));
  if (*enough) planned.finest_version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collects a plan; `why_not` ends it.
class Planner {
 public:
  Planner(PC pc, bool single, PlannedCycle* planned, std::string* why_not)
      : pc_(pc),
        mg_(mg_of(pc)),
        on_(*device_backend()),
        is_several_(!is_seq_compound(pc->pmat)),
        planned_(*planned),
        why_not_(*why_not) {
    spare_.swap(planned->factors);
    planned->is_single = single;
  }

  PetscErrorCode run() {
    PetscFunctionBegin;
    PetscCall(take_levels());
    if (why_not_.empty()) PetscCall(take_coarsest());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  PetscErrorCode take_levels() {
    PetscFunctionBegin;
    planned_.plan.scalar = scalar_type_of<Scalar>();
    planned_.plan.cycles = static_cast<int>(mg_.cyclesperpcapply);
    for (PetscInt l = mg_.nlevels - 1; l > 0 && why_not_.empty(); --l) {
      PetscCall(take_level(l));
      if (!why_not_.empty())
        why_not_ = "level " + std::to_string(l) + " of " + std::to_string(mg_.nlevels) + " has " + why_not_;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take_level(PetscInt l) {
    PetscFunctionBegin;
    const PC_MG_Levels& from = *mg_.levels[l];
    CycleLevel to;
    Mat A, other;
    MatNullSpace space;
    PetscCall(KSPGetOperators(from.smoothd, &A, nullptr));
    PetscCall(KSPGetOperators(from.smoothu, &other, nullptr));
    PetscCall(MatGetNullSpace(A, &space));
    const struct {
      bool holds;
      const char* why;
    } reasons[] = {{from.residual != PCMGResidualDefault, "a residual of its own (PCMGSetResidual)"},
                   {from.cr != nullptr, "compatible relaxation"},
                   {from.eventsmoothsolve != 0, "events of its own (-pc_mg_log)"},
                   {A != other || (from.A && from.A != A), "several matrices"},
                   {space != nullptr, "a null space"},
                   {!from.interpolate || !from.restrct, "no interpolation"}};
    for (const auto& [holds, why] : reasons)
      if (holds && why_not_.empty()) why_not_ = why;
    if (why_not_.empty()) why_not_ = why_not_smoother(from.smoothd, A);
    if (why_not_.empty()) why_not_ = why_not_smoother(from.smoothu, A);
    if (why_not_.empty()) PetscCall(take_matrix(A, Op::none, l == mg_.nlevels - 1, &to.A));
    if (why_not_.empty()) PetscCall(take_transfers(from, A, &to));
    if (why_not_.empty()) PetscCall(take_smoother(from.smoothd, &to.down));
    if (why_not_.empty() && from.smoothu != from.smoothd) PetscCall(take_smoother(from.smoothu, &to.up));
    if (!why_not_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    if (from.smoothu == from.smoothd) to.up = to.down;
    to.visits = l == 1 ? 1 : static_cast<int>(from.cycles);
    planned_.plan.levels.push_back(std::move(to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take_transfers(const PC_MG_Levels& from, Mat A, CycleLevel* to) {
    PetscFunctionBegin;
    const bool is_one = from.interpolate == from.restrct;
    PetscCall(take_matrix(from.interpolate, is_one ? Op::transpose : Op::none, false, &to->interpolation));
    if (!why_not_.empty() || is_one) PetscFunctionReturn(PETSC_SUCCESS);
    if (from.restrct->cmap->n != A->rmap->n)
      why_not_ = "a restriction that is the transpose of a matrix of its own";
    else
      PetscCall(take_matrix(from.restrct, Op::none, false, &to->restriction.emplace()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take_matrix(Mat A, Op op, bool is_finest, DeviceMatrix* to) {
    PetscFunctionBegin;
    if (is_several_)
      PetscCall(take_parts(A, op, to));
    else
      PetscCall(take_packed(A, op, is_finest, &to->diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Of several processes.
  PetscErrorCode take_parts(Mat A, Op op, DeviceMatrix* to) {
    PetscFunctionBegin;
    Vec x;
    DeviceParts parts;
    Mat of_matrix[2];
    std::string why = no_packed_storage;
    if (is_compound(A)) {
      PetscCall(device_vector(A, op, &x));
      PetscCall(agree_on_reason(A, &why, [&] { return parts_on_device(A, op, x, &parts, &why); }));
      PetscCall(VecDestroy(&x));
    }
    if (!why.empty()) {
      why_not_ = why == no_packed_storage ? without_packed_storage(A) : "products that leave the devices: " + why;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(mpi_parts(A, &of_matrix[0], &of_matrix[1], nullptr));
    for (Mat part : of_matrix) planned_.matrices.push_back(part);
    for (const PackedMatrix* packed : {parts.diagonal, parts.off_diagonal}) planned_.stamps.push_back(packed->stamp());
    planned_.exchanging.push_back(A);
    planned_.exchange_stamps.push_back(parts.exchange->stamp());
    planned_.group = parts.group;
    *to = parts;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static std::string without_packed_storage(Mat A) {
    return "a matrix of type " + std::string(type_of(A)) + " without packed storage on the device";
  }

  /// Like the x of y = op(A) x.
  static PetscErrorCode device_vector(Mat A, Op op, Vec* x) {
    PetscFunctionBegin;
    const PetscLayout of = op == Op::none ? A->cmap : A->rmap;
    PetscCall(VecCreate(comm_of(A), x));
    PetscCall(VecSetSizes(*x, of->n, of->N));
    PetscCall(VecSetType(*x, VECCUDA));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take_packed(Mat A, Op op, bool is_finest, const PackedMatrix** packed) {
    PetscFunctionBegin;
    SeqState* st;
    MemorySpace space = MemorySpace::device;
    bool there = false;
    *packed = nullptr;
    if (is_seq_compound(A)) {
      PetscCall(seq_state(A, &st));
      PetscCall(expects_device_vectors(A, st->settings, &there));
      if (there) PetscCall(device_copy(A, packed));
      if (*packed) PetscCall(make_ready(A, st, op, &space));
    }
    if (!*packed || space != MemorySpace::device) {
      why_not_ = without_packed_storage(A);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (planned_.is_single && !is_finest) PetscCall(narrow(A, packed));
    if (!why_not_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    planned_.matrices.push_back(A);
    planned_.stamps.push_back((*packed)->stamp());
    if (planned_.is_single && is_finest) PetscCall(narrow_finest(A, *st, packed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode narrow(Mat A, const PackedMatrix** packed) {
    PetscFunctionBegin;
    bool done;
    PetscCall(narrow_device_copy(A, &done));
    if (done) planned_.narrowed.emplace_back(A);
    PetscCall(device_copy(A, packed));
    if (!*packed) why_not_ = "no memory left on the device";
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode narrow_finest(Mat A, SeqState& st, const PackedMatrix** packed) {
    PetscFunctionBegin;
    const bool is_kept = planned_.finest && planned_.finest_stamp == (*packed)->stamp();
    bool enough = true;
    if (!is_kept)
      PetscCall(guarded_memory(comm_of(A), &enough, [&] {
        planned_.finest.reset();
        planned_.finest_version = -1;
        auto narrow = (*packed)->narrowed();
        if (!narrow) return;
        planned_.finest = std::make_unique<PackedMatrix>(*std::move(narrow));
        planned_.finest_stamp = (*packed)->stamp();
      }));
    if (enough && planned_.finest) PetscCall(refresh_finest(A, st, planned_, &enough));
    if (!enough) why_not_ = "no memory left on the device";
    if (enough && planned_.finest) *packed = planned_.finest.get();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take_smoother(KSP ksp, CycleSmoother* to) {
    PetscFunctionBegin;
    PetscInt columns;
    why_not_ = steps_of(ksp, to);
    PetscCall(columns_of_blocks(ksp->pc, &columns));
    to->columns = static_cast<int>(columns);
    to->from_zero = ksp->guess_zero;
    if (why_not_.empty() && columns > 0 && !to->steps.empty()) PetscCall(take_factors(ksp, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Column by column of the preconditioner's blocks: its products with vectors that are 1 in one component of each.
  PetscErrorCode take_factors(KSP ksp, CycleSmoother* to) {
    PetscFunctionBegin;
    Vec unit, column;
    PetscInt n;
    bool enough;
    PetscCall(MatCreateVecs(ksp->pc->pmat, &unit, &column));
    PetscCall(VecGetLocalSize(unit, &n));
    const auto scalars = static_cast<std::size_t>(n), columns = static_cast<std::size_t>(to->columns);
    const std::size_t bytes = scalars * sizeof(Scalar);
    Buffer<Scalar> units, factors;
    DeviceBuffers buffers;
    PetscCall(begin_device_work(on_));
    PetscCall(guarded_memory(PETSC_COMM_SELF, &enough, [&] {
      std::vector<Scalar> ones(columns > 1 ? scalars + columns : 0, Scalar{});
      for (std::size_t i = 0; i < ones.size(); i += columns) ones[i] = Scalar(1);
      units = Buffer<Scalar>(on_, std::span<const Scalar>(ones));
      factors = memory_for(scalars * columns);
    }));
    PetscCall(on_all(ksp->pc->pmat, enough, &enough));
    if (!enough) why_not_ = "no memory left on the device";
    if (columns == 1) PetscCall(VecSet(unit, 1));
    for (std::size_t k = 0; k < columns && enough; ++k) {
      const Scalar* const from = units.data() + (k == 0 ? 0 : columns - k);
      if (columns > 1)
        PetscCall(with_vectors(on_, std::array{VectorUse{unit, Access::write}}, buffers,
                               [&](const auto& v) { on_.copy(v[0], from, bytes); }));
      PetscCall(PCApply(ksp->pc, unit, column));
      PetscCall(with_vectors(on_, std::array{VectorUse{column}}, buffers,
                             [&](const auto& v) { on_.copy(factors.data() + k * scalars, v[0], bytes); }));
    }
    PetscCall(guarded(PETSC_COMM_SELF, [&] { on_.synchronize(); }));  // before `units` are released
    PetscCall(VecDestroy(&unit));
    PetscCall(VecDestroy(&column));
    to->factors = factors.data();
    planned_.factors.push_back(std::move(factors));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// That of the plan before, where it has so many scalars.
  Buffer<Scalar> memory_for(std::size_t scalars) {
    const auto found =
        std::ranges::find_if(spare_, [&](const auto& b) { return b.bytes() == scalars * sizeof(Scalar); });
    if (found == spare_.end()) return Buffer<Scalar>(on_, scalars);
    Buffer<Scalar> taken = std::move(*found);
    spare_.erase(found);
    return taken;
  }

  /// Its solver is applied once and for all to each unit vector, where they are few.
  PetscErrorCode take_coarsest() {
    PetscFunctionBegin;
    KSP const ksp = mg_.levels[0]->smoothd;
    Vec b, x;
    PCFailedReason reason;
    PetscInt n, of_all;
    PetscCall(vectors_of_coarsest(pc_, &b, &x));
    PetscCall(VecGetLocalSize(b, &n));
    PetscCall(VecGetSize(b, &of_all));
    planned_.plan.coarse_scalars = n;
    const auto rows = static_cast<std::size_t>(of_all);
    bool is_applied;
    Mat A;
    MatNullSpace space, of_transpose;
    PetscCall(is_linear(ksp, &is_applied));
    PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
    PetscCall(MatGetNullSpace(A, &space));
    PetscCall(MatGetTransposeNullSpace(A, &of_transpose));
    is_applied = is_applied && !space && !of_transpose && of_all <= most_coarse_unknowns && (n == 0 || n == of_all);
    PetscCall(on_all(pc_->pmat, is_applied, &is_applied));
    std::vector<PetscScalar> inverse(is_applied ? static_cast<std::size_t>(n) * rows : 0);
    bool is_inverse = is_applied;
    if (is_applied) {
      PetscCall(KSPSetUp(ksp));
      PetscCall(KSPSetUpOnBlocks(ksp));
    }
    for (std::size_t j = 0; j < rows && is_applied; ++j) {
      PetscScalar* unit;
      const PetscScalar* column;
      PetscCall(VecGetArrayWrite(b, &unit));
      for (PetscInt i = 0; i < n; ++i) unit[i] = static_cast<std::size_t>(i) == j ? 1 : 0;
      PetscCall(VecRestoreArrayWrite(b, &unit));
      PetscCall(PCApply(ksp->pc, b, x));
      PetscCall(PCGetFailedReason(ksp->pc, &reason));
      is_inverse = is_inverse && reason == PC_NOERROR;
      PetscCall(VecGetArrayRead(x, &column));
      for (PetscInt i = 0; i < n; ++i) inverse[i * rows + j] = column[i];
      PetscCall(VecRestoreArrayRead(x, &column));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(on_all(pc_->pmat, is_inverse, &is_inverse));
    if (!is_inverse) PetscFunctionReturn(PETSC_SUCCESS);
    bool enough;
    PetscCall(begin_device_work(on_));
    PetscCall(guarded_memory(PETSC_COMM_SELF, &enough, [&] {
      planned_.coarse_inverse =
          Buffer<Scalar>(on_, std::span(reinterpret_cast<const Scalar*>(inverse.data()), inverse.size()));
    }));
    PetscCall(on_all(pc_->pmat, enough, &planned_.plan.has_coarse_inverse));
    planned_.plan.coarse_inverse = planned_.coarse_inverse.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PC pc_;
  PC_MG& mg_;
  Backend& on_;
  const bool is_several_;  ///< processes
  PlannedCycle& planned_;
  std::string& why_not_;
  std::vector<Buffer<Scalar>> spare_;
};

}  // namespace

PetscErrorCode plan_cycle(PC pc, bool single, PlannedCycle* planned, std::string* why_not) {
  PetscFunctionBegin;
  const PC_MG& mg = mg_of(pc);
  PetscMPIInt processes;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &processes));
  Backend* const on = device_backend();
  bool known = false;
  PetscCall(known_solvers(&known));
  const struct {
    bool holds;
    const char* why;
  } reasons[] = {{!on || !on->extensions().cycle, "there is no device"},
                 {!known, "the solvers of this PETSc are not known"},
                 {processes > 1 && single, "several processes"},
                 {mg.am != PC_MG_MULTIPLICATIVE, "it is not multiplicative (-pc_mg_type)"},
                 {mg.nlevels < 2, "there is one level"},
                 {mg.stageApply != 0, "it has a stage of its own (-pc_mg_log)"}};
  why_not->clear();
  for (const auto& [holds, why] : reasons)
    if (holds && why_not->empty()) *why_not = why;
  if (why_not->empty()) PetscCall(Planner(pc, single, planned, why_not).run());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

class SignatureMaker {
 public:
  explicit SignatureMaker(CycleSignature* to) : to_(*to) {}

  void note(auto what) { to_.form.push_back((std::uint64_t)what); }
  /// By its text: a new one may lie where the old one was.
  void note_type(void* of) {
    const char* const name = static_cast<PetscObject>(of)->type_name;
    note(std::hash<std::string_view>()(name ? name : ""));
  }

  PetscErrorCode note_solver(KSP ksp) {
    PetscFunctionBegin;
    note(ksp);
    note_type(ksp);
    note(ksp->max_it);
    note(ksp->normtype);
    note(ksp->numbermonitors);
    note(ksp->guess_zero);
    note(ksp->pc);
    if (is_of_type(ksp, KSPCHEBYSHEV)) {
      const auto& c = *static_cast<const ChebyshevData*>(ksp->data);
      const Bounds bounds = bounds_of(c);
      note(c.variant);
      to_.numbers.insert(to_.numbers.end(), {bounds.least, bounds.most});
    }
    if (is_of_type(ksp, KSPRICHARDSON)) {
      const auto& r = *static_cast<const RichardsonData*>(ksp->data);
      note(r.scales_itself);
      to_.numbers.push_back(double(r.scale));
    }
    if (!ksp->pc) PetscFunctionReturn(PETSC_SUCCESS);
    note_type(ksp->pc);
    for (Mat A : {ksp->pc->mat, ksp->pc->pmat}) {  // KSPSetOperators() of its own: the plan's may be destroyed
      PetscObjectState state = 0;
      note(A);
      if (A) PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
      to_.of_values.push_back(state);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// With those of the blocks that it may have.
  PetscErrorCode note_whole_solver(KSP ksp) {
    PetscFunctionBegin;
    PetscInt count;
    KSP* blocks;
    PetscCall(note_solver(ksp));
    if (!ksp->pc || !ksp->pc->setupcalled || !is_of_type(ksp->pc, PCBJACOBI)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PCBJacobiGetSubKSP(ksp->pc, &count, nullptr, &blocks));
    for (PetscInt k = 0; k < count; ++k) PetscCall(note_whole_solver(blocks[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  CycleSignature& to_;
};

}  // namespace

PetscErrorCode signature_of_cycle(PC pc, bool by_inverse, CycleSignature* signature) {
  PetscFunctionBegin;
  const PC_MG& mg = mg_of(pc);
  *signature = {};
  SignatureMaker maker(signature);
  maker.note(mg.am);
  maker.note(mg.cyclesperpcapply);
  maker.note(mg.nlevels);
  for (PetscInt l = 0; l < mg.nlevels; ++l) {
    const PC_MG_Levels& level = *mg.levels[l];
    PetscCall(l == 0 && by_inverse ? maker.note_whole_solver(level.smoothd) : maker.note_solver(level.smoothd));
    if (level.smoothu != level.smoothd) PetscCall(maker.note_solver(level.smoothu));
    maker.note(level.cycles);
    maker.note(level.interpolate);
    maker.note(level.restrct);
    maker.note(level.residual);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_smoothers(PC pc) {
  PetscFunctionBegin;
  const PC_MG& mg = mg_of(pc);
  for (PetscInt l = 0; l < mg.nlevels; ++l)
    for (KSP ksp : {mg.levels[l]->smoothd, mg.levels[l]->smoothu}) PetscCall(KSPSetUp(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_storage_kept(PlannedCycle& planned, bool* kept) {
  PetscFunctionBegin;
  SeqState* st;
  *kept = true;
  for (std::size_t k = 0; k < planned.matrices.size() && *kept; ++k) {
    const PackedMatrix* packed;
    PetscCall(device_copy(planned.matrices[k], &packed));
    *kept = packed && packed->stamp() == planned.stamps[k];
  }
  for (std::size_t k = 0; k < planned.exchanging.size() && *kept; ++k) {
    MpiState* of_matrix;
    PetscCall(mpi_state(planned.exchanging[k], &of_matrix));
    const PeerExchange* const exchange = of_matrix->ghosts.exchange.get();
    *kept = exchange && exchange->stamp() == planned.exchange_stamps[k];
  }
  if (!*kept || !planned.finest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(planned.matrices.front(), &st));
  PetscCall(refresh_finest(planned.matrices.front(), *st, planned, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_on_coarsest(PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  KSP const ksp = mg_of(pc).levels[0]->smoothd;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPCheckSolve(ksp, pc, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_to_noise(PC pc, Vec v) { return KSPSetNoisy_Private(pc->pmat, v); }

PetscErrorCode vectors_of_coarsest(PC pc, Vec* b, Vec* x) {
  PetscFunctionBegin;
  Mat A;
  PetscCall(KSPGetOperators(mg_of(pc).levels[0]->smoothd, &A, nullptr));
  PetscCall(MatCreateVecs(A, x, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin

#else

namespace compound::plugin {

PetscErrorCode plan_cycle(PC, bool, PlannedCycle*, std::string* why_not) {
  *why_not = PetscDefined(HAVE_CUDA) ? "PETSc is not of release 3.26" : "PETSc has no CUDA";
  return PETSC_SUCCESS;
}
PetscErrorCode signature_of_cycle(PC, bool, CycleSignature*) { return PETSC_SUCCESS; }
PetscErrorCode set_up_smoothers(PC) { return PETSC_SUCCESS; }
PetscErrorCode is_storage_kept(PlannedCycle&, bool* kept) {
  *kept = false;
  return PETSC_SUCCESS;
}
PetscErrorCode solve_on_coarsest(PC, Vec, Vec) { return PETSC_SUCCESS; }
PetscErrorCode set_to_noise(PC, Vec) { return PETSC_SUCCESS; }
PetscErrorCode vectors_of_coarsest(PC, Vec*, Vec*) { return PETSC_SUCCESS; }

}  // namespace compound::plugin

#endif

namespace compound::plugin {

NarrowMatrix::NarrowMatrix(Mat A) : A_(A) {
  static_cast<void>(PetscObjectReference(reinterpret_cast<PetscObject>(A)));  // fails for no object that is there
}

NarrowMatrix::~NarrowMatrix() {
  if (!A_) return;
  static_cast<void>(widen_device_copy(A_));
  static_cast<void>(MatDestroy(&A_));
}

}  // namespace compound::plugin
