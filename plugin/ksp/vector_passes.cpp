#include "ksp/vector_passes.hpp"

#include <array>
#include <bit>

#include "spmv/placement.hpp"

namespace compound::plugin {

namespace {

constexpr Access read = Access::read, change = Access::read_write;
/// In the order of VectorPass. Flops are those of PETSc's methods, which make fewer sums.
constexpr PassRow rows[] = {{3, {read, change, change}, true, 2, 1, 2, {2}},
                            {3, {read, change, change}, false, 0, 0, 0, {2, 2}},
                            {7, {read, change, read, change, change, change, change}, true, 0, 1, 0, {4, 4}},
                            {3, {read, read, read}, false, 4, 0, 2},
                            {3, {read, change, read}, true, 2, 1},
                            {2, {read, change}, false, 0, 0, 0, {2}},
                            {3, {read, change, read}, true, 4, 1},
                            {5, {read, read, read, change, change}, false, 2, 0, 2, {2, 4}},
                            {3, {read, read, change}, false, 4, 0}};

std::array<VectorUse, most_pass_vectors> uses_of(VectorPass pass, const PassVectors& vectors) {
  const PassRow& row = row_of(pass);
  std::array<VectorUse, most_pass_vectors> uses;
  for (int i = 0; i < row.vectors; ++i) uses[i] = {vectors[i], row.access[i]};
  if (row.preconditions && !vectors[0]) uses[1].access = Access::read;
  return uses;
}

/// Arrays of vectors on the host, until the end of the scope.
class Arrays {
 public:
  Arrays(const std::array<VectorUse, most_pass_vectors>& uses, PetscErrorCode* code) : code_(code), uses_(uses) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (!uses[i].v) continue;
      note(uses[i].access == Access::read ? VecGetArrayRead(uses[i].v, const_cast<const PetscScalar**>(&arrays_[i]))
                                          : VecGetArray(uses[i].v, &arrays_[i]));
      pointers_[i] = arrays_[i];
    }
  }
  Arrays(const Arrays&) = delete;
  ~Arrays() {
    for (std::size_t i = uses_.size(); i-- > 0;) {
      if (!uses_[i].v)
        continue;  // not by the pointer: it is null without scalars, and the array must be restored all the same
      note(uses_[i].access == Access::read
               ? VecRestoreArrayRead(uses_[i].v, const_cast<const PetscScalar**>(&arrays_[i]))
               : VecRestoreArray(uses_[i].v, &arrays_[i]));
    }
  }
  const std::array<void*, most_pass_vectors>& pointers() const { return pointers_; }

 private:
  void note(PetscErrorCode code) {
    if (!*code_) *code_ = code;
  }
  PetscErrorCode* code_;
  std::array<VectorUse, most_pass_vectors> uses_;
  std::array<PetscScalar*, most_pass_vectors> arrays_ = {};
  std::array<void*, most_pass_vectors> pointers_ = {};
};

PetscErrorCode size_of(VectorPass pass, const PassVectors& vectors, slot_t* n) {
  PetscFunctionBegin;
  PetscInt size = 0;
  PetscCall(VecGetLocalSize(vectors[row_of(pass).vectors - 1], &size));
  *n = slot_t{size};
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool has_diagonal(VectorPass pass, const PassVectors& vectors) { return row_of(pass).preconditions && vectors[0]; }

class OnHost final : public VectorPasses {
 public:
  explicit OnHost(bool hermitian) : hermitian_(hermitian) {}

  PetscErrorCode run(VectorPass pass, const PassVectors& vectors, const PassNumbers& numbers, PassSums* sums) override {
    PetscFunctionBegin;
    PetscErrorCode code = PETSC_SUCCESS;
    HostPass h{pass, hermitian_, has_diagonal(pass, vectors), 0, {}, {}};
    PetscCall(size_of(pass, vectors, &h.scalars));
    h.numbers = std::bit_cast<decltype(h.numbers)>(numbers);
    {
      const Arrays arrays(uses_of(pass, vectors), &code);
      h.vectors = arrays.pointers();
      if (!code) *sums = run_on_host(h);
    }
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  bool hermitian_;
};

class OnDevice final : public VectorPasses {
 public:
  OnDevice(Backend& device, std::span<const VectorPass> passes, bool hermitian)
      : device_(device),
        passes_(device.extensions().krylov->krylov_passes(scalar_type_of<Scalar>(), passes, hermitian)) {}

  PetscErrorCode run(VectorPass pass, const PassVectors& vectors, const PassNumbers& numbers, PassSums* sums) override {
    PetscFunctionBegin;
    KrylovPasses::Arguments arguments{.numbers = numbers.data(), .diagonal = has_diagonal(pass, vectors)};
    PetscCall(size_of(pass, vectors, &arguments.scalars));
    PetscCall(begin_device_work(device_));
    PetscCall(with_vectors(device_, uses_of(pass, vectors), buffers_, [&](const auto& data) {
      arguments.vectors = data;
      passes_->run(pass, arguments, sums->data());
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  Backend& device_;
  std::unique_ptr<KrylovPasses> passes_;
  std::array<Buffer<std::byte>, most_pass_vectors> buffers_;
};

}  // namespace

const PassRow& row_of(VectorPass pass) { return rows[static_cast<int>(pass)]; }

std::unique_ptr<VectorPasses> passes_on_host(bool hermitian) { return std::make_unique<OnHost>(hermitian); }

std::unique_ptr<VectorPasses> passes_on_device(Backend& device, std::span<const VectorPass> passes, bool hermitian) {
  return std::make_unique<OnDevice>(device, passes, hermitian);
}

}  // namespace compound::plugin
