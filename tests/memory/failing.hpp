// Memory that fails: operator new, posix_memalign() of the plugin and PetscMalloc(), by number of allocation. Counts
// what is allocated meanwhile and not given back, and names its holder when memory failed.
#pragma once

#include <functional>
#include <string>

#include <petscsys.h>

namespace failing {

/// Which allocations of those that follow fail.
enum class Mode {
  none,
  once,         ///< one
  from_then_on  ///< that one and all after it
};

/// PetscMalloc() goes by here. Before PetscInitialize().
void take_petsc_malloc();

/// Allocations are counted from now on, and the one of number `site` (from 1) fails; stop() ends this.
/// `all`: those of PETSc, too, not of the plugin alone.
void start(long site, Mode mode, bool all);
/// How many there were.
long stop();

/// What stop() ended.
struct Failure {
  bool hit = false;        ///< an allocation failed
  bool of_ours = false;    ///< of the plugin or its core, not of PETSc
  std::string where = {};  ///< what was called
};
/// The calls that lead here, for messages: the innermost first.
std::string calls_here();
/// Those of the failure.
std::string calls_of_failure();
Failure failure();

/// What was allocated from now on is watched; `stacks`: with the calls that allocated it.
void watch(bool stacks);
/// An object of PETSc that is left alone, with all that it has.
void leave(const void* object);
/// What `act` allocates stays for good where it has no error: that is not lost.
PetscErrorCode keep(const std::function<PetscErrorCode()>& act);
/// Blocks that are watched and not given back; with stacks without those that PETSc held when memory failed. `report`
/// names the first of them.
long leaks(std::string* report);

/// A different number for each path of calls to an allocation that failed, or would have.
using Paths = unsigned long;
void note_paths(Paths* paths, long most);

}  // namespace failing
