#include "pc/multigrid_on_device.hpp"

#include "petsc/guard.hpp"

// Private structures of PETSc: other releases may have others.
#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 26, 0) && PETSC_VERSION_LT(3, 27, 0)

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcgamgimpl.h>
#include <petsc/private/pcmgimpl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/multigrid.hpp"
#include "pattern/aggregates.hpp"
#include "spgemm/block_product_on_device.hpp"
#include "spgemm/new_entries.hpp"
#include "spgemm/product_on_device.hpp"
#include "spgemm/product_results.hpp"
#include "spgemm/products_of_matrices.hpp"
#include "spmv/input_blocks.hpp"
#include "spmv/packing.hpp"
#include "spmv/placement.hpp"
#include "spmv/refresh.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

namespace {

constexpr ScalarType scalar = scalar_type_of<Scalar>();
constexpr PetscInt most_modes = 32, most_components = 32;

/// PCGAMG's settings of aggregation, which its source alone knows (agg.c). known_settings() checks that they lie here.
struct AggregationSettings {
  PetscInt smoothings;
  PetscInt aggressive_levels;
  PetscInt aggressive_distance;
  PetscBool squares_graph;
  PetscBool by_degree;
  PetscBool saves_memory;
  PetscBool symmetrizes;
};

PC_GAMG* gamg_of(PC pc) { return static_cast<PC_GAMG*>(static_cast<PC_MG*>(pc->data)->innerctx); }

/// Whether a change by each of PETSc's functions is seen in AggregationSettings. Asked once.
PetscErrorCode known_settings(bool* known) {
  PetscFunctionBegin;
  static int found = -1;
  if (found < 0) {
    PC pc;
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCGAMG));
    PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
    const auto* const s = static_cast<const AggregationSettings*>(gamg_of(pc)->subctx);
    found = 1;
    for (const PetscInt n : {3, 4}) {
      const PetscBool on = n == 3 ? PETSC_TRUE : PETSC_FALSE;
      PetscCall(PCGAMGSetNSmooths(pc, n));
      PetscCall(PCGAMGSetAggressiveLevels(pc, n + 2));
      PetscCall(PCGAMGMISkSetAggressive(pc, n + 4));
      PetscCall(PCGAMGSetAggressiveSquareGraph(pc, on));
      PetscCall(PCGAMGMISkSetMinDegreeOrdering(pc, on));
      PetscCall(PCGAMGSetLowMemoryFilter(pc, on));
      PetscCall(PCGAMGSetGraphSymmetrize(pc, on));
      if (s->smoothings != n || s->aggressive_levels != n + 2 || s->aggressive_distance != n + 4 ||
          s->squares_graph != on || s->by_degree != on || s->saves_memory != on || s->symmetrizes != on)
        found = 0;
    }
    PetscCall(PCDestroy(&pc));
  }
  *known = found == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What options of MatCoarsen say, which PCGAMG reads by two prefixes.
struct CoarsenOptions {
  bool is_independent_set = false;
  PetscInt distance = 1;
  std::vector<PetscInt> components;
};

