#include "types/expected_plan.hpp"

#include "copies/choices.hpp"
#include "copies/given_blocks.hpp"
#include "copies/vec_types.hpp"
#include "types/figures.hpp"
#include "types/mpi_state.hpp"

namespace compound::plugin {

PetscErrorCode place_of_view(Mat A, const Settings& settings, Place* place) {
  PetscFunctionBegin;
  bool device;
  PetscCall(expects_device_vectors(A, settings, &device));
  const bool by_name = settings.backend == row_of(Place::device).backend && !is_bound(A) && device_backend();
  *place = device || by_name ? Place::device : Place::host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string left_to_parent(const std::string& reason) {
  return "none: products are left to the parent type" + (reason.empty() ? "" : ", since " + reason);
}

namespace {

/// One part of a matrix, of which only the pattern is looked at.
struct Part {
  const Settings& settings;
  const Family& family;
  BlockShape own;  ///< of the whole matrix
  BlockArrays arrays;
  bool off_diagonal;
  Place place;
};

/// The plan for these blocks if they were dense: what they are is looked at by the first product.
std::string plan_for(const Part& part, const BlockArrays& b, const PatternView& pattern) {
  const Settings& s = part.settings;
  const std::string_view on = row_of(part.place).backend;
  const Problem problem{b.block, scalar_type_of<Scalar>(), b.order, s.reproducible};
  if (const auto why = why_scalars_stay(s, part.family, part.place, b.block); !why.empty()) return left_to_parent(why);
  const Plan plan = plan_from_settings(s, on, part.off_diagonal, pattern, statistics(pattern), problem, "dense");
  if (const auto why = why_refused(s, part.off_diagonal, pattern, problem, plan, on); !why.empty())
    return "none: " + why;
  const auto misfit = applicable(plan, problem);
  const auto no_code = part.place == Place::host ? backend("host").applicable(plan, problem) : std::nullopt;
  return misfit ? "none: " + *misfit : no_code ? left_to_parent(*no_code) : to_string(plan);
}

/// Adds to what is shown; the plan is returned.
std::string expect(const Part& part, ShownPlan* shown) try {
  Pattern copied;
  GivenBlocks found;
  BlockArrays b = part.arrays;
  if (!part.family.keeps_blocks) find_blocks(part.settings, part.off_diagonal, part.own, b, &found);
  if (found.are_full) b = in_blocks(b, found);
  const PatternView pattern = pattern_of(b, copied);
  const int size = b.block.rows;
  const BlockShape wanted =
      part.family.keeps_blocks ? packed_block(part.settings, part.off_diagonal, pattern, size) : found.wanted;
  const double fill = wanted == b.block ? 1 : sampled_fill(pattern, size, wanted);
  const bool others =
      wanted != b.block && is_worth_packing(part.settings, part.family, part.off_diagonal, wanted, fill);
  if (!part.off_diagonal) shown->block = others ? wanted : b.block;
  if (!part.off_diagonal && found.are_full) shown->full_blocks = b.block;
  if (!others) return plan_for(part, b, pattern);
  const double scalars = static_cast<double>(b.entries()) * size * size;
  shown->given += scalars;
  shown->stored += scalars / fill;
  return "none yet: the first product packs blocks of " + text_of(wanted);
} catch (const std::exception& e) {
  return std::string("none: ") + e.what();
}

}  // namespace

PetscErrorCode expect_plans(Mat A, const Settings& settings, ShownPlan* shown) {
  PetscFunctionBegin;
  Mat diagonal = A, off = nullptr;
  Part part{settings, *kinship(A).family, own_block(A), {}, false, Place::host};
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
  PetscCall(place_of_view(A, settings, &part.place));
  PetscCall(block_arrays(diagonal, &part.arrays));
  shown->is_expected = true;
  shown->has_blocks = part.arrays.entries() > 0;
  shown->plan = expect(part, shown);
  shown->origin = "expected for dense blocks; nothing is packed before the first product";
  if (!off) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(block_arrays(off, &part.arrays));
  part.off_diagonal = true;
  const std::string of_off = expect(part, shown);
  const bool says_more = of_off != shown->plan || !of_off.starts_with("none");
  if (says_more) shown->plan += " off: " + of_off;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
