#include "solve.hpp"

#include "failure.hpp"

namespace compound::bench {

Solve::Solve(Mat A, const std::string& method, void (*prepare)(KSP)) : A_(A) {
  must(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), ksp_.out()));
  must(KSPSetType(ksp_, method.c_str()));
  must(KSPSetOperators(ksp_, A, A));
  prepare(ksp_);
  must(KSPSetFromOptions(ksp_));
  must(MatCreateVecs(A, x_.out(), b_.out()));
  must(VecSet(b_, 1.0));
}

KSPConvergedReason Solve::run() {
  KSPConvergedReason reason;
  must(KSPSolve(ksp_, b_, x_));
  must(KSPGetConvergedReason(ksp_, &reason));
  return reason;
}

PetscInt Solve::iterations() const {
  PetscInt n;
  must(KSPGetIterationNumber(ksp_, &n));
  return n;
}

std::string Solve::method() const {
  KSPType type;
  must(KSPGetType(ksp_, &type));
  return type;
}

std::string Solve::preconditioner() const {
  PC pc;
  PCType type;
  must(KSPGetPC(ksp_, &pc));
  must(PCGetType(pc, &type));
  return type;
}

double Solve::residual() {
  Vector r;
  PetscReal size, scale;
  must(VecDuplicate(b_, r.out()));
  must(MatMult(A_, x_, r));
  must(VecAXPY(r, -1.0, b_));
  must(VecNorm(r, NORM_INFINITY, &size));
  must(VecNorm(b_, NORM_INFINITY, &scale));
  return size / scale;
}

}  // namespace compound::bench
