// What a scenario needs: matrices that are known entry by entry, and the calls during which memory fails.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <petscksp.h>

#include "failing.hpp"

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

constexpr PetscInt bs = 3, rows_of_a_process = 12;  ///< block rows

/// One run of a scenario.
class Run {
 public:
  Run(long site, int mode, bool fails_here) : site_(site), mode_(mode), fails_here_(fails_here) {}

  /// Memory fails in `act`, which is then called again with memory enough: it must leave what it is given as it was, or
  /// as it is to be. An error but lack of memory is a fault; so is success, unless `says_so` tells that the view names
  /// it.
  PetscErrorCode act(const std::function<PetscErrorCode()>& act, const std::function<bool()>& says_so = nullptr);
  /// What an earlier call of `act` made. PETSc crashes where it destroys what it could not finish (3.18 does): what one
  /// of its own allocations has left behind is left alone.
  template <class Object>
  PetscErrorCode destroy(Object* object, PetscErrorCode (*of_petsc)(Object*)) {
    return destroy_unless(left_by_petsc_, object, of_petsc);
  }
  /// The same of an object whose functions were PETSc's, whatever they called.
  template <class Object>
  PetscErrorCode leave(Object* object, PetscErrorCode (*of_petsc)(Object*)) {
    return destroy_unless(is_again_, object, of_petsc);
  }
  /// A fault of what is tested.
  void fault(const std::string& what) {
    if (faults.empty()) faults = what;
  }

  long sites = 0;
  bool hit = false, went_on = false;
  std::string faults;

 private:
  template <class Object>
  PetscErrorCode destroy_unless(bool is_left_alone, Object* object, PetscErrorCode (*of_petsc)(Object*)) {
    PetscFunctionBeginUser;
    if (is_left_alone) failing::leave(std::exchange(*object, nullptr));
    PetscCall(of_petsc(object));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  long site_;
  int mode_;
  bool fails_here_, left_by_petsc_ = false, is_again_ = false;
};

struct Scenario {
  const char* name;
  PetscErrorCode (*run)(Run&);
  /// On several processes all have the error of one. Not where PETSc's own calls lie between: the program ends there.
  bool is_shared = false;
  /// Measures plans, each process its own, and allocates by what the clock says: tried on one process alone.
  bool is_timed = false;
  /// Products allocate on a device, by plans that the pretended one has.
  bool on_device = false;
};
const std::vector<Scenario>& scenarios();
/// With a mistake each, which must be found.
const std::vector<Scenario>& mistakes();
