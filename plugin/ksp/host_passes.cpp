// Compiled so that sums may be added up in another order than they are written in (plugin/CMakeLists.txt), which makes
// vector instructions of them: in one order for a machine, whatever the process.
#include "ksp/host_passes.hpp"

// The loader picks the code for the machine. Sanitizers are not there yet when it does.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define COMPOUND_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define COMPOUND_CLONES
#endif

namespace compound::plugin::passes {

namespace {

inline Scalar product(Scalar a, Scalar b, Inner inner) { return (inner == Inner::hermitian ? conjugate(a) : a) * b; }

[[gnu::always_inline]] inline void add(StepSums& s, Scalar r, Scalar z, Inner inner) {
  s.rho += product(r, z, inner);
  s.of_z += product(z, z, Inner::hermitian);
  s.of_r += product(r, r, Inner::hermitian);
}

}  // namespace

COMPOUND_CLONES StepSums step_with_diagonal(std::size_t n, Scalar alpha, const Scalar* __restrict d,
                                            Scalar* __restrict w_then_z, Scalar* __restrict r, Inner inner) {
  StepSums s;
  for (std::size_t i = 0; i < n; ++i) {
    Scalar next = r[i];
    next -= alpha * w_then_z[i];
    const Scalar z = d[i] * next;
    r[i] = next;
    w_then_z[i] = z;
    add(s, next, z, inner);
  }
  return s;
}

COMPOUND_CLONES StepSums sums(std::size_t n, const Scalar* __restrict z, const Scalar* __restrict r, Inner inner) {
  StepSums s;
  for (std::size_t i = 0; i < n; ++i) add(s, r[i], z[i], inner);
  return s;
}

COMPOUND_CLONES void turn(std::size_t n, Scalar alpha, Scalar beta, const Scalar* __restrict z, Scalar* __restrict x,
                          Scalar* __restrict p) {
  for (std::size_t i = 0; i < n; ++i) {
    const Scalar of_p = p[i];
    Scalar next = z[i];
    x[i] += alpha * of_p;
    next += beta * of_p;
    p[i] = next;
  }
}

}  // namespace compound::plugin::passes
