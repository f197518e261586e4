// Objects of PETSc that a function makes for itself. They are destroyed however it ends, by an error, too; where it
// ends well it calls reset(): PETSc 3.18 asks for memory to destroy vectors and matrices, and a destructor tells of no
// error.
#pragma once

#include <utility>

#include <petscmat.h>

namespace compound::plugin {

template <class Object, PetscErrorCode (*destroy)(Object*)>
class Scoped {
 public:
  Scoped() = default;
  Scoped(const Scoped&) = delete;
  ~Scoped() { static_cast<void>(destroy(&object_)); }
  PetscErrorCode reset() { return destroy(&object_); }
  Object* out() { return &object_; }
  operator Object() const { return object_; }
  /// It is another's then.
  Object take() { return std::exchange(object_, nullptr); }

 private:
  Object object_ = nullptr;
};
using ScopedMat = Scoped<Mat, MatDestroy>;
using ScopedVec = Scoped<Vec, VecDestroy>;
using ScopedIS = Scoped<IS, ISDestroy>;

}  // namespace compound::plugin
