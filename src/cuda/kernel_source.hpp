// From a plan to the text that NVRTC compiles: the plan's values as constants, then one kernel.
#pragma once

#include <optional>
#include <string>

#include "backend/krylov_loop.hpp"
#include "backend/multigrid.hpp"
#include "device/chunk_codes.hpp"
#include "device/layout/layout_args.hpp"
#include "device/operation.hpp"
#include "device/product_dot.hpp"
#include "plan/plan.hpp"

namespace compound::cuda {

/// Why no kernel can be made of a plan that is right in itself; empty if one can.
std::optional<std::string> why_no_kernel(const Plan& plan, const Problem& problem);

/// Kernels are named `kernel` whatever they do.
inline constexpr const char* kernel_name = "kernel";

/// y = [z +] op(A) x. `shares_values`: over a layout of A^T's pattern with value_slot (device/kernels.hpp). Two kernels
/// for rows in order and not, and for a z and none: told apart while they run they cost 4 %. `aligned`: x, y and z
/// begin at multiples of vector_access(); the text of both is one where that is of no use.
std::string product_source(const Plan& plan, const Problem& problem, Op op, Update update, bool shares_values,
                           bool reordered, bool aligned, Follow follow = Follow::nothing);

/// Whether products by A add to y whatever the pattern: rows are left out, or several workers add to one.
inline bool adds_always(const Plan& plan) { return plan.layout.row_list || plan.schedule.carries == Carries::atomic; }

/// Whether products are those of a half, by two kernels.
inline bool goes_by_patches(const Plan& plan) { return plan.half != Half::none; }

/// Vectors that a worker of this plan multiplies at once, at most: a power of two that leaves its sums in registers. 1
/// where kernels for several do not exist.
inline constexpr int most_vectors_at_once = 16;
int most_vectors(const Plan& plan, const Problem& problem, Op op = Op::none);
/// y = [z +] op(A) x of so many vectors: [2, most_vectors()].
std::string vectors_source(const Plan& plan, const Problem& problem, Op op, Update update, bool reordered, bool aligned,
                           int vectors, Follow follow = Follow::nothing);

/// Bytes of the widest access to blocks of vectors that a product by this plan may use; 0: none of several numbers.
int vector_access(const Plan& plan, const Problem& problem);

/// After a product by slots: what chunks add to rows that began before them.
std::string carries_source(const Plan& plan, const Problem& problem, Op op, Follow follow = Follow::nothing);

/// A product of a half is made by two kernels: this one multiplies patches, a block of threads each, and that of
/// product_source() adds up what they have made for each scalar of y.
std::string patches_source(const Plan& plan, const Problem& problem, Op op, bool reordered, Follow follow);

std::string pack_source(const Plan& plan, const Problem& problem);
/// The same where the layout has some of the entries: a part of several.
std::string pack_part_source(const Plan& plan, const Problem& problem);
/// Sums by lists to packed words, and packed words to full blocks: of all entries or of a part of them.
std::string pack_sums_source(const Plan& plan, const Problem& problem);
std::string unpack_source(const Plan& plan, const Problem& problem);
/// Words of A, packed by one plan, to those of A^T, packed by another.
std::string regroup_source(const Plan& from, const Plan& to, const Problem& problem);

/// Over DiagonalArgs, one worker a position: the diagonal scalars, and the inverses of the diagonal blocks.
std::string diagonal_source(const Plan& plan, const Problem& problem);
std::string inverse_source(const Plan& plan, const Problem& problem);
/// Over symmetry_args, workers_of_symmetry() (device/symmetry.hpp).
std::string symmetry_source(const Plan& plan, const Problem& problem);

/// Over fit_args, one thread block of threads_of_tile a tile of the problem's blocks (device/first_misfit.hpp).
std::string fit_source(std::string_view entry, const Problem& problem);
/// A trial of a user's kind (device/entry_trial.hpp), by one thread.
std::string entry_trial_source(std::string_view entry, const Problem& problem);

/// The dictionary of a code of values (device/code_items.hpp), one worker an item; a word of the dictionary.
std::string note_items_source();
std::string write_codes_source(const ValueCode& code);
std::string gather_items_source();
/// Over chunk_code_args, one worker a word.
std::string chunk_step_source(ChunkStep step);

/// Over order_args, workers_of_block_row for each block row.
std::string order_source(ScalarType scalar);

/// Over SumArgs, one worker a scalar of a sum of blocks of side x side.
std::string sum_source(ScalarType scalar, Update update, int side);

/// The steps from contributions to lists of sums (device/contributions.hpp), in their order, over contribution_args of
/// indices of so many bytes: one worker a contribution, or a warp a row.
enum class ContributionStep { count, put, sort, list };
inline constexpr ContributionStep contribution_steps[] = {ContributionStep::count, ContributionStep::put,
                                                          ContributionStep::sort, ContributionStep::list};
bool by_contributions(ContributionStep step);
std::string contribution_source(ContributionStep step, int index_bytes);

/// The steps of multigrid's set-up (backend/multigrid.hpp). `size`: of a block's side, which `weigh_edges` alone knows.
std::string graph_source(GraphStep step);
std::string strength_source(StrengthStep step, ScalarType scalar, int size);
std::string smooth_source(ScalarType scalar);
std::string basis_source(ScalarType scalar);
std::string product_pattern_source(const ColumnTable& table, int inner);
std::string transpose_source(TransposeStep step);
std::string slots_source(const LayoutFamily& family);

/// Of a cycle (device/cycle.hpp): one worker a scalar, and a warp a row.
std::string smoothing_pass_source(ScalarType scalar);
std::string dense_source(ScalarType scalar);

/// All steps, for those that make kernels ahead.
inline constexpr GraphStep graph_steps[] = {GraphStep::begin_states,  GraphStep::find_nearest,
                                            GraphStep::decide,        GraphStep::join_neighbours,
                                            GraphStep::join_the_rest, GraphStep::check_symmetry};
inline constexpr StrengthStep strength_steps[] = {StrengthStep::weigh_edges, StrengthStep::count_kept,
                                                  StrengthStep::write_kept};
inline constexpr TransposeStep transpose_steps[] = {TransposeStep::count, TransposeStep::put, TransposeStep::sort};

/// A stage of an iteration (device/cg.hpp, bcgs.hpp) as a kernel of its own, in blocks of threads_of_krylov.
inline constexpr int threads_of_krylov = 256;
/// Which sums a stage ends with: its process's; those of all processes, by their devices; its process's, for a library
/// to gather; or those of all processes, after that.
enum class StageSums { alone, met, before_gathering, after_gathering };
std::string krylov_stage_source(const KrylovProblem& problem, const std::string& stage, StageSums sums);
/// The same of several systems, by CG: the grid's first dimension, so that blocks with the same scalars, which read the
/// same of M, run side by side; the second is of blocks.
std::string krylov_systems_source(const KrylovProblem& problem, const std::string& stage);
/// A kernel template of device/krylov.hpp, in such blocks.
std::string krylov_source(const KrylovProblem& problem, const std::string& kernel, const std::string& arguments);

/// A step of an exchange of a vector's values (device/peers.hpp), over exchange_args in such blocks.
enum class ExchangeStep { put, take, add };
inline constexpr ExchangeStep exchange_steps[] = {ExchangeStep::put, ExchangeStep::take, ExchangeStep::add};
std::string exchange_source(ScalarType scalar, ExchangeStep step);

/// A pass of device/vector_passes.hpp, by its name there, over pass_args in such blocks.
std::string pass_source(ScalarType scalar, bool hermitian, bool diagonal, const std::string& pass);

/// Of a loop in one kernel.
struct WholeForm {
  bool two_grid_syncs;  ///< an iteration; CG alone
  bool keeps_words;     ///< of the matrix, in the first cache
};
/// All iterations in one kernel over whole_args (device/krylov_whole.hpp), in blocks of at most threads_of_whole_loop,
/// one a multiprocessor: that this is said is worth up to a third, since loads are then put further ahead. The plan
/// goes by rows or components and visits all rows.
inline constexpr int threads_of_whole_loop = 1024;
struct LoopProduct {
  const Plan& plan;
  const Problem& problem;
  bool reordered, aligned;
};
/// `by_ghosts`: where other processes have rows of the problem, the product with what this one reads of them; or null.
std::string whole_loop_source(const KrylovProblem& problem, const LoopProduct& product, const LoopProduct* by_ghosts,
                              WholeForm whole);

/// Type names of the device text: "double", "complex_number<float>", "dense<double, 3, 3>".
std::string scalar_name(ScalarType scalar);
std::string entry_name(std::string_view entry, const Problem& problem);

/// Workers of a product, whole warps: what device/kernels.hpp's workers_of() gives there.
slot_t workers_of(const Plan& plan, const Problem& problem, Op op, const layout_args& layout);

}  // namespace compound::cuda
