#include "kinds.hpp"

#include <algorithm>

#include "twins.hpp"

namespace petsc_test {

namespace {

using Words = std::vector<PetscScalar>;

int four(int) { return 4; }

constexpr int quaternion_size = PetscDefined(USE_COMPLEX) ? 2 : 4;

PetscScalar quaternion_scalar(const PetscScalar* w, int i, int j) {
#if defined(PETSC_USE_COMPLEX)
  const PetscScalar one = {PetscRealPart(w[0]), PetscRealPart(w[1])},
                    other = {PetscRealPart(w[2]), PetscRealPart(w[3])};
  if (i == j) return i == 0 ? one : PetscConj(one);
  return i == 0 ? other : -PetscConj(other);
#else
  const PetscScalar a = w[0], b = w[1], c = w[2], d = w[3];
  const PetscScalar block[4][4] = {{a, -b, -c, -d}, {b, a, -d, c}, {c, d, a, -b}, {d, -c, b, a}};
  return block[i][j];
#endif
}

#if !defined(PETSC_USE_COMPLEX)
PetscScalar complex_scalar(const Words& w, int i, int j) { return i == j ? w[0] : i > j ? w[1] : -w[1]; }
#endif

/// [[p, 0], [q, p]]
PetscScalar dual_scalar(const Words& w, int i, int j) {
  const int n = quaternion_size;
  if (i < n && j >= n) return 0;
  return quaternion_scalar(w.data() + (i >= n && j < n ? 4 : 0), i % n, j % n);
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
#if !defined(PETSC_USE_COMPLEX)
    {"complex", 2, [](int) { return 2; }, false, complex_scalar},
#endif
    {"quaternion", quaternion_size, four, true,
     [](const Words& w, int i, int j) { return quaternion_scalar(w.data(), i, j); }},
    {"dual_quaternion", 2 * quaternion_size, [](int) { return 8; }, true, dual_scalar},
    {"diagonal", 0, [](int bs) { return bs; }, false,
     [](const Words& w, int i, int j) { return i == j ? w[static_cast<std::size_t>(i)] : PetscScalar(0); }},
    {"scaled_identity", 0, [](int) { return 1; }, false,
     [](const Words& w, int i, int j) { return i == j ? w[0] : PetscScalar(0); }},
  };
  return all;
}

std::string some_kind(int bs) {
  const auto exists = [bs](const Kind& k) { return k.exists(bs); };
  const auto found = std::find_if(kinds().begin(), kinds().end(), exists);
  return found == kinds().end() ? "" : found->name;
}

int some_size(const Kind& kind) { return kind.size == 0 ? 3 : kind.size; }

std::vector<PetscScalar> block_of(const std::string& kind, int bs, std::uint64_t seed) {
  const auto words_of = static_cast<PetscInt>(std::max(bs, 8));
  Words words;
  for (PetscInt k = 0; k < words_of; ++k) words.push_back(value(seed, k));
  const auto found = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.name == kind; });
  std::vector<PetscScalar> block;
  for (int i = 0; i < bs; ++i)
    for (int j = 0; j < bs; ++j) block.push_back(found->scalar(words, i, j));
  return block;
}

std::string entry_text(const std::string& kind, int bs, const std::string& how) {
  const auto k = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& row) { return row.name == kind; });
  if (k == kinds().end()) return kind + " (" + how + ")";
  const bool halves = PetscDefined(USE_COMPLEX) && k->real_words;
  return kind + " (" + std::to_string(k->kept(bs)) + " of " + std::to_string(bs * bs * (halves ? 2 : 1)) +
         (halves ? " real numbers" : " scalars") + " kept; " + how + ")";
}

}  // namespace petsc_test
