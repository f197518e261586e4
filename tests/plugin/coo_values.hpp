// Matrices whose values, set by coordinates, stay on a device: tested without one.
#pragma once

#include <string>
#include <vector>

#include "coo_entries.hpp"
#include "info.hpp"

namespace petsc_test {

struct ValuesApart : Coo {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "PETSc's own types keep values otherwise";
  }
  Matrix made(const Entries& e) const {
    auto A = empty_matrix(tested_type(), "", square());
    PETSC_OK(preallocate(A, e));
    return A;
  }
  /// On the host, by the base type's array.
  static void set_on_host(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) {
    const compound::test::Variable together(values_apart, {});
    set(A, v, mode);
  }

 private:
  const compound::test::Variable is_set_{values_apart, "1"};
};

/// How often this process's values cross while a call is made, as -info tells.
struct Crossings {
  int to_host = 0, to_device = 0;
};
template <class Call>
Crossings crossings_during(const Call& call) {
  const std::string text = own_info_during("coo_test", call);
  const auto count = [&](const char* what) {
    int n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  return {count("are copied to the host"), count("are copied to the device")};
}

enum class On { device, both, host };

/// Looks by asking on either side, which may bring them there.
inline On where_values_are(Mat A, const Entries& e) {
  PetscInt first;
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  const Crossings read = crossings_during([&] {
    PetscInt n;
    PETSC_OK(MatGetRow(A, first, &n, nullptr, nullptr));
    PETSC_OK(MatRestoreRow(A, first, &n, nullptr, nullptr));
  });
  if (read.to_host > 0) return On::device;
  const std::vector<PetscScalar> zeros(e.row.size());
  return crossings_during([&] { set(A, zeros, ADD_VALUES); }).to_device > 0 ? On::host : On::both;
}

}  // namespace petsc_test
