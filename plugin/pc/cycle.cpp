#include "pc/cycle.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "pc/cycle_plan.hpp"
#include "petsc/agree.hpp"
#include "petsc/guard.hpp"
#include "petsc/owned.hpp"
#include "spmv/device_vectors.hpp"
#include "spmv/placement.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound cycle of multigrid";

constexpr const char* names_of_precision[] = {"double", "single"};

/// Hangs on the preconditioner.
struct CycleState {
  bool wanted = true, wants_single = false;
  std::string why_not;     ///< PETSc runs the cycle, after a set-up
  std::string why_double;  ///< matrices are not in single precision, as was asked for
  CycleSignature signature;
  PlannedCycle planned;
  std::unique_ptr<Cycle> cycle;
  Vec coarse_b = nullptr, coarse_x = nullptr;
  DeviceBuffers buffers, coarse_buffers;
  _PCOps base = {};  ///< what ours call

  CycleState() = default;
  CycleState(const CycleState&) = delete;
  ~CycleState() {  // a new type of the preconditioner asks for no reset
    static_cast<void>(VecDestroy(&coarse_b));
    static_cast<void>(VecDestroy(&coarse_x));
  }
};

PetscErrorCode state_of(PC pc, CycleState** s) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(pc), container_name, s));
  PetscCheck(*s, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_PLIB, "A multigrid has lost its cycle");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's own application from now on.
