// Objects of PETSc that a function makes for itself: they are destroyed however it ends, by an error, too.
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
