#include "pc_pbjacobi.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "device_copy.hpp"
#include "parent.hpp"
#include "petsccompound.h"
#include "placement.hpp"

namespace compound::plugin {

namespace {

/// Hangs on PC::data.
struct PointBlocks {
  PetscInt block_size = 0;
  Pattern pattern;              ///< the diagonal
  std::vector<Scalar> on_host;  ///< the host's packed matrix may lie on these
  std::optional<PackedMatrix> inverses;
  std::size_t scalars() const { return static_cast<std::size_t>(pattern.rows) * block_size; }
  std::size_t scalars_of_blocks() const { return scalars() * block_size; }
};

PointBlocks& blocks_of(PC pc) { return *static_cast<PointBlocks*>(pc->data); }
MPI_Comm comm_of(PC pc) { return PetscObjectComm(reinterpret_cast<PetscObject>(pc)); }

Pattern diagonal_pattern(idx rows) {
  Pattern p{rows, rows, std::vector<count32>(std::size_t(rows) + 1), std::vector<idx>(rows)};
  std::iota(p.start.begin(), p.start.end(), 0);
  std::iota(p.column.begin(), p.column.end(), 0);
  return p;
}

/// A packed matrix of the inverses: plan by the backend's rule.
void pack(PointBlocks& b, Backend& on, const Scalar* blocks) {
  const int bs = static_cast<int>(b.block_size);
  const Problem problem{{bs, bs}, scalar_type_of<Scalar>()};
  const Plan plan = default_plan(statistics(b.pattern.view()), problem, on.name());
  b.inverses.emplace(b.pattern.view(), problem, plan, on, PatternLifetime::outlives);
  b.inverses->update_values(blocks, on.is_device() ? Memory::backend : Memory::host);
}

PetscErrorCode check_matrix(PC pc) {
  PetscFunctionBegin;
  PetscBool has;
  PetscCall(MatHasOperation(pc->pmat, MATOP_INVERT_BLOCK_DIAGONAL, &has));
  PetscCheck(has, comm_of(pc), PETSC_ERR_SUP,
             "Preconditioner " PCPBJACOBICOMPOUND
             ": a matrix of type %s does not invert its diagonal blocks; use -mat_type " MATBAIJCOMPOUND
             ", baij or aij, or -pc_type jacobi",
             reinterpret_cast<PetscObject>(pc->pmat)->type_name);
#if PETSC_VERSION_LT(3, 25, 0)
  // Without this PETSc inverts the block that happens to come next.
  PetscCall(MatHasOperation(pc->pmat, MATOP_MISSING_DIAGONAL, &has));
  if (has) {
    PetscBool missing;
    PetscInt row;
    PetscCall(MatMissingDiagonal(pc->pmat, &missing, &row));
    PetscCheck(!missing, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "Preconditioner " PCPBJACOBICOMPOUND ": the matrix has no diagonal entry in block row %" PetscInt_FMT,
               row);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By PETSc; the array is the matrix's and may change with it.
PetscErrorCode invert_on_host(PC pc, PointBlocks& b) {
  PetscFunctionBegin;
  const PetscScalar* inverses = nullptr;
  MatFactorError failed;
  PetscCall(check_matrix(pc));
  PetscCall(MatInvertBlockDiagonal(pc->pmat, &inverses));
  PetscCall(MatFactorGetError(pc->pmat, &failed));
  if (failed) pc->failedreason = static_cast<PCFailedReason>(failed);
  b.on_host.resize(b.scalars_of_blocks());
  if (!b.on_host.empty())
    std::memcpy(static_cast<void*>(b.on_host.data()), inverses, b.on_host.size() * sizeof(Scalar));
  PetscCall(guarded(comm_of(pc), [&] { pack(b, backend("host"), b.on_host.data()); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As PETSc's own does: an error only where the user wants one, else the solver is told.
PetscErrorCode report(PC pc, const PointBlocks& b, std::optional<idx> singular) {
  PetscFunctionBegin;
  if (!singular) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt row = pc->pmat->rmap->rstart / b.block_size + *singular;
  PetscCheck(!pc->pmat->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
             "Zero pivot, or none, in the diagonal block of block row %" PetscInt_FMT, row);
  PetscCall(PetscInfo(pc, "Zero pivot, or none, in the diagonal block of block row %" PetscInt_FMT "\n", row));
  pc->failedreason = PC_FACTOR_NUMERIC_ZEROPIVOT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `enough` is false where the device's memory was full.
PetscErrorCode invert_on_device(PC pc, PointBlocks& b, const PackedMatrix& A, bool* enough) {
  PetscFunctionBegin;
  std::optional<idx> singular;
  PetscCall(guarded_memory(comm_of(pc), enough, [&] {
    const Buffer<Scalar> inverses(A.backend(), b.scalars_of_blocks());
    singular = A.invert_diagonal(inverses.data());
    pack(b, A.backend(), inverses.data());
    A.backend().synchronize();  // the buffer goes
  }));
  if (!*enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGpuFlops(2.0 * static_cast<double>(b.scalars_of_blocks()) * static_cast<double>(b.block_size)));
  PetscCall(report(pc, b, singular));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode warn_of_host(PC pc) {
  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "Works on the host: the device has no memory left for inverses\n"));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "petsc-compound: the preconditioner " PCPBJACOBICOMPOUND " of %" PetscInt_FMT
                         " local rows works on the host: the device has no memory left for inverses\n",
                         pc->pmat->rmap->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copies of a seqbaij's diagonal blocks; 0 where there is none.
PetscErrorCode diagonal_blocks(Mat seqbaij, const PointBlocks& b, std::vector<Scalar>* blocks) {
  PetscFunctionBegin;
  BlockArrays a;
  PetscCall(block_arrays(seqbaij, &a));
  const auto size = static_cast<std::size_t>(b.block_size * b.block_size);
  blocks->assign(b.scalars_of_blocks(), Scalar{});
  for (PetscInt row = 0; row < a.rows; ++row)
    for (PetscInt e = a.start[row]; e < a.start[row + 1]; ++e)
      if (a.column[e] == row)
        std::copy_n(reinterpret_cast<const Scalar*>(a.values) + static_cast<std::size_t>(e) * size, size,
                    blocks->begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not by MatInvertBlockDiagonal(): baij's gives old inverses after MatScale() and others (seen in 3.18).
PetscErrorCode invert_compound_on_host(PC pc, PointBlocks& b, Mat seqbaij) {
  PetscFunctionBegin;
  std::optional<idx> singular;
  std::vector<Scalar> blocks;
  PetscCall(diagonal_blocks(seqbaij, b, &blocks));
  PetscCall(guarded(comm_of(pc), [&] {
    b.on_host.resize(blocks.size());
    pack(b, backend("host"), blocks.data());
    singular = b.inverses->invert_diagonal(b.on_host.data());
    pack(b, backend("host"), b.on_host.data());
  }));
  PetscCall(PetscLogFlops(2.0 * static_cast<double>(b.scalars_of_blocks()) * static_cast<double>(b.block_size)));
  PetscCall(report(pc, b, singular));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On the device if the matrix makes vectors there and is multiplied there.
PetscErrorCode invert_compound(PC pc, PointBlocks& b) {
  PetscFunctionBegin;
  VecType vectors;
  PackedMatrix* packed = nullptr;
  Mat diagonal = pc->pmat;
  if (pc->pmat->ops->getdiagonalblock) PetscCall(MatGetDiagonalBlock(pc->pmat, &diagonal));
  PetscCall(MatGetVecType(pc->pmat, &vectors));
  if (vectors && std::strstr(vectors, "cuda")) PetscCall(device_copy(diagonal, &packed));
  bool done = false;
  if (packed) {
    PetscCall(invert_on_device(pc, b, *packed, &done));
    if (!done) PetscCall(warn_of_host(pc));
  }
  if (!done) PetscCall(invert_compound_on_host(pc, b, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  PointBlocks& b = blocks_of(pc);
  PetscInt rows;
  PetscBool compound;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc->pmat), &compound, MATSEQBAIJCOMPOUND,
                                      MATMPIBAIJCOMPOUND, ""));
  PetscCall(MatGetBlockSize(pc->pmat, &b.block_size));
  PetscCall(MatGetLocalSize(pc->pmat, &rows, nullptr));
  b.inverses.reset();
  PetscCall(guarded(comm_of(pc), [&] { b.pattern = diagonal_pattern(static_cast<idx>(rows / b.block_size)); }));
  PetscCall(compound ? invert_compound(pc, b) : invert_on_host(pc, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double flops(const PointBlocks& b) {
  return static_cast<double>(b.scalars()) * (2.0 * static_cast<double>(b.block_size) - 1.0);
}

/// Arrays of x and y, on the host or, both at a time, on the device.
struct Arrays {
  const PetscScalar* x;
  PetscScalar* y;
};

PetscErrorCode run_on_host_arrays(PC pc, PointBlocks& b, Op op, Arrays a) {
  PetscFunctionBegin;
  Backend& on = b.inverses->backend();
  PetscCall(guarded(comm_of(pc), [&] {
    if (!on.is_device()) return b.inverses->multiply(op, Update::assign, a.x, nullptr, a.y);
    const Buffer<Scalar> x(on, b.scalars()), y(on, b.scalars());
    on.upload(x.data(), a.x, x.bytes());
    b.inverses->multiply(op, Update::assign, x.data(), nullptr, y.data());
    on.download(a.y, y.data(), y.bytes());
  }));
  PetscCall(PetscLogFlops(flops(b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_on_host(PC pc, PointBlocks& b, Op op, Vec x, Vec y) {
  PetscFunctionBegin;
  Arrays a;
  PetscCall(VecGetArrayRead(x, &a.x));
  PetscCall(VecGetArrayWrite(y, &a.y));
  PetscCall(run_on_host_arrays(pc, b, op, a));
  PetscCall(VecRestoreArrayWrite(y, &a.y));
  PetscCall(VecRestoreArrayRead(x, &a.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_on_device(PC pc, PointBlocks& b, Op op, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(begin_device_work(b.inverses->backend()));
  Arrays a;
  PetscMemType x_type, y_type;
  PetscCall(VecGetArrayReadAndMemType(x, &a.x, &x_type));
  PetscCall(VecGetArrayWriteAndMemType(y, &a.y, &y_type));
  PetscCall(guarded(comm_of(pc), [&] { b.inverses->multiply(op, Update::assign, a.x, nullptr, a.y); }));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &a.y));
  PetscCall(VecRestoreArrayReadAndMemType(x, &a.x));
  PetscCall(PetscLogGpuFlops(flops(b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the vector's memory of choice is a device's: y's array must not be asked for, which might copy it there.
PetscErrorCode belongs_on_device(Vec v, bool* on_device) {
  PetscFunctionBegin;
  PetscBool cuda, bound = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(v), &cuda, "seqcuda", "mpicuda", ""));
  PetscCall(VecBoundToCPU(v, &bound));
  *on_device = cuda && !bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Op op>
PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PointBlocks& b = blocks_of(pc);
  Backend& on = b.inverses->backend();
  bool x_there = false, y_there = false;
  if (on.is_device()) {
    PetscCall(belongs_on_device(x, &x_there));
    PetscCall(belongs_on_device(y, &y_there));
    if (op != Op::none && !b.inverses->has_transposed())
      PetscCall(guarded(comm_of(pc), [&] { b.inverses->prepare_transposed(b.pattern.view()); }));
  }
  PetscCall(x_there && y_there ? apply_on_device(pc, b, op, x, y) : apply_on_host(pc, b, op, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii;
  const PointBlocks& b = blocks_of(pc);
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii || !b.inverses) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  point-block size %" PetscInt_FMT "\n", b.block_size));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  inverses on backend %s, plan %s\n",
                                   std::string(b.inverses->backend().name()).c_str(),
                                   to_string(b.inverses->plan()).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PC pc) {
  blocks_of(pc) = {};
  return PETSC_SUCCESS;
}

PetscErrorCode destroy(PC pc) {
  delete &blocks_of(pc);
  pc->data = nullptr;
  return PETSC_SUCCESS;
}

PetscErrorCode create(PC pc) {
  pc->data = new PointBlocks;
  pc->ops->setup = set_up;
  pc->ops->apply = apply<Op::none>;
  pc->ops->applytranspose = apply<Op::transpose>;
  pc->ops->view = view;
  pc->ops->reset = reset;
  pc->ops->destroy = destroy;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode register_preconditioners() { return PCRegister(PCPBJACOBICOMPOUND, create); }

}  // namespace compound::plugin
