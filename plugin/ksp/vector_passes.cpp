#include "ksp/vector_passes.hpp"

#include <array>

#include "copies/placement.hpp"
#include "krylov_loop.hpp"

namespace compound::plugin {

namespace {

const Scalar* scalars(const PetscScalar* v) { return reinterpret_cast<const Scalar*>(v); }
Scalar* scalars(PetscScalar* v) { return reinterpret_cast<Scalar*>(v); }
Scalar scalar(PetscScalar v) { return *scalars(&v); }

/// Arrays of vectors, which are not one another, for a pass.
class Arrays {
 public:
  explicit Arrays(PetscErrorCode* code) : code_(code) {}
  Arrays(const Arrays&) = delete;
  ~Arrays() {
    while (count_ > 0) {
      auto& [v, array, written] = taken_[--count_];
      const PetscScalar* const read = array;
      note(written ? VecRestoreArray(v, &array) : VecRestoreArrayRead(v, const_cast<const PetscScalar**>(&read)));
    }
  }
  const Scalar* read(Vec v) {
    const PetscScalar* array = nullptr;
    note(VecGetArrayRead(v, &array));
    taken_[count_++] = {v, const_cast<PetscScalar*>(array), false};
    return scalars(array);
  }
  Scalar* write(Vec v) {
    PetscScalar* array = nullptr;
    note(VecGetArray(v, &array));
    taken_[count_++] = {v, array, true};
    return scalars(array);
  }

 private:
  struct Taken {
    Vec v;
    PetscScalar* array;
    bool written;
  };
  void note(PetscErrorCode code) {
    if (!*code_) *code_ = code;
  }
  PetscErrorCode* code_;
  std::array<Taken, 3> taken_;
  int count_ = 0;
};

PetscErrorCode size_of(Vec v, std::size_t* n) {
  PetscFunctionBegin;
  PetscInt size = 0;
  PetscCall(VecGetLocalSize(v, &size));
  *n = static_cast<std::size_t>(size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

class OnHost final : public VectorPasses {
 public:
  explicit OnHost(passes::Inner inner) : inner_(inner) {}

  PetscErrorCode step(PetscScalar alpha, Vec d, Vec z, Vec r, passes::StepSums* sums) override {
    PetscFunctionBegin;
    PetscErrorCode code = PETSC_SUCCESS;
    std::size_t n = 0;
    PetscCall(size_of(r, &n));
    {
      Arrays a(&code);
      if (d)
        *sums = passes::step_with_diagonal(n, scalar(alpha), a.read(d), a.write(z), a.write(r), inner_);
      else
        *sums = passes::sums(n, a.read(z), a.read(r), inner_);
    }
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode turn(PetscScalar alpha, PetscScalar beta, Vec z, Vec x, Vec p) override {
    PetscFunctionBegin;
    PetscErrorCode code = PETSC_SUCCESS;
    std::size_t n = 0;
    PetscCall(size_of(x, &n));
    {
      Arrays a(&code);
      passes::turn(n, scalar(alpha), scalar(beta), a.read(z), a.write(x), a.write(p));
    }
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  passes::Inner inner_;
};

class OnDevice final : public VectorPasses {
 public:
  OnDevice(Backend& device, passes::Inner inner)
      : device_(device), passes_(device.krylov_passes(scalar_type_of<Scalar>(), inner == passes::Inner::hermitian)) {}

  PetscErrorCode step(PetscScalar alpha, Vec d, Vec z, Vec r, passes::StepSums* sums) override {
    return with(
        {{{d, Access::read}, {z, d ? Access::read_write : Access::read}, {r, d ? Access::read_write : Access::read}}},
        [&](slot_t n, void* const(&v)[3]) { passes_->step(n, &alpha, v[0], v[1], v[2], sums); });
  }
  PetscErrorCode turn(PetscScalar alpha, PetscScalar beta, Vec z, Vec x, Vec p) override {
    return with({{{z, Access::read}, {x, Access::read_write}, {p, Access::read_write}}},
                [&](slot_t n, void* const(&v)[3]) { passes_->turn(n, &alpha, &beta, v[0], v[1], v[2]); });
  }

 private:
  struct Use {
    Vec v;  ///< or null
    Access access;
  };
  template <class Pass>
  PetscErrorCode with(const std::array<Use, 3>& uses, const Pass& pass) {
    PetscFunctionBegin;
    std::array<DeviceVector, 3> vectors;
    void* data[3] = {};
    bool enough = true;
    std::size_t n = 0;
    PetscCall(size_of(uses[2].v, &n));
    PetscCall(begin_device_work(device_));
    for (int i = 0; i < 3; ++i) {
      bool of_this = true;
      if (uses[i].v) PetscCall(vectors[i].take(uses[i].v, uses[i].access, device_, buffers_[i], &of_this));
      data[i] = vectors[i].data();
      enough = enough && of_this;
    }
    PetscErrorCode code = PETSC_SUCCESS;
    if (enough) code = guarded(PETSC_COMM_SELF, [&] { pass(static_cast<slot_t>(n), data); });
    for (DeviceVector& vector : vectors) PetscCall(vector.give_back(enough));
    PetscCall(code);
    PetscCheck(enough, PETSC_COMM_SELF, PETSC_ERR_MEM, "The device has no memory left for a vector of a solver");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Backend& device_;
  std::unique_ptr<KrylovPasses> passes_;
  DeviceBuffers buffers_;
};

}  // namespace

std::unique_ptr<VectorPasses> passes_on_host(passes::Inner inner) { return std::make_unique<OnHost>(inner); }

std::unique_ptr<VectorPasses> passes_on_device(Backend& device, passes::Inner inner) {
  return std::make_unique<OnDevice>(device, inner);
}

}  // namespace compound::plugin