PetscErrorCode leave(PC pc, CycleState& s, const std::string& why) {
  PetscFunctionBegin;
  s.why_not = why;
  s.cycle.reset();
  s.planned = {};
  PetscCall(VecDestroy(&s.coarse_b));
  PetscCall(VecDestroy(&s.coarse_x));
  if (!why.empty() && device_backend()) PetscCall(PetscInfo(pc, "PETSc runs the cycle: %s\n", why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For Cycle::CoarseSolve, which throws.
struct petsc_failed {
  PetscErrorCode code;
};

PetscErrorCode solve_coarsest(PC pc, CycleState& s, const void* b, void* x) {
  PetscFunctionBegin;
  Backend& on = *device_backend();
  const std::size_t bytes = static_cast<std::size_t>(s.planned.plan.coarse_scalars) * sizeof(Scalar);
  PetscCall(with_vectors(on, std::array{VectorUse{s.coarse_b, Access::write}}, s.coarse_buffers,
                         [&](const auto& v) { on.copy(v[0], b, bytes); }));
  PetscCall(solve_on_coarsest(pc, s.coarse_b, s.coarse_x));
  PetscCall(with_vectors(on, std::array{VectorUse{s.coarse_x}}, s.coarse_buffers,
                         [&](const auto& v) { on.copy(x, v[0], bytes); }));
  PetscCall(begin_device_work(on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From then on a device waits for other devices alone.
PetscErrorCode wait_for_hosts(const CycleState& s) {
  PetscFunctionBegin;
  if (!s.planned.group) PetscFunctionReturn(PETSC_SUCCESS);
  const std::string lost = s.planned.group->why_not_now();
  PetscCheck(lost.empty(), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", lost.c_str());
  s.planned.group->announce();
  s.planned.group->wait_for_hosts();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x = B b by the cycle, as it was recorded or not.
PetscErrorCode run_cycle(CycleState& s, Vec b, Vec x, bool recorded) {
  PetscFunctionBegin;
  Backend& on = *device_backend();
  PetscErrorCode code = PETSC_SUCCESS;
  PetscCall(wait_for_hosts(s));
  PetscCall(begin_device_work(on));
  PetscCall(with_vectors(on, std::array{VectorUse{b}, VectorUse{x, Access::write}}, s.buffers, [&](const auto& v) {
    try {
      recorded ? s.cycle->replay(v[0], v[1]) : s.cycle->run(v[0], v[1]);
    } catch (const petsc_failed& failed) {
      code = failed.code;
    }
  }));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the cycle in single precision does what PETSc's does, on a vector of hashes: values may be too large or too
/// small for it.
PetscErrorCode compare_with_base(PC pc, CycleState& s, std::string* why_not) {
  PetscFunctionBegin;
  constexpr PetscReal most = 1e-3;
  Vec b, x, y;
  PetscReal of_base, difference;
  PetscCall(MatCreateVecs(pc->pmat, &b, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(set_to_noise(pc, b));
  PetscCall(s.base.apply(pc, b, y));
  PetscCall(run_cycle(s, b, x, false));
  PetscCall(VecNorm(y, NORM_2, &of_base));
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, NORM_2, &difference));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  if (PetscIsInfOrNanReal(of_base))
    *why_not = "its result is not finite";
  else if (!(difference <= most * of_base))
    *why_not = "the result in single precision is off by " + std::to_string(double(difference / of_base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Plans the cycle, or takes new numbers for the one that is there.
PetscErrorCode plan_anew(PC pc, CycleState& s, bool single, std::string* why_not) {
  PetscFunctionBegin;
  PlannedCycle planned;
  CycleSignature now;
  PetscCall(signature_of_cycle(pc, s.planned.plan.has_coarse_inverse, &now));
  const bool may_be_kept = s.cycle && s.signature.form == now.form;
  planned.factors = std::move(s.planned.factors);
  if (single) {
    planned.finest = std::move(s.planned.finest);
    planned.finest_version = s.planned.finest_version;
    planned.finest_stamp = s.planned.finest_stamp;
    planned.narrowed = std::move(s.planned.narrowed);
  }
  s.planned.narrowed.clear();
  PetscCall(plan_cycle(pc, single, &planned, why_not));
  std::erase_if(planned.narrowed, [&](const NarrowMatrix& narrow) {
    return std::ranges::find(planned.matrices, narrow.matrix()) == planned.matrices.end();
  });
  bool is_kept = may_be_kept && why_not->empty() && s.planned.stamps == planned.stamps &&
                 s.planned.matrices == planned.matrices && s.planned.exchange_stamps == planned.exchange_stamps &&
                 s.planned.is_single == planned.is_single;
  PetscCall(on_all(pc->pmat, is_kept, &is_kept));
  if (!is_kept) PetscCall(leave(pc, s, ""));
  s.planned = std::move(planned);
  PetscCall(signature_of_cycle(pc, s.planned.plan.has_coarse_inverse, &s.signature));
  if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_kept) s.cycle->take(s.planned.plan);
  if (!s.planned.plan.has_coarse_inverse && !s.coarse_b) PetscCall(vectors_of_coarsest(pc, &s.coarse_b, &s.coarse_x));
  const Cycle::CoarseSolve coarse = [pc, &s](const void* b, void* x) {
    if (const PetscErrorCode code = solve_coarsest(pc, s, b, x)) throw petsc_failed{code};
  };
  PetscErrorCode code = PETSC_SUCCESS;
  const auto step = [&](const std::function<void()>& work) -> PetscErrorCode {
    PetscFunctionBegin;
    bool enough = true;
    if (is_kept || !why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(agree_on_reason(pc->pmat, why_not, [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCall(guarded_memory(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &enough, [&] {
        try {
          work();
        } catch (const petsc_failed& failed) {
          code = failed.code;
        } catch (const error& e) {  // no compiler for kernels that are not built in
          *why_not = e.what();
        }
      }));
      PetscCall(code);
      if (!enough) *why_not = "the device has no memory left";
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(step([&] { s.cycle = std::make_unique<Cycle>(*device_backend(), s.planned.plan, coarse); }));
  PetscCall(wait_for_hosts(s));
  PetscCall(step([&] { s.cycle->prepare(); }));
  if (single && why_not->empty()) PetscCall(compare_with_base(pc, s, why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A reason that asks for new numbers alone.
constexpr const char* new_values = "values";

/// What has changed since the cycle was planned, on all processes.
PetscErrorCode why_not_any_more(PC pc, CycleState& s, std::string* why_not) {
  PetscFunctionBegin;
  bool kept = true;
  PetscCall(agree_on_reason(pc->pmat, why_not, [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    CycleSignature now;
    PetscCall(signature_of_cycle(pc, s.planned.plan.has_coarse_inverse, &now));
    if (s.signature.form != now.form || s.signature.numbers != now.numbers)
      *why_not = "its options have changed since";
    else if (s.signature.of_values != now.of_values)
      *why_not = new_values;
    if (why_not->empty()) PetscCall(is_storage_kept(s.planned, &kept));
    if (!kept) *why_not = "a matrix was packed again since";
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that have changed without a set-up of the whole: PETSc's own application sets up the smoothers, and so does
/// this.
PetscErrorCode follow_values(PC pc, CycleState& s, std::string* why_not) {
  PetscFunctionBegin;
  why_not->clear();
  PetscCall(set_up_smoothers(pc));
  PetscCall(plan_anew(pc, s, s.planned.is_single, why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  bool b_there = false, x_there = false;
  PetscCall(state_of(pc, &s));
  if (s->cycle) {
    std::string why_not;
    PetscCall(why_not_any_more(pc, *s, &why_not));
    if (why_not == new_values) PetscCall(follow_values(pc, *s, &why_not));
    if (!why_not.empty()) PetscCall(leave(pc, *s, why_not));
  }
  if (s->cycle) {
    PetscCall(is_on_device(b, &b_there));
    PetscCall(is_on_device(x, &x_there));
  }
  if (!b_there || !x_there) {
    PetscCall(s->base.apply(pc, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(run_cycle(*s, b, x, true));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(s->cycle->flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  PetscCall(state_of(pc, &s));
  PetscCall(leave(pc, *s, ""));
  if (s->base.reset) PetscCall(s->base.reset(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  PetscBool text;
  PetscCall(state_of(pc, &s));
  if (s->base.view) PetscCall(s->base.view(pc, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &text));
  if (!text || !device_backend()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->why_not.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound cycle: by PETSc: %s\n", s->why_not.c_str()));
  if (!s->cycle) PetscFunctionReturn(PETSC_SUCCESS);
  const CyclePlan& plan = s->cycle->plan();
  const Cycle::Shape shape = s->cycle->shape();
  std::string graphs;
  if (shape.graphs > 0)
    graphs = shape.graphs == 1 ? ", one graph of " : ", " + std::to_string(shape.graphs) + " graphs of ";
  if (shape.graphs > 0) graphs += std::to_string(shape.size) + " kernels";
  PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound cycle: on the device%s; the coarsest level %s\n",
                                   graphs.c_str(), plan.has_coarse_inverse ? "by its inverse" : "by PETSc"));
  if (s->planned.is_single)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound cycle: matrices in single precision\n"));
  if (!s->why_double.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound cycle: matrices in double precision: %s\n",
                                     s->why_double.c_str()));
  for (std::size_t l = 0; l < plan.levels.size(); ++l)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound cycle, level %d: smoothing %s\n",
                                     static_cast<int>(plan.levels.size() - l),
                                     s->cycle->is_fused(l) ? "in the kernels of products" : "after products"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Arguments differ by release; their name is that of PETSc's macros.
constexpr auto set_from_options = [](PC pc, auto PetscOptionsObject) -> PetscErrorCode {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  PetscCall(state_of(pc, &s));
  if (s->base.setfromoptions) PetscCall(s->base.setfromoptions(pc, PetscOptionsObject));
  PetscBool wanted = s->wanted ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-pc_mg_compound_cycle",
                             "Run cycles of multigrid on the device where it can (default true)", nullptr, wanted,
                             &wanted, nullptr));
  s->wanted = wanted;
  PetscInt precision = s->wants_single ? 1 : 0;
  PetscCall(PetscOptionsEList("-pc_mg_compound_precision",
                              "Precision of matrices in cycles on the device (default double); vectors stay double",
                              nullptr, names_of_precision, 2, names_of_precision[precision], &precision, nullptr));
  s->wants_single = precision == 1;
  PetscFunctionReturn(PETSC_SUCCESS);
};

/// Puts `ours` in the place of what is there, once.
template <class Function>
void exchange(Function*& there, Function* ours, Function*& base) {
  if (there == ours) return;
  base = there;
  there = ours;
}

}  // namespace

PetscErrorCode prepare_cycle(PC pc) {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  PetscCall(composed(reinterpret_cast<PetscObject>(pc), container_name, &s));
  if (!s || pc->ops->apply != for_petsc<apply>) {
    auto made = std::make_unique<CycleState>();
    s = made.get();
    PetscCall(compose_owned(reinterpret_cast<PetscObject>(pc), container_name, std::move(made)));
  }
  exchange(pc->ops->apply, for_petsc<apply>, s->base.apply);
  exchange(pc->ops->reset, for_petsc<reset>, s->base.reset);
  exchange(pc->ops->view, for_petsc<view>, s->base.view);
  const decltype(_PCOps::setfromoptions) from_options = set_from_options;
  exchange(pc->ops->setfromoptions, from_options, s->base.setfromoptions);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode release_cycle(PC pc) {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  PetscCall(composed(reinterpret_cast<PetscObject>(pc), container_name, &s));
  if (s && pc->flag == DIFFERENT_NONZERO_PATTERN) s->planned.narrowed.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_cycle(PC pc, const std::function<PetscErrorCode()>& set_up) {
  PetscFunctionBegin;
  CycleState* s = nullptr;
  std::string why_not;
  PetscCall(state_of(pc, &s));
  const bool was_narrow = !s->planned.narrowed.empty();
  bool becomes_double = s->wanted && !s->wants_single && was_narrow;
  s->why_double.clear();
  if (!s->wanted)
    why_not = "-pc_mg_compound_cycle false";
  else if (!becomes_double)
    PetscCall(plan_anew(pc, *s, s->wants_single, &why_not));
  if (s->wanted && s->wants_single && !why_not.empty()) {
    s->why_double = std::exchange(why_not, "");
    becomes_double = true;
  }
  if (becomes_double) {
    PetscCall(leave(pc, *s, ""));
    if (was_narrow) PetscCall(set_up());  // estimates were made by matrices that may not have had their values
    PetscCall(plan_anew(pc, *s, false, &why_not));
  }
  if (!why_not.empty()) {
    PetscCall(leave(pc, *s, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->why_not.clear();
  PetscCall(PetscInfo(pc, "The cycle runs on the device: %d levels, the coarsest %s; matrices in %s precision\n",
                      static_cast<int>(s->planned.plan.levels.size()) + 1,
                      s->planned.plan.has_coarse_inverse ? "by its inverse" : "by PETSc",
                      s->planned.is_single ? "single" : "double"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
