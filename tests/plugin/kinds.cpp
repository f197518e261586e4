#include "kinds.hpp"

#include <algorithm>
#include <type_traits>

#include "entry/list.hpp"
#include "twins.hpp"

namespace petsc_test {

namespace {

#if defined(PETSC_USE_COMPLEX)
using S = compound::complex_number<PetscReal>;
#else
using S = PetscReal;
#endif

/// The scalar as the device text has it, or its real part.
template <class To>
To converted(PetscScalar v) {
  if constexpr (compound::is_complex<To>)
    return {PetscRealPart(v), PetscImaginaryPart(v)};
  else
    return PetscRealPart(v);
}

PetscScalar back(S v) {
#if defined(PETSC_USE_COMPLEX)
  return {v.re, v.im};
#else
  return v;
#endif
}

template <class Entry>
Kind kind_of() {
  using Word = typename Entry::word;
  Kind kind;
  kind.name = Entry::name;
  kind.size = Entry::any_size ? 0 : Entry::block_rows;
  kind.kept = [](int bs) { return Entry::of(bs, bs).words(); };
  kind.real_words = !std::is_same_v<Word, S> || !PetscDefined(USE_COMPLEX);
  kind.scalar = [](const std::vector<PetscScalar>& words, int i, int j) {
    return back(Entry::block([&](int k, int) { return converted<Word>(words[static_cast<std::size_t>(k)]); }, i, j));
  };
  return kind;
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  compound::for_each_kind<S>([&]<class Listed, class Entry>() {
    if constexpr (Listed::sizes < 2 && !requires { Entry::tolerance; }) all.push_back(kind_of<Entry>());
  });
  return all;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = all_kinds();
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
  std::vector<PetscScalar> words;
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