PetscErrorCode read_coarsen_options(PC pc, const char* more, CoarsenOptions* options) {
  PetscFunctionBegin;
  Scoped<MatCoarsen, MatCoarsenDestroy> owner;
  const char* prefix;
  PetscBool is_misk;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(MatCoarsenCreate(PETSC_COMM_SELF, owner.out()));
  MatCoarsen const crs = owner;
  PetscCall(PetscObjectSetOptionsPrefix(reinterpret_cast<PetscObject>(crs), prefix));
  PetscCall(PetscObjectAppendOptionsPrefix(reinterpret_cast<PetscObject>(crs), more));
  PetscCall(MatCoarsenSetFromOptions(crs));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(crs), MATCOARSENMISK, &is_misk));
  options->is_independent_set = is_misk;
  if (is_misk) PetscCall(MatCoarsenMISKGetDistance(crs, &options->distance));
  options->components.assign(crs->strength_index, crs->strength_index + crs->strength_index_size);
  PetscCall(owner.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A level whose prolongator the device makes.
struct Level {
  std::shared_ptr<const PlacedPattern> A;
  std::shared_ptr<const PlacedPattern> tentative;
  Buffer<Scalar> basis;           ///< its values
  std::vector<PetscReal> coarse;  ///< the near null space on the aggregates: [modes][aggregates * modes]
};

/// One set-up; PCGAMG's steps find it as `running`.
class DeviceSetUp {
 public:
  DeviceSetUp(bool must, LevelPlaces* places) : must_(must), places_(*places) {}
  PetscErrorCode run(PC pc, PetscErrorCode (*base)(PC));

 private:
  PetscErrorCode take_modes(PC pc, Mat A);
  PetscErrorCode create_graph(PC pc, Mat A, Mat* graph);
  PetscErrorCode coarsen(PC pc, Mat* graph, PetscCoarsenData** lists);
  PetscErrorCode make_prolongator(PC pc, Mat A, PetscCoarsenData* lists, Mat* P);
  PetscErrorCode smooth_prolongator(PC pc, Mat A, Mat* P);

  PetscErrorCode ask_preconditioner(PC pc);
  PetscErrorCode ask_level(PC pc, Mat A, std::string* why_not);
  PetscErrorCode find_aggregates(PC pc, Mat A, std::string* why_not);
  PetscErrorCode estimate_eigenvalues(PC pc, Mat A, PetscReal* least, PetscReal* most);
  PetscErrorCode smooth_once(Mat A, PetscReal factor, Mat* P, bool* done);
  PetscErrorCode finish_on_device(Mat A, PetscReal factor, Mat* P, bool* done);
  PetscErrorCode bring_tentative(Mat A, Mat* P);
  int distance(const PC_GAMG& gamg) const;

  _PCGAMGOps base_ = {};
  AggregationSettings settings_ = {};
  CoarsenOptions first_options_, later_options_;
  const bool must_;
  LevelPlaces& places_;
  Buffer<double> modes_;  ///< of the finest level; empty: PCGAMG has them on the host
  std::optional<Level> level_;
};

/// The set-up that is running. One set-up may run in another's: coarse solvers are preconditioners, too.
thread_local DeviceSetUp* running = nullptr;

/// A step of it, as PCGAMG calls them.
template <auto step>
struct OfRunning;
template <class... Args, PetscErrorCode (DeviceSetUp::*step)(Args...)>
struct OfRunning<step> {
  static PetscErrorCode call(Args... args) { return (running->*step)(args...); }
};

/// Why none of a preconditioner's levels can be set up on a device.
PetscErrorCode DeviceSetUp::ask_preconditioner(PC pc) {
  PetscFunctionBegin;
  const PC_GAMG& gamg = *gamg_of(pc);
  bool known = false;
  PetscMPIInt processes;
  PCGAMGType type;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &processes));
  PetscCall(PCGAMGGetType(pc, &type));
  const bool aggregates = type && std::strcmp(type, PCGAMGAGG) == 0;
  std::string& why_not = places_.why_not;
  if (!aggregates) why_not = "it aggregates no nodes";
  if (why_not.empty()) PetscCall(known_settings(&known));
  if (why_not.empty() && !known) why_not = "the settings of this PETSc's PCGAMG are not known";
  if (!why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  settings_ = *static_cast<const AggregationSettings*>(gamg.subctx);
  PetscCall(read_coarsen_options(pc, "pc_gamg_", &first_options_));
  PetscCall(read_coarsen_options(pc, "", &later_options_));
  const struct {
    bool holds;
    const char* why;
  } reasons[] = {{PetscDefined(USE_COMPLEX), "scalars are complex"},
                 {processes > 1, "several processes"},
                 {!device_backend() || !device_backend()->extensions().multigrid, "there is no device"},
                 {gamg.use_aggs_in_asm == PETSC_TRUE, "-pc_gamg_asm_use_agg"},
                 {gamg.asm_hem_aggs > 0, "-pc_gamg_asm_hem_aggs"},
                 {gamg.injection_index_size > 0, "-pc_gamg_injection_index"},
                 {gamg.prolongator_filter > 0, "-pc_gamg_prolongator_filter"},
                 {settings_.by_degree == PETSC_TRUE, "-pc_gamg_mis_k_minimum_degree_ordering"},
                 {settings_.saves_memory == PETSC_TRUE, "-pc_gamg_low_memory_threshold_filter"},
                 {!first_options_.is_independent_set || !later_options_.is_independent_set, "-mat_coarsen_type"}};
  for (const auto& [holds, why] : reasons)
    if (holds && why_not.empty()) why_not = why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Between roots. PETSc squares the graph for aggressive levels, and takes roots of distance 1 in the square.
int DeviceSetUp::distance(const PC_GAMG& gamg) const {
  if (gamg.current_level < settings_.aggressive_levels)
    return settings_.squares_graph ? 2 : static_cast<int>(settings_.aggressive_distance);
  const bool reads_again = settings_.squares_graph && settings_.aggressive_levels > 0;
  return static_cast<int>((reads_again ? later_options_ : first_options_).distance);
}

/// A level's matrix in blocks of its block size, values in the order of rows.
PetscErrorCode blocks_of_level(Mat A, BlockArrays* blocks, bool* fit) {
  PetscFunctionBegin;
  PetscInt rows, columns;
  PetscCall(MatGetBlockSizes(A, &rows, &columns));
  if (rows == 1)
    PetscCall(block_arrays(A, blocks));
  else
    PetscCall(full_blocks_of(A, blocks, fit));
  *fit = rows == columns && (rows == 1 || *fit) &&
         blocks->block == BlockShape{static_cast<int>(rows), static_cast<int>(rows)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSetUp::ask_level(PC pc, Mat A, std::string* why_not) {
  PetscFunctionBegin;
  const PC_GAMG& gamg = *gamg_of(pc);
  BlockArrays blocks;
  const char* no_device;
  bool fits = false;
  PetscInt rows;
  PetscCall(why_no_device(A, &no_device));
  if (!no_device) PetscCall(blocks_of_level(A, &blocks, &fits));
  PetscCall(MatGetBlockSize(A, &rows));
  const int apart = distance(gamg);
  const struct {
    bool holds;
    const char* why;
  } reasons[] = {
      {no_device != nullptr, no_device},
      {!fits, "the matrix is not in full blocks of its block size"},
      {apart != 1 && apart != 2, "the distance of roots is neither 1 nor 2"},
      {std::ranges::any_of(first_options_.components, [rows](PetscInt c) { return c < 0 || c >= rows; }),
       "-mat_coarsen_strength_index names a component that nodes do not have"},
      {rows > most_components || gamg.data_cell_cols > most_modes, "nodes have too many components or modes"},
      {!gamg.data || gamg.data_cell_rows != rows || gamg.data_sz != A->rmap->n * gamg.data_cell_cols,
       "the near null space is of another size"}};
  for (const auto& [holds, why] : reasons)
    if (holds && why_not->empty()) *why_not = why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Packs A for products on the device, where they run there.
PetscErrorCode pack_on_device(Mat A, Op op) {
  PetscFunctionBegin;
  SeqState* st;
  MemorySpace space = MemorySpace::device;
  const char* no_device;
  PetscCall(why_no_device(A, &no_device));
  if (no_device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  PetscCall(make_ready(A, st, op, &space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The prolongators and their transposes, which the first cycle would pack.
PetscErrorCode pack_prolongators(PC pc) {
  PetscFunctionBegin;
  PetscInt levels;
  PetscCall(PCMGGetLevels(pc, &levels));
  for (PetscInt level = 1; level < levels; ++level) {
    Mat P;
    PetscCall(PCMGGetInterpolation(pc, level, &P));
    for (const Op op : {Op::none, Op::transpose}) PetscCall(pack_on_device(P, op));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Edges of the level's graph. PETSc symmetrises it unless the matrix is known to be symmetric.
std::optional<PlacedRows> filtered_graph(Backend& on, const PlacedPattern& A, const Scalar* values, double threshold,
                                         bool symmetrize, const std::vector<PetscInt>& components) {
  if (threshold < 0) return {};
  unsigned bits = components.empty() ? ~0u : 0;
  for (const PetscInt c : components) bits |= 1u << c;
  return on.extensions().multigrid->strong_edges({.scalar = scalar,
                                                  .size = A.block().rows,
                                                  .pattern = A.rows(),
                                                  .values = values,
                                                  .components = bits,
                                                  .symmetrize = symmetrize,
                                                  .threshold = threshold});
}

/// Numbers of PCGAMG's in the memory of a device.
Buffer<double> sent(Backend& on, const PetscReal* data, std::size_t count) {
  const std::vector<double> wide(data, data + (sizeof(PetscReal) == sizeof(double) ? 0 : count));
  const double* const from = wide.empty() ? reinterpret_cast<const double*>(data) : wide.data();
  return Buffer<double>(on, std::span(from, count));
}

/// Columns of Q and R of the near null space on aggregates. `mode`: on the device.
Level level_of(Backend& on, std::shared_ptr<const PlacedPattern> A, const Aggregates& aggregates, int modes,
               const double* mode) {
  const int size = A->block().rows;
  const std::size_t of_coarse = static_cast<std::size_t>(aggregates.size()) * modes * modes;
  Level level{
      std::move(A), std::make_shared<PlacedPattern>(on, aggregates.tentative.view(), BlockShape{size, modes}), {}, {}};
  level.basis = Buffer<Scalar>(on, level.tentative->scalars());
  const Buffer<count32> start(on, std::span<const count32>(aggregates.start));
  const Buffer<idx> node(on, std::span<const idx>(aggregates.node));
  const Buffer<double> coarse(on, of_coarse);
  basis_args a;
  a.aggregates = aggregates.size();
  a.start = start.data();
  a.node = node.data();
  a.size = size;
  a.modes = modes;
  a.rows = slot_t{aggregates.tentative.rows} * size;
  a.mode = mode;
  a.row_start = level.tentative->rows().start.data();
  a.basis = level.basis.data();
  a.coarse = coarse.data();
  on.extensions().multigrid->orthonormalize(scalar, a, static_cast<slot_t>(aggregates.node.size()));
  std::vector<double> found(of_coarse);
  if (of_coarse > 0) on.download(found.data(), coarse.data(), coarse.bytes());
  level.coarse.assign(found.begin(), found.end());
  return level;
}

/// Vectors of the near null space to the device, without a copy of PCGAMG's on the host. Where that cannot be PCGAMG
/// takes them, here or when the level comes to the host.
PetscErrorCode DeviceSetUp::take_modes(PC pc, Mat A) {
  PetscFunctionBegin;
  PC_GAMG& gamg = *gamg_of(pc);
  Backend& on = *device_backend();
  MatNullSpace space;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0, size;
  const Vec* vectors = nullptr;
  const char* no_device;
  bool enough = false;
  const auto rows = static_cast<std::size_t>(A->rmap->n);
  PetscCall(MatGetNearNullSpace(A, &space));
  PetscCall(why_no_device(A, &no_device));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  bool fits = !no_device && count > 0 && gamg.reuse_prol && std::is_same_v<PetscScalar, double>;
  for (PetscInt k = 0; k < count && fits; ++k) {
    PetscCall(VecGetLocalSize(vectors[k], &size));
    fits = size == A->rmap->n;
  }
  const std::size_t modes = static_cast<std::size_t>(count) + (constant ? 1 : 0);
  if (fits) {
    PetscCall(begin_device_work(on));
    PetscCall(guarded_memory(comm_of(A), &enough, [&] {
      modes_ = Buffer<double>(on, modes * rows);
      if (constant) on.upload(modes_.data(), std::vector<double>(rows, 1).data(), rows * sizeof(double));
    }));
  }
  if (!enough) {
    PetscCall(base_.createdefaultdata(pc, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < count; ++k) {
    const PetscScalar* from;
    PetscMemType memory;
    double* const to = modes_.data() + (static_cast<std::size_t>(k) + (constant ? 1 : 0)) * rows;
    PetscCall(VecGetArrayReadAndMemType(vectors[k], &from, &memory));
    PetscCall(guarded(comm_of(A), [&] {
      PetscMemTypeDevice(memory) ? on.copy(to, from, rows * sizeof(double))
                                 : on.upload(to, from, rows * sizeof(double));
    }));
    PetscCall(VecRestoreArrayReadAndMemType(vectors[k], &from));
  }
  PetscCall(MatGetBlockSize(A, &gamg.data_cell_rows));
  gamg.data_cell_cols = static_cast<PetscInt>(modes);
  gamg.data_sz = static_cast<PetscInt>(modes * rows);
  PetscCall(PetscMalloc1(gamg.data_sz, &gamg.data));  // not written
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSetUp::find_aggregates(PC pc, Mat A, std::string* why_not) {
  PetscFunctionBegin;
  const PC_GAMG& gamg = *gamg_of(pc);
  Backend& on = *device_backend();
  SeqState* st;
  BlockArrays blocks;
  bool fits, enough;
  PetscBool known, symmetric;
  PetscCall(seq_state(A, &st));
  PetscCall(blocks_of_level(A, &blocks, &fits));
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  const bool is_symmetric = known && symmetric;
  PetscCall(begin_device_work(on));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(guarded_memory(comm_of(A), &enough, [&] {
    Pattern copied;
    MultigridWork& work = *on.extensions().multigrid;
    const auto pattern = placed_pattern(on, A, {pattern_of(blocks, copied), blocks.block});
    const double threshold = gamg.threshold[gamg.current_level];
    const Scalar* const values = st->matrix_values.read(A, on);  // products of matrices follow in any case
    const auto filtered = filtered_graph(on, *pattern, values, threshold, settings_.symmetrizes && !is_symmetric,
                                         first_options_.components);
    const PlacedRows& graph = filtered ? *filtered : pattern->rows();
    if (!is_symmetric && !work.is_symmetric(graph)) {
      *why_not = "the pattern is not symmetric";
      return;
    }
    const Aggregates aggregates = aggregates_of(work.roots(graph, distance(gamg)));
    const bool are_there = modes_.bytes() > 0;
    const Buffer<double> own =
        are_there ? Buffer<double>() : sent(on, gamg.data, static_cast<std::size_t>(gamg.data_sz));
    level_ = level_of(on, pattern, aggregates, static_cast<int>(gamg.data_cell_cols),
                      are_there ? modes_.data() : own.data());
  }));
  PetscCall(PetscLogGpuTimeEnd());
  if (!enough) *why_not = "the device has no memory left";
  if (level_) PetscCall(pack_on_device(A, Op::none));  // from the values there
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSetUp::create_graph(PC pc, Mat A, Mat* graph) {
  PetscFunctionBegin;
  std::string why_not;
  const bool finest = gamg_of(pc)->current_level == 0;
  level_.reset();
  if (finest) places_.levels.clear();
  PetscCall(ask_level(pc, A, &why_not));
  if (why_not.empty()) {
    PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_COARSEN], A, nullptr, nullptr, nullptr));
    PetscCall(find_aggregates(pc, A, &why_not));
    PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_COARSEN], A, nullptr, nullptr, nullptr));
  }
  PetscCheck(level_ || !must_ || !finest, comm_of(A), PETSC_ERR_SUP,
             "-pc_gamg_compound_set_up device: the finest level cannot be set up on a device (%s); use auto or host",
             why_not.c_str());
  places_.levels.push_back(level_ ? "on the device" : "on the host: " + why_not);
  PetscCall(PetscInfo(pc, "The set-up of level %" PetscInt_FMT " runs %s\n", gamg_of(pc)->current_level,
                      places_.levels.back().c_str()));
  if (!level_ && modes_.bytes() > 0) {  // PCGAMG's array has nothing yet
    PetscCall(PetscFree(gamg_of(pc)->data));
    PetscCall(base_.createdefaultdata(pc, A));
  }
  modes_ = {};
  if (!level_) {
    PetscCall(base_.creategraph(pc, A, graph));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, graph));  // nothing but PETSc's driver sees it
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSetUp::coarsen(PC pc, Mat* graph, PetscCoarsenData** lists) {
  PetscFunctionBegin;
  PetscCall(level_ ? PetscCDCreate(1, lists) : base_.coarsen(pc, graph, lists));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of sizes alone: smooth_prolongator() follows.
PetscErrorCode DeviceSetUp::make_prolongator(PC pc, Mat A, PetscCoarsenData* lists, Mat* P) {
  PetscFunctionBegin;
  if (!level_) {
    PetscCall(base_.prolongator(pc, A, lists, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PC_GAMG& gamg = *gamg_of(pc);
  const PetscInt modes = gamg.data_cell_cols, aggregates = level_->tentative->rows().cols;
  *P = nullptr;
  if (aggregates == 0) {
    PetscCall(PetscInfo(pc, "No node has neighbours: coarsening stops\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreate(comm_of(A), P));
  PetscCall(MatSetSizes(*P, A->rmap->n, aggregates * modes, A->rmap->n, aggregates * modes));
  PetscCall(MatSetBlockSizes(*P, A->rmap->bs, modes));
  PetscCall(PetscFree(gamg.data));
  PetscCall(PetscMalloc1(level_->coarse.size(), &gamg.data));
  std::ranges::copy(level_->coarse, gamg.data);
  gamg.data_cell_rows = modes;
  gamg.data_sz = static_cast<PetscInt>(level_->coarse.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of D^-1 A, as PCGAMGOptimizeProlongator_AGG() has them: ten steps from PETSc's own start.
PetscErrorCode DeviceSetUp::estimate_eigenvalues(PC pc, Mat A, PetscReal* least, PetscReal* most) {
  PetscFunctionBegin;
  const PC_GAMG& gamg = *gamg_of(pc);
  KSP ksp;
  PC jacobi;
  Vec b, x;
  const char* prefix;
  PetscBool known, definite;
  *least = gamg.emin;
  *most = gamg.emax;
  if (gamg.emax > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &b, nullptr));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSetNoisy_Private(A, b));
  PetscCall(KSPCreate(comm_of(A), &ksp));
  PetscCall(KSPSetNestLevel(ksp, pc->kspnestlevel));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(ksp, "pc_gamg_esteig_"));
  PetscCall(MatIsSPDKnown(A, &known, &definite));
  if (known && definite) PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetErrorIfNotConverged(ksp, pc->erroriffailure));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &jacobi));
  PetscCall(PCSetType(jacobi, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 10));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPCheckSolve(ksp, pc, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, most, least));
  PetscCall(PetscInfo(pc, "Smoothing of a prolongator: eigenvalues %g to %g\n", static_cast<double>(*least),
                      static_cast<double>(*most)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of A's type and rows, of blocks that are not values yet.
PetscErrorCode empty_prolongator(Mat A, const Pattern& pattern, BlockShape block, Mat* P) {
  PetscFunctionBegin;
  MatType const type = reinterpret_cast<PetscObject>(A)->type_name;
  PetscCall(MatCreate(comm_of(A), P));
  PetscCall(
      MatSetSizes(*P, A->rmap->n, static_cast<PetscInt>(pattern.cols) * block.cols, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*P, type));
  PetscCall(MatSetOption(*P, MAT_USE_INODES, PETSC_FALSE));  // for which assembly would compare all columns
  PetscCall(make_of_pattern(*P, type, pattern, block));
  PetscCall(take_vec_type(*P, {A}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A prolongator with a pattern and values of the device's. `write`(values) queues what writes them all. `done` is
/// false, and P null, where the device has no memory for them.
template <class Write>
PetscErrorCode prolongator_of(Mat A, std::shared_ptr<const PlacedPattern> pattern, const Write& write, Mat* P,
                              bool* done) {
  PetscFunctionBegin;
  Backend& on = *device_backend();
  SeqState* st;
  Pattern on_host;
  PetscCall(guarded(comm_of(A), [&] { on_host = pattern->pattern(on); }));
  PetscCall(empty_prolongator(A, on_host, pattern->block(), P));
  PetscCall(seq_state(*P, &st));
  PetscCall(guarded_memory(comm_of(A), done, [&] {
    write(st->matrix_values.write(*P, on, false));
    on.synchronize();  // before what it reads is released
  }));
  if (!*done) {
    PetscCall(MatDestroy(P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  st->placed = {(*P)->nonzerostate, std::move(pattern)};
  PetscCall(st->matrix_values.wrote(*P));
  PetscCall(guard_values(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The level's tentative prolongator, on the host.
PetscErrorCode DeviceSetUp::bring_tentative(Mat A, Mat* P) {
  PetscFunctionBegin;
  Backend& on = *device_backend();
  Pattern pattern;
  PetscScalar* values;
  PetscCall(guarded(comm_of(A), [&] { pattern = level_->tentative->pattern(on); }));
  PetscCall(empty_prolongator(A, pattern, level_->tentative->block(), P));
  PetscCall(MatSeqAIJGetArrayWrite(*P, &values));
  PetscCall(guarded(comm_of(A), [&] { on.download(values, level_->basis.data(), level_->basis.bytes()); }));
  PetscCall(MatSeqAIJRestoreArrayWrite(*P, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// P <- P + factor D^-1 A P. The level's tentative prolongator where P is null.
PetscErrorCode DeviceSetUp::smooth_once(Mat A, PetscReal factor, Mat* P, bool* done) {
  PetscFunctionBegin;
  Backend& on = *device_backend();
  SeqState *of_A, *of_P = nullptr;
  Vec diagonal;
  const PetscScalar* inverse;
  PetscMemType memory;
  std::shared_ptr<const PlacedPattern> pattern;
  Mat smoothed = nullptr;
  PetscCall(seq_state(A, &of_A));
  if (*P) PetscCall(seq_state(*P, &of_P));
  const PlacedPattern& before = of_P ? *of_P->placed.pattern : *level_->tentative;
  PetscCall(MatCreateVecs(A, &diagonal, nullptr));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecReciprocal(diagonal));
  PetscCall(VecGetArrayReadAndMemType(diagonal, &inverse, &memory));
  PetscCall(begin_device_work(on));
  Buffer<Scalar> sent;
  PetscCall(guarded_memory(comm_of(A), done, [&] {
    if (!PetscMemTypeDevice(memory)) {
      const auto n = static_cast<std::size_t>(A->rmap->n);
      sent = Buffer<Scalar>(on, std::span(reinterpret_cast<const Scalar*>(inverse), n));
    }
    if (auto found = product_pattern(on, *level_->A, before, true))
      pattern = std::make_shared<PlacedPattern>(*std::move(found));
  }));
  *done = *done && pattern;
  const auto write = [&](Scalar* values) {
    const Scalar* const of_before = of_P ? of_P->matrix_values.read(*P, on) : level_->basis.data();
    const auto* const a = of_A->matrix_values.read(A, on);
    multiply(on, scalar, {*level_->A, const_cast<Scalar*>(a)}, {before, const_cast<Scalar*>(of_before)},
             {*pattern, values});
    smooth_args s;
    s.rows = pattern->rows().rows;
    s.height = pattern->block().rows;
    s.width = pattern->block().cols;
    s.start = pattern->rows().start.data();
    s.column = pattern->rows().column.data();
    s.values = values;
    s.scale = sent.data() ? static_cast<const void*>(sent.data()) : inverse;
    s.factor = static_cast<double>(factor);
    s.before_start = before.rows().start.data();
    s.before_column = before.rows().column.data();
    s.before = of_before;
    on.extensions().multigrid->smooth(scalar, s);
  };
  if (*done) PetscCall(prolongator_of(A, pattern, write, &smoothed, done));
  PetscCall(VecRestoreArrayReadAndMemType(diagonal, &inverse));
  PetscCall(VecDestroy(&diagonal));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuFlops(2 * multiplications(*level_->A, *pattern)));
  PetscCall(MatDestroy(P));
  *P = smoothed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The level's prolongator, smoothed by I + factor D^-1 A as often as is set. `done` is false where the device cannot.
PetscErrorCode DeviceSetUp::finish_on_device(Mat A, PetscReal factor, Mat* P, bool* done) {
  PetscFunctionBegin;
  *done = true;
  for (PetscInt k = 0; k < settings_.smoothings && *done; ++k) PetscCall(smooth_once(A, factor, P, done));
  if (settings_.smoothings > 0) PetscFunctionReturn(PETSC_SUCCESS);
  const auto write = [&](Scalar* values) {
    device_backend()->copy(values, level_->basis.data(), level_->basis.bytes());
  };
  PetscCall(prolongator_of(A, level_->tentative, write, P, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceSetUp::smooth_prolongator(PC pc, Mat A, Mat* P) {
  PetscFunctionBegin;
  if (!level_) {
    PetscCall(base_.optprolongator(pc, A, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PC_MG& mg = *static_cast<PC_MG*>(pc->data);
  const PC_GAMG& gamg = *gamg_of(pc);
  PetscReal least = 0, most = 0;
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_OPT], A, nullptr, nullptr, nullptr));
  PetscCall(MatDestroy(P));
  if (settings_.smoothings > 0) {
    PetscCall(estimate_eigenvalues(pc, A, &least, &most));
    PetscCheck(most != 0, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_PLIB,
               "Computed maximum singular value as zero");
  }
  const bool keeps = settings_.smoothings > 0 && gamg.use_sa_esteig;
  mg.min_eigen_DinvA[gamg.current_level] = keeps ? least : 0;
  mg.max_eigen_DinvA[gamg.current_level] = keeps ? most : 0;
  bool done;
  PetscCall(PetscLogEventBegin(petsc_gamg_setup_events[GAMG_OPTSM], A, nullptr, nullptr, nullptr));
  PetscCall(finish_on_device(A, settings_.smoothings > 0 ? PetscReal(-1.4) / most : 0, P, &done));
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_OPTSM], A, nullptr, nullptr, nullptr));
  PetscCall(PetscLogEventEnd(petsc_gamg_setup_events[GAMG_OPT], A, nullptr, nullptr, nullptr));
  if (!done) {
    places_.levels.back() += ", but for the prolongator: the device has no memory left";
    PetscCall(MatDestroy(P));
    PetscCall(bring_tentative(A, P));
    level_.reset();
    PetscCall(base_.optprolongator(pc, A, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  level_.reset();
  PetscCall(MatViewFromOptions(*P, nullptr, "-pc_gamg_agg_view_prolongation"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCGAMG's steps are exchanged for the time of its set-up: PCGAMGSetType() makes them anew.
PetscErrorCode DeviceSetUp::run(PC pc, PetscErrorCode (*base)(PC)) {
  PetscFunctionBegin;
  PetscCall(ask_preconditioner(pc));
  if (!places_.why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  _PCGAMGOps* const ops = gamg_of(pc)->ops;
  base_ = *ops;
  ops->createdefaultdata = for_petsc<OfRunning<&DeviceSetUp::take_modes>::call>;
  ops->creategraph = for_petsc<OfRunning<&DeviceSetUp::create_graph>::call>;
  ops->coarsen = for_petsc<OfRunning<&DeviceSetUp::coarsen>::call>;
  ops->prolongator = for_petsc<OfRunning<&DeviceSetUp::make_prolongator>::call>;
  ops->optprolongator = for_petsc<OfRunning<&DeviceSetUp::smooth_prolongator>::call>;
  DeviceSetUp* const outer = std::exchange(running, this);
  const PetscErrorCode code = base(pc);
  running = outer;
  *gamg_of(pc)->ops = base_;
  PetscCall(code);
  PetscCall(pack_prolongators(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode set_up_on_device(PC pc, PetscErrorCode (*base)(PC), bool must, LevelPlaces* places) {
  return DeviceSetUp(must, places).run(pc, base);
}

}  // namespace compound::plugin

#else

namespace compound::plugin {

PetscErrorCode set_up_on_device(PC, PetscErrorCode (*)(PC), bool, LevelPlaces* places) {
  places->why_not = PetscDefined(HAVE_CUDA) ? "PETSc is not of release 3.26" : "PETSc has no CUDA";
  return PETSC_SUCCESS;
}

}  // namespace compound::plugin

#endif
