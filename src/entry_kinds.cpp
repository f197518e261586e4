#include "entry_kinds.hpp"

#include "entry_list.hpp"
#include "error.hpp"

namespace compound {

namespace {

template <class Entry>
constexpr EntryShape shape_of() {
  return {Entry::block_rows, Entry::block_cols, Entry::word_count,
          !is_complex<typename Entry::word> && is_complex<typename Entry::scalar>};
}

using R = double;
using C = complex_number<double>;

constexpr EntryKind kinds[] = {
    {dense<R, dynamic, dynamic>::name, "dense r x c block, all scalars kept", {}, {}},
    {complex_entry<R>::name, "[[a,-b],[b,a]] kept as a, b", shape_of<complex_entry<R>>(), {}},
    {quaternion<R>::name, "multiplication by a quaternion from the left, kept as 4 real words",
     shape_of<quaternion<R>>(), shape_of<quaternion<C>>()},
};

}  // namespace

std::span<const EntryKind> entry_kinds() { return kinds; }

std::string entry_kind_names() {
  std::string names;
  for (const EntryKind& k : kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
}

const EntryKind& entry_kind(std::string_view name) {
  for (const EntryKind& k : kinds)
    if (k.name == name) return k;
  throw error(ErrorKind::argument, "unknown entry '" + std::string(name) + "'; choose " + entry_kind_names());
}

}  // namespace compound
