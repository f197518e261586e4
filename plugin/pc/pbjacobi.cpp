#include "pc/pbjacobi.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "mat/attach.hpp"
#include "options/options.hpp"
#include "petsc/agree.hpp"
#include "petsc/base_types.hpp"
#include "petsc/log.hpp"
#include "petsc/owned.hpp"
#include "petsc/warnings.hpp"
#include "petsccompound.h"
#include "planner/default_plan.hpp"
#include "spgemm/dense_arrays.hpp"
#include "spmv/placement.hpp"
#include "spmv/product.hpp"
#include "spmv/refresh.hpp"
#include "spmv/vec_types.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

/// The inverses of the diagonal blocks: where set_up() made them, and beside the vectors that come.
struct PointBlocks {
  PetscInt block_size = 0;
  Pattern pattern;              ///< the diagonal
  std::vector<Scalar> on_host;  ///< the host's packed matrix may lie on these
  std::array<std::optional<PackedMatrix>, memory_spaces.size()> inverses;
  std::optional<MemorySpace> applied;  ///< where vectors were at the last application
  bool device_is_full = false;         ///< it had no memory for inverses; until the next set_up()

  std::optional<PackedMatrix>& at(MemorySpace space) { return inverses[static_cast<int>(space)]; }
  std::size_t scalars() const { return static_cast<std::size_t>(pattern.rows) * block_size; }
  std::size_t scalars_of_blocks() const { return scalars() * block_size; }
};

/// Composed with every preconditioner of either name: PETSc's own point-block Jacobi and ours. The matrix decides which
/// of them has the PC's operations and data.
struct PointJacobi {
  _PCOps petsc_ops;  ///< while ours has them
  void* petsc_data = nullptr;
  bool is_ours = false;
  PointBlocks blocks;
};
constexpr const char* name_of_both = "petsccompound_pbjacobi";

PetscErrorCode (*create_petsc)(PC);  ///< PETSc's constructor and the set-up that this gives a PC
PetscErrorCode (*set_up_petsc)(PC);

PointBlocks& blocks_of(PC pc) { return static_cast<PointJacobi*>(pc->data)->blocks; }
MPI_Comm comm_of(PC pc) { return PetscObjectComm(reinterpret_cast<PetscObject>(pc)); }

Pattern diagonal_pattern(idx rows) {
  Pattern p{rows, rows, std::vector<count32>(std::size_t(rows) + 1), std::vector<idx>(rows)};
  std::iota(p.start.begin(), p.start.end(), 0);
  std::iota(p.column.begin(), p.column.end(), 0);
  return p;
}

/// A packed matrix of the inverses: plan by the backend's rule.
void pack(PointBlocks& b, MemorySpace space, const Scalar* blocks) {
  Backend& on = backend(row_of(space).backend);
  const int bs = static_cast<int>(b.block_size);
  const Problem problem{{bs, bs}, scalar_type_of<Scalar>()};
  const Plan plan = default_plan(statistics(b.pattern.view()), problem, on.name());
  b.at(space).emplace(b.pattern.view(), problem, plan, on, PatternLifetime::outlives);
  b.at(space)->update_values(blocks, on.is_device() ? Memory::backend : Memory::host);
}

/// As PETSc's own does: an error only where the user wants one, else the solver is informed.
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

/// In place of the inverse of a singular block: norms tell of it wherever the solver does not ask for the reason.
std::vector<Scalar> no_inverse(const PointBlocks& b) {
  return std::vector<Scalar>(static_cast<std::size_t>(b.block_size) * b.block_size,
                             Scalar(std::numeric_limits<PetscReal>::quiet_NaN()));
}
std::size_t place_of(const PointBlocks& b, idx block) {
  return static_cast<std::size_t>(block) * b.block_size * b.block_size;
}

