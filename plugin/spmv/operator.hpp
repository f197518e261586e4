// A matrix of ours as a linear operator: the one place where the steps of its products follow each other.
#pragma once

#include "spmv/mpi_state.hpp"
#include "spmv/product.hpp"

namespace compound::plugin {

/// y = op(A) x or z + op(A) x, step by step, for MatMult() and its kin (multiply() below) and for code that does
/// something between the steps:
///
///     prepare, run(diagonal)                                             without ghosts()
///     prepare, begin_ghosts(x), run(diagonal), end_ghosts(x), run(off)   y = A x
///     prepare, run(off), run(diagonal), begin_ghosts(y), end_ghosts(y)   transposes
///
/// Of several processes of a base type that keeps the upper triangle alone, the off-diagonal part multiplies twice, the
/// second time as its transpose: multiply() below does both.
///
/// A matrix of one process has no ghosts and is its own diagonal part; so is one whose products are left to the base
/// type. What is to happen to y in the kernel that makes it (a dot product, a norm) would be one more argument of
/// run(), handed on to the backend's ProductTask: all products come by there.
class Operator {
 public:
  /// Options, places, packing, ghosts, the view; whatever can fail does so here, before messages are under way.
  /// Collective. `products`: how many follow, for the counts of A.
  PetscErrorCode prepare(Mat A, Op op, Vec x, PetscInt products = 1);

  /// Values of `v` for the off-diagonal part (y = A x), or what it has made added to `v` (transposes).
  PetscErrorCode begin_ghosts(Vec v) const;
  PetscErrorCode end_ghosts(Vec v) const;
  /// What travels: what the off-diagonal part reads, or with transposes writes. Null where there is no such part.
  Vec ghosts() const { return ghosts_; }

  enum Part { diagonal, off_diagonal };
  /// By the packed copy, or by the base type; a device whose memory is full leaves it to the host.
  PetscErrorCode run(Part part, Update update, Vec x, Vec z, Vec y) const;

  /// Whether an off-diagonal part stands for what is below the diagonal, too; then, after the product by it as it is,
  /// what it adds to `y` as the (Hermitian) transpose: unless there is an error, which is then this product's.
  /// Collective.
  bool has_mirrored_part() const { return mirrored_op_ != Op::none; }
  PetscErrorCode run_mirrored(Vec x, Vec y, PetscErrorCode* code) const;
  /// The matrix of several processes has changed since the last such product.
  bool is_first() const { return is_first_; }
  /// Of what was prepared, in words; empty where they do.
  std::string why_not_exchanged_by_devices(const MpiState& st) const;

  /// Whether run_vectors() can be called on this process: all parts multiply in one memory space. Transposes of several
  /// parts do so on the host alone.
  bool takes_vectors() const;
  /// Where the arrays of run_vectors() are.
  bool on_device() const { return parts_[diagonal].space == MemorySpace::device; }
  /// run() of several vectors in arrays; x, z and y are the first of them, z may be y.
  PetscErrorCode run_vectors(Part part, Update update, const VectorsTask& vectors, const PetscScalar* x,
                             const PetscScalar* z, PetscScalar* y) const;
  /// Whether no product since is_first() had as many: this one may ask for memory.
  bool are_most(MpiState& st, PetscInt vectors) const;

 private:
  struct StateInSpace {
    Mat mat = nullptr;
    State* st = nullptr;
    MemorySpace space = MemorySpace::host;
  };
  PetscErrorCode prepare_mpi(Mat A, MpiState& st, Vec x, PetscInt products);
  template <class Body>
  PetscErrorCode once_together(Mat A, MpiState& st, const Body& prepare);
  PetscErrorCode agree_on_parts(Mat A, MpiState& st, Vec x);
  PetscErrorCode prepare_parts(Mat A, MpiState& st, Vec x);
  PetscErrorCode run_as(Op op, Part part, Update update, Vec x, Vec z, Vec y) const;
  PetscErrorCode choose_ghosts(Ghosts& all, Vec x);
  PetscErrorCode choose_exchange(Mat A, MpiState& st, Vec x);
  PetscErrorCode goes_by_devices(Vec v, bool* yes) const;
  PetscErrorCode begin_on_devices(Vec v) const;
  PetscErrorCode end_on_devices(Vec v) const;

  Op op_ = Op::none;
  bool is_first_ = false;
  Op mirrored_op_ = Op::none;  ///< of an off-diagonal part that stands for what is below the diagonal, too
  StateInSpace parts_[2];
  VecScatter scatter_ = nullptr;
  const Ghosts* exchanged_ = nullptr;  ///< between devices, in place of the scatter, where `v` is on one
  Vec ghosts_ = nullptr;
};

/// Of this process's y = A x, of a matrix that has multiplied or been packed, for code that makes that product itself.
PetscErrorCode flops_of_product(Mat A, PetscLogDouble* flops);

/// The whole product; z may be y, or null for assign. Collective.
PetscErrorCode multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y);

}  // namespace compound::plugin
