// Compiled so that sums may be added up in another order than they are written in (plugin/CMakeLists.txt), which makes
// vector instructions of them: in one order for a machine, whatever the process.
#include "ksp/host_passes.hpp"

// The loader picks the code for the machine, by what the processor can do: "arch=..." would mean that one processor
// alone. Sanitizers are not there yet when the loader picks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define COMPOUND_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define COMPOUND_CLONES
#endif

namespace compound::plugin {

namespace {

template <bool is_hermitian, bool is_diagonal>
struct form {
  using scalar = Scalar;
  static constexpr bool hermitian = is_hermitian, diagonal = is_diagonal;
};

template <class Pass>
[[gnu::always_inline]] inline PassSums run(const HostPass& a) {
  const Pass pass = Pass::of(a.numbers.data(), a.vectors.data());
  PassSums sums{};
#pragma GCC ivdep
  for (slot_t i = 0; i < a.scalars; ++i) pass(i, sums.data());
  return sums;
}

template <template <class> class Pass>
[[gnu::always_inline]] inline PassSums run_form(const HostPass& a) {
  if (is_complex<Scalar> && !a.hermitian)
    return a.diagonal ? run<Pass<form<false, true>>>(a) : run<Pass<form<false, false>>>(a);
  return a.diagonal ? run<Pass<form<true, true>>>(a) : run<Pass<form<true, false>>>(a);
}

}  // namespace

COMPOUND_CLONES PassSums run_on_host(const HostPass& a) {
  switch (a.pass) {
    case VectorPass::cg_step:
      return run_form<cg_step_pass>(a);
    case VectorPass::cg_turn:
      return run_form<cg_turn_pass>(a);
    case VectorPass::cg_advance:
      return run_form<cg_advance_pass>(a);
    case VectorPass::cg_sums:
      return run_form<cg_sums_pass>(a);
    case VectorPass::bcgs_first:
      return run_form<bcgs_first_pass>(a);
    case VectorPass::bcgs_half:
      return run_form<bcgs_half_pass>(a);
    case VectorPass::bcgs_second:
      return run_form<bcgs_second_pass>(a);
    case VectorPass::bcgs_step:
      return run_form<bcgs_step_pass>(a);
    case VectorPass::bcgs_turn:
      return run_form<bcgs_turn_pass>(a);
  }
  return {};
}

}  // namespace compound::plugin