/// `enough` is false where the device's memory was full.
PetscErrorCode invert_on_device(PC pc, PointBlocks& b, const PackedMatrix& A, bool* enough) {
  PetscFunctionBegin;
  std::optional<idx> singular;
  PetscCall(guarded_memory(comm_of(pc), enough, [&] {
    const Buffer<Scalar> inverses(A.backend(), b.scalars_of_blocks());
    singular = A.invert_diagonal(inverses.data());
    if (singular) {
      const std::vector<Scalar> nothing = no_inverse(b);
      A.backend().upload(inverses.data() + place_of(b, *singular), nothing.data(), nothing.size() * sizeof(Scalar));
    }
    pack(b, MemorySpace::device, inverses.data());
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
  PetscCall(warn("the preconditioner " PCPBJACOBI " of " + std::to_string(pc->pmat->rmap->n) +
                 " local rows works on the host: the device has no memory left for inverses"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of [blocks][bs][bs] scalars, column-major: those below the diagonals are those above.
void mirror_blocks(PetscInt bs, bool hermitian, std::vector<Scalar>& blocks) {
  for (auto block = blocks.begin(); block != blocks.end(); block += bs * bs)
    for (PetscInt j = 0; j < bs; ++j)
      for (PetscInt i = 0; i < j; ++i) {
        const Scalar above = block[j * bs + i];
        block[i * bs + j] = hermitian ? conjugate(above) : above;
      }
}

/// Copies of a seq matrix's diagonal blocks; 0 where there is none.
PetscErrorCode diagonal_blocks(Mat seq, const PointBlocks& b, std::vector<Scalar>* blocks) {
  PetscFunctionBegin;
  BlockArrays a;
  PetscCall(need_host_values(seq));
  PetscCall(arrays_with_values(seq, &a));
  const PetscInt bs = b.block_size, kept = a.block.rows;  // kept: blocks of 1 where the base type keeps single scalars
  const auto* const values = reinterpret_cast<const Scalar*>(a.values);
  blocks->assign(b.scalars_of_blocks(), Scalar{});
  for (PetscInt row = 0; row < a.rows; ++row)
    for (PetscInt e = a.start[row]; e < a.start[row + 1]; ++e) {
      const PetscInt first_row = row * kept, first_column = a.column[e] * kept, block = first_row / bs;
      if (first_column / bs != block) continue;
      for (PetscInt j = 0; j < kept; ++j)
        std::copy_n(
            values + (static_cast<std::ptrdiff_t>(e) * kept + j) * kept, kept,
            blocks->begin() + static_cast<std::ptrdiff_t>(block * bs + first_column % bs + j) * bs + first_row % bs);
    }
  if (type_of_matrix(seq).base_type->keeps_upper) mirror_blocks(bs, is_hermitian(seq), *blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not by MatInvertBlockDiagonal(): BAIJ's gives old inverses after MatScale() and others (seen in 3.18).
PetscErrorCode invert_on_host(PC pc, PointBlocks& b, Mat seq) {
  PetscFunctionBegin;
  std::optional<idx> singular;
  std::vector<Scalar> blocks;
  PetscCall(diagonal_blocks(seq, b, &blocks));
  PetscCall(guarded(comm_of(pc), [&] {
    b.on_host.resize(blocks.size());
    pack(b, MemorySpace::host, blocks.data());
    singular = b.at(MemorySpace::host)->invert_diagonal(b.on_host.data());
    if (singular)
      std::ranges::copy(no_inverse(b), b.on_host.begin() + static_cast<std::ptrdiff_t>(place_of(b, *singular)));
    pack(b, MemorySpace::host, b.on_host.data());
  }));
  PetscCall(PetscLogFlops(2.0 * static_cast<double>(b.scalars_of_blocks()) * static_cast<double>(b.block_size)));
  PetscCall(report(pc, b, singular));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the vectors were the last time, or will be as far as the matrix can tell.
PetscErrorCode choose_place(Mat A, const PointBlocks& b, bool* device) {
  PetscFunctionBegin;
  Settings* settings;
  *device = b.applied == MemorySpace::device;
  if (b.applied) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(settings_of(A, &settings));
  PetscCall(read_options_once(A, *settings));
  PetscCall(expects_device_vectors(A, *settings, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode invert(PC pc, PointBlocks& b) {
  PetscFunctionBegin;
  bool device, done = false;
  const PackedMatrix* packed = nullptr;
  Mat diagonal = pc->pmat;
  if (pc->pmat->ops->getdiagonalblock) PetscCall(MatGetDiagonalBlock(pc->pmat, &diagonal));
  PetscCall(choose_place(pc->pmat, b, &device));
  if (device) PetscCall(device_copy(diagonal, &packed));
  if (packed && packed->problem().block.rows == b.block_size) {
    PetscCall(invert_on_device(pc, b, *packed, &done));
    b.device_is_full = !done;
    if (!done) PetscCall(warn_of_host(pc));
  }
  if (!done) PetscCall(invert_on_host(pc, b, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_ours(PC pc) {
  PetscFunctionBegin;
  PointBlocks& b = blocks_of(pc);
  PetscInt rows;
  PetscCall(MatGetBlockSize(pc->pmat, &b.block_size));
  PetscCall(MatGetLocalSize(pc->pmat, &rows, nullptr));
  b.inverses = {};
  b.device_is_full = false;
  PetscCall(guarded(comm_of(pc), [&] { b.pattern = diagonal_pattern(static_cast<idx>(rows / b.block_size)); }));
  PetscCall(invert(pc, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double flops(const PointBlocks& b) {
  return static_cast<double>(b.scalars()) * (2.0 * static_cast<double>(b.block_size) - 1.0);
}

/// Where the inverses are on a device alone, as columns by products there: blocks in column-major order.
void download(PointBlocks& b) {
  const PackedMatrix& there = *b.at(MemorySpace::device);
  Backend& on = there.backend();
  const auto bs = static_cast<std::size_t>(b.block_size);
  std::vector<Scalar> unit(b.scalars()), column(b.scalars());
  const Buffer<Scalar> x(on, b.scalars()), y(on, b.scalars());
  b.on_host.resize(b.scalars_of_blocks());
  for (std::size_t k = 0; k < bs; ++k) {
    for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = Scalar(i % bs == k ? 1 : 0);
    on.upload(x.data(), unit.data(), x.bytes());
    there.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());
    on.download(column.data(), y.data(), y.bytes());
    for (std::size_t i = 0; i < column.size(); ++i) b.on_host[(i / bs * bs + k) * bs + i % bs] = column[i];
  }
}

/// The inverses beside the vectors, once for each set_up() of which the guess was wrong.
PetscErrorCode bring_to_host(PC pc, PointBlocks& b) {
  PetscFunctionBegin;
  if (b.at(MemorySpace::host)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(begin_device_work(b.at(MemorySpace::device)->backend()));
  PetscCall(guarded(comm_of(pc), [&] {
    download(b);
    pack(b, MemorySpace::host, b.on_host.data());
  }));
  PetscCall(log_download(b.scalars_of_blocks() * sizeof(Scalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bring_to_device(PC pc, PointBlocks& b) {
  PetscFunctionBegin;
  bool enough;
  if (b.at(MemorySpace::device) || b.device_is_full) PetscFunctionReturn(PETSC_SUCCESS);
  Backend& device = *device_backend();
  PetscCall(begin_device_work(device));
  PetscCall(guarded_memory(comm_of(pc), &enough, [&] {
    const Buffer<Scalar> blocks(device, b.scalars_of_blocks());
    device.upload(blocks.data(), b.on_host.data(), blocks.bytes());
    pack(b, MemorySpace::device, blocks.data());
    device.synchronize();  // the buffer goes
  }));
  b.device_is_full = !enough;
  if (!enough) b.at(MemorySpace::device).reset();
  if (!enough) PetscCall(warn_of_host(pc));
  PetscCall(log_upload(b.scalars_of_blocks() * sizeof(Scalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_on_host(PC pc, PointBlocks& b, const Operands& o) {
  PetscFunctionBegin;
  PetscCall(bring_to_host(pc, b));
  PetscCall(run_on_host(comm_of(pc), o, flops(b), *b.at(MemorySpace::host)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_on_device(PC pc, PointBlocks& b, const Operands& o, bool* done) {
  PetscFunctionBegin;
  PackedMatrix& inverses = *b.at(MemorySpace::device);
  DeviceRun run;
  DeviceBuffers buffers;  // stay empty: the vectors are there
  PetscCall(begin_device_work(inverses.backend()));
  if (o.op != Op::none && !inverses.has_transposed())
    PetscCall(guarded(comm_of(pc), [&] { inverses.prepare_transposed(b.pattern.view(), plan_of_transpose); }));
  PetscCall(run_on_device(comm_of(pc), o, flops(b), inverses, buffers, &run));
  *done = run.done;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a vector is to be written in the device's memory. What it has is not copied there.
PetscErrorCode is_written_on_device(Vec v, bool* on_device) {
  PetscFunctionBegin;
  PetscScalar* array;
  PetscMemType memory;
  PetscCall(VecGetArrayWriteAndMemType(v, &array, &memory));
  PetscCall(VecRestoreArrayWriteAndMemType(v, &array));
  *on_device = PetscMemTypeCUDA(memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Chooses where the vectors are, and brings the inverses to a device that has them.
PetscErrorCode come_to(PC pc, PointBlocks& b, Vec x, Vec y) {
  PetscFunctionBegin;
  bool x_there = false, y_there = false;
  if (device_backend() && !is_bound(pc->pmat)) {
    PetscCall(is_on_device(x, &x_there));
    if (x_there) PetscCall(is_written_on_device(y, &y_there));
  }
  b.applied = y_there ? MemorySpace::device : MemorySpace::host;
  if (b.applied == MemorySpace::device) PetscCall(bring_to_device(pc, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Op op>
PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PointBlocks& b = blocks_of(pc);
  PetscCall(come_to(pc, b, x, y));
  const Operands o{op, Update::assign, x, nullptr, y};
  bool done = false;
  if (b.applied == MemorySpace::device && b.at(MemorySpace::device)) PetscCall(apply_on_device(pc, b, o, &done));
  if (!done) PetscCall(apply_on_host(pc, b, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Y = M X by columns that are multiplied at once, with the bits of apply(). One by one where X and Y are apart.
PetscErrorCode apply_to_columns(PC pc, Mat X, Mat Y) {
  PetscFunctionBegin;
  if (X->cmap->N == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PointBlocks& b = blocks_of(pc);
  PetscInt x_apart, y_apart;
  bool done = false;
  PetscCall(with_column_vectors(X, Y, 0, [&](Vec x, Vec y) { return come_to(pc, b, x, y); }));
  PetscCall(MatDenseGetLDA(X, &x_apart));
  PetscCall(MatDenseGetLDA(Y, &y_apart));
  const bool device = b.applied == MemorySpace::device;
  if (!device) PetscCall(bring_to_host(pc, b));
  if (const auto& inverses = b.at(*b.applied))
    PetscCall(with_arrays(device, X, Y, [&](bool there, const PetscScalar* from, PetscScalar* to) -> PetscErrorCode {
      PetscFunctionBegin;
      done = there;
      if (!done) PetscFunctionReturn(PETSC_SUCCESS);
      const VectorsTask columns{static_cast<int>(X->cmap->N), slot_t{x_apart}, 0, slot_t{y_apart}};
      const double all_flops = flops(b) * static_cast<double>(X->cmap->N);
      if (device) PetscCall(begin_device_work(inverses->backend()));
      PetscCall(guarded(comm_of(pc),
                        [&] { inverses->multiply_vectors(Op::none, Update::assign, columns, from, nullptr, to); }));
      PetscCall(device && PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(all_flops) : PetscLogFlops(all_flops));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  for (PetscInt n = 0; !done && n < X->cmap->N; ++n)
    PetscCall(with_column_vectors(X, Y, n, [&](Vec x, Vec y) { return apply<Op::none>(pc, x, y); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii;
  PointBlocks& b = blocks_of(pc);
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii || b.block_size == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  point-block size %" PetscInt_FMT "\n", b.block_size));
  for (const MemorySpaceRow& row : memory_spaces)
    if (const auto& inverses = b.at(row.space))
      PetscCall(PetscViewerASCIIPrintf(viewer, "  inverses on backend %s, plan %s\n", std::string(row.backend).c_str(),
                                       to_string(inverses->plan()).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PC pc) {
  blocks_of(pc) = {};
  return PETSC_SUCCESS;
}

PetscErrorCode set_up(PC pc);

void give_to_petsc(PC pc, PointJacobi& both) {
  if (!both.is_ours) return;
  *pc->ops = both.petsc_ops;
  pc->data = both.petsc_data;
  both.blocks = {};
  both.is_ours = false;
}

PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  give_to_petsc(pc, *static_cast<PointJacobi*>(pc->data));
  PetscCall(pc->ops->destroy(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void take_from_petsc(PC pc, PointJacobi& both) {
  if (both.is_ours) return;
  both.petsc_ops = *pc->ops;
  both.petsc_data = std::exchange(pc->data, &both);
  both.is_ours = true;
  *pc->ops = {};
  pc->ops->setup = for_petsc<set_up>;
  pc->ops->apply = for_petsc<apply<Op::none>>;
  pc->ops->applytranspose = for_petsc<apply<Op::transpose>>;
  pc->ops->matapply = for_petsc<apply_to_columns>;
  pc->ops->view = for_petsc<view>;
  pc->ops->reset = reset;
  pc->ops->destroy = for_petsc<destroy>;
}

/// At each set-up, since the matrix may have become another.
PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  PointJacobi* both = nullptr;
  PetscCall(composed(reinterpret_cast<PetscObject>(pc), name_of_both, &both));
  if (is_compound(pc->pmat)) {
    take_from_petsc(pc, *both);
    PetscCall(set_up_ours(pc));
  } else {
    give_to_petsc(pc, *both);
    PetscCall(set_up_petsc(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  PetscCall(create_petsc(pc));
  set_up_petsc = std::exchange(pc->ops->setup, for_petsc<set_up>);
  PetscCall(together(comm_of(pc), [&] {
    return compose_owned(reinterpret_cast<PetscObject>(pc), name_of_both, std::make_unique<PointJacobi>());
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_preconditioners() {
  PetscFunctionBegin;
  PetscErrorCode (*found)(PC) = nullptr;
  PetscCall(PCInitializePackage());
  PetscCall(PetscFunctionListFind(PCList, PCPBJACOBI, &found));
  if (found != for_petsc<create>) create_petsc = found;
  for (const char* name : {PCPBJACOBI, PCPBJACOBICOMPOUND}) PetscCall(PCRegister(name, for_petsc<create>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
