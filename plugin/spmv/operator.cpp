#include "spmv/operator.hpp"

#include <algorithm>
#include <utility>

#include "options/options.hpp"
#include "petsc/agree.hpp"
#include "petsc/scoped.hpp"
#include "spmv/attached.hpp"
#include "spmv/refresh.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

/// The base type's flop counts, so that -log_view compares.
PetscLogDouble flops(const SeqState& st, const Operands& o) {
  const BlockShape block = st.input_block;
  const double products = 2.0 * st.statistics.entries * static_cast<double>(scalars_in(block));
  const bool saves_first_add = o.op == Op::none && o.update == Update::assign;
  return products - (saves_first_add ? double{1} * block.rows * (st.statistics.rows - st.statistics.empty_rows) : 0.0);
}

/// PETSc's products of large blocks leave y as it was where a row is empty (seen in 3.18): such rows are set first, on
/// the host, since those products bring nothing there of a y that they overwrite.
PetscErrorCode set_empty_rows(const SeqState& st, const Operands& o) {
  PetscFunctionBegin;
  if (o.op != Op::none || st.statistics.empty_rows == 0 || o.in_place()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscInt n;
  const PetscScalar* z = nullptr;
  PetscScalar* y;
  PetscCall(VecGetLocalSize(o.y, &n));
  if (o.z) PetscCall(VecGetArrayRead(o.z, &z));
  PetscCall(VecGetArrayWrite(o.y, &y));
  if (z)
    std::copy_n(z, n, y);
  else
    std::fill_n(y, n, PetscScalar(0));
  PetscCall(VecRestoreArrayWrite(o.y, &y));
  if (o.z) PetscCall(VecRestoreArrayRead(o.z, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// This process's part of conj(from), in a vector of its own: parts of a matrix multiply where others need not.
PetscErrorCode local_conjugate(Vec from, Vec* to) {
  PetscFunctionBegin;
  PetscInt n;
  const PetscScalar* read;
  PetscScalar* write;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, to));
  PetscCall(VecGetArrayRead(from, &read));
  PetscCall(VecGetArrayWrite(*to, &write));
  std::transform(read, read + n, write, [](PetscScalar s) { return PetscConj(s); });
  PetscCall(VecRestoreArrayWrite(*to, &write));
  PetscCall(VecRestoreArrayRead(from, &read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = [z +] A^H x, where the base type has none, as conj([conj(z) +] A^T conj(x)).
PetscErrorCode run_conjugated(Mat A, const _MatOps& base, const Operands& o) {
  PetscFunctionBegin;
  ScopedVec x;
  PetscCall(local_conjugate(o.x, x.out()));
  if (o.z && !o.in_place()) PetscCall(VecCopy(o.z, o.y));
  if (o.z) PetscCall(VecConjugate(o.y));
  PetscCall(o.z ? base.multtransposeadd(A, x, o.y, o.y) : base.multtranspose(A, x, o.y));
  PetscCall(VecConjugate(o.y));
  PetscCall(x.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type's product; y = A x by its operations for this matrix.
PetscErrorCode run_base(Mat A, const State& st, const Operands& o) {
  PetscFunctionBegin;
  const bool add = o.update == Update::add;
  if (o.op == Op::none && st.base_products.mult) {
    PetscCall(add ? st.base_products.multadd(A, o.x, o.z, o.y) : st.base_products.mult(A, o.x, o.y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const _MatOps* base;
  PetscCall(base_ops(st.base_type, st.is_mpi, &base));
  if (o.op == Op::none) PetscCall(add ? base->multadd(A, o.x, o.z, o.y) : base->mult(A, o.x, o.y));
  if (o.op == Op::transpose)
    PetscCall(add ? base->multtransposeadd(A, o.x, o.z, o.y) : base->multtranspose(A, o.x, o.y));
  if (o.op == Op::hermitian && !base->multhermitiantranspose)
    PetscCall(run_conjugated(A, *base, o));
  else if (o.op == Op::hermitian)
    PetscCall(add ? base->multhermitiantransposeadd(A, o.x, o.z, o.y) : base->multhermitiantranspose(A, o.x, o.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By the base type where there is no packed copy; it has Hermitian transposes of small blocks only.
PetscErrorCode run_without_copy(Mat A, const SeqState& st, Operands o) {
  PetscFunctionBegin;
  PetscCall(need_host_values(A));
  if (o.op == Op::hermitian && !PetscDefined(USE_COMPLEX)) o.op = Op::transpose;
  PetscCall(set_empty_rows(st, o));
  PetscCall(run_base(A, st, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Once. The option that names the device does not tell that vectors travel at each product.
PetscErrorCode report_host_vectors(Mat A, SeqState& st) {
  PetscFunctionBegin;
  if (st.reported_host_vectors) PetscFunctionReturn(PETSC_SUCCESS);
  st.reported_host_vectors = true;
  PetscCall(PetscInfo(A,
                      "Products run on the device, but vectors are on the host and are copied at each product: "
                      "-dm_vec_type cuda (or -vec_type cuda) keeps them on the device\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of which a matrix above SBAIJ is the same.
Op op_of_mirror(Mat A) { return is_hermitian(A) ? Op::hermitian : Op::transpose; }

/// `done` is false where the memory of the device is full: the host is then ready to multiply.
PetscErrorCode try_on_device(Mat A, SeqState& st, const Operands& o, bool* done) {
  PetscFunctionBegin;
  DeviceRun run;
  PetscCall(run_on_device(comm_of(A), o, flops(st, o), st.copy(MemorySpace::device), st.buffers, &run));
  if (run.x_was_copied && run.done) PetscCall(report_host_vectors(A, st));
  *done = run.done;
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(leave_device(A, &st, no_memory("for a product's vectors")));
  MemorySpace host = MemorySpace::host;
  PetscCall(make_ready(A, &st, o.op, &host));
  if (st.copy(MemorySpace::host).must_not_be_used()) PetscCall(check_copies(A, {{A, MemorySpace::host}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode flops_of_product(Mat A, PetscLogDouble* of_product) {
  PetscFunctionBegin;
  Mat parts[] = {A, nullptr};
  Update update = Update::assign;
  *of_product = 0;
  if (!is_seq_compound(A)) PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    SeqState* st;
    if (!part) continue;
    PetscCall(seq_state(part, &st));
    *of_product += flops(*st, {Op::none, update, nullptr, nullptr, nullptr});
    update = Update::add;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::prepare_mpi(Mat A, MpiState& st, Vec x, PetscInt products) {
  PetscFunctionBegin;
  const bool by_parts = !st.settings.parent_only() || op_ == Op::hermitian;  // the base type has none of these
  const auto prepare = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(compound_parts(A, &st, &parts_[diagonal].mat, &parts_[off_diagonal].mat));
    if (by_parts) PetscCall(prepare_parts(A, st, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(make_ghosts(A, st.ghosts));
  PetscCall(once_together(A, st, prepare));
  if (!st.settings.parent_only()) st.products += products;
  if (by_parts) {
    PetscCall(agree_on_parts(A, st, x));
  } else {
    parts_[diagonal] = {A, &st};
    parts_[off_diagonal] = {};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is made anew after a change of A or its settings, on all processes or none: an error of one is all processes'.
/// Between changes nothing is asked of others.
template <class Body>
PetscErrorCode Operator::once_together(Mat A, MpiState& st, const Body& prepare) {
  PetscFunctionBegin;
  MpiState::Prepared& known = st.prepared[static_cast<int>(op_)];
  MpiState::Prepared now{-1, st.settings.version, known.vectors};
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &now.state));
  is_first_ = now != known;
  if (is_first_) now.vectors = 0;
  PetscCall(is_first_ ? together(comm_of(A), prepare) : prepare());
  known = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::prepare_parts(Mat A, MpiState& st, Vec x) {
  PetscFunctionBegin;
  MemorySpace space;
  PetscCall(space_of_product(A, st.settings, x, &space));
  mirrored_op_ = st.base_type.keeps_upper ? op_of_mirror(A) : Op::none;
  for (StateInSpace& part : parts_) {
    SeqState* of_part;
    const Op ready_for = &part == &parts_[off_diagonal] && has_mirrored_part() ? mirrored_op_ : op_;
    PetscCall(seq_state(part.mat, &of_part));
    part.st = of_part;
    part.space = space;
    PetscCall(make_ready(part.mat, of_part, ready_for, &part.space));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::agree_on_parts(Mat A, MpiState& st, Vec x) {
  PetscFunctionBegin;
  PetscCall(check_parts(
      A, &st,
      {{parts_[diagonal].mat, parts_[diagonal].space}, {parts_[off_diagonal].mat, parts_[off_diagonal].space}}));
  scatter_ = st.ghosts.scatter;
  PetscCall(choose_ghosts(st.ghosts, x));
  PetscCall(choose_exchange(A, st, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The ghosts on the side of x, unless the off-diagonal part multiplies on the host all the same.
PetscErrorCode Operator::choose_ghosts(Ghosts& all, Vec x) {
  PetscFunctionBegin;
  StateInSpace& off = parts_[off_diagonal];
  SeqState* const of_off = static_cast<SeqState*>(off.st);
  const bool on_host = off.space == MemorySpace::host;
  Vec beside = nullptr;
  if (!on_host) PetscCall(ghosts_beside(x, all, &beside));
  ghosts_ = beside ? beside : all.on_host;
  if (on_host || beside) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(leave_device(off.mat, of_off, no_memory("for ghosts")));
  PetscCall(make_ready(off.mat, of_off, Op::none, &off.space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All processes go the same way: the settings are the matrix's, and so is where its vectors are.
PetscErrorCode Operator::choose_exchange(Mat A, MpiState& st, Vec x) {
  PetscFunctionBegin;
  bool device;
  exchanged_ = nullptr;
  PetscCall(is_on_device(x, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  if (!has_mirrored_part()) PetscCall(make_exchange(A, st.settings, st.ghosts));
  if (has_mirrored_part() || !go_by_devices(st.ghosts, st.settings.exchange)) {
    const bool asked = st.settings.exchange == ExchangeChoice::peers || st.settings.exchange == ExchangeChoice::nccl;
    PetscCheck(!asked, comm_of(A), PETSC_ERR_SUP,
               "Devices cannot exchange ghosts (-mat_compound_exchange %s): %s; use auto or petsc",
               get(st.settings, "exchange").c_str(), why_not_exchanged_by_devices(st).c_str());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::string lost = st.ghosts.group->why_not_now();
  PetscCheck(lost.empty(), comm_of(A), PETSC_ERR_LIB, "%s", lost.c_str());
  exchanged_ = &st.ghosts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Operator::why_not_exchanged_by_devices(const MpiState& st) const {
  if (has_mirrored_part()) return "the matrix keeps one triangle, and its processes exchange by PETSc";
  return why_not_by_devices(st.ghosts, st.settings.exchange);
}

PetscErrorCode Operator::goes_by_devices(Vec v, bool* yes) const {
  PetscFunctionBegin;
  *yes = false;
  if (exchanged_) PetscCall(is_on_device(v, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::begin_on_devices(Vec v) const {
  PetscFunctionBegin;
  Backend& device = *device_backend();
  std::byte* const ghosts = exchanged_->device_memory.data();
  const std::size_t bytes = exchanged_->device_memory.bytes();
  const PetscScalar* from;
  const bool forth = op_ == Op::none;
  Vec given = forth ? v : ghosts_;
  PetscCall(begin_device_work(device));
  PetscCall(VecGetArrayReadAndMemType(given, &from, nullptr));
  PetscCall(guarded(PETSC_COMM_SELF, [&] {
    if (!forth && ghosts_ == exchanged_->on_host && bytes > 0) device.upload(ghosts, from, bytes);
    forth ? exchanged_->exchange->put(from) : exchanged_->exchange->put_back(ghosts);
  }));
  PetscCall(VecRestoreArrayReadAndMemType(given, &from));
  exchanged_->group->announce();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::end_on_devices(Vec v) const {
  PetscFunctionBegin;
  Backend& device = *device_backend();
  std::byte* const ghosts = exchanged_->device_memory.data();
  const std::size_t bytes = exchanged_->device_memory.bytes();
  PetscScalar* to;
  exchanged_->group->wait_for_hosts();
  PetscCall(begin_device_work(device));
  if (op_ == Op::none) {
    PetscCall(guarded(PETSC_COMM_SELF, [&] { exchanged_->exchange->take(ghosts); }));
    if (ghosts_ != exchanged_->on_host || bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecGetArrayWrite(ghosts_, &to));
    PetscCall(guarded(PETSC_COMM_SELF, [&] { device.download(to, ghosts, bytes); }));
    PetscCall(VecRestoreArrayWrite(ghosts_, &to));
  } else {
    PetscCall(VecGetArrayAndMemType(v, &to, nullptr));
    PetscCall(guarded(PETSC_COMM_SELF, [&] { exchanged_->exchange->add(to); }));
    PetscCall(VecRestoreArrayAndMemType(v, &to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::prepare(Mat A, Op op, Vec x, PetscInt products) {
  PetscFunctionBegin;
  State* st;
  op_ = op;
  PetscCall(any_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  if (st->settings.parent_only()) PetscCall(need_host_values(A));
  if (st->is_mpi) {
    PetscCall(prepare_mpi(A, static_cast<MpiState&>(*st), x, products));
  } else {
    parts_[diagonal] = {A, st};
    PetscCall(space_of_product(A, st->settings, x, &parts_[diagonal].space));
    PetscCall(make_ready(A, static_cast<SeqState*>(st), op, &parts_[diagonal].space));
  }
  PetscCall(view_once(A, st->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::begin_ghosts(Vec v) const {
  PetscFunctionBegin;
  bool by_devices;
  PetscCall(goes_by_devices(v, &by_devices));
  if (by_devices) {
    PetscCall(begin_on_devices(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(op_ == Op::none ? VecScatterBegin(scatter_, v, ghosts_, INSERT_VALUES, SCATTER_FORWARD)
                            : VecScatterBegin(scatter_, ghosts_, v, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::end_ghosts(Vec v) const {
  PetscFunctionBegin;
  bool by_devices;
  PetscCall(goes_by_devices(v, &by_devices));
  if (by_devices) {
    PetscCall(end_on_devices(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(op_ == Op::none ? VecScatterEnd(scatter_, v, ghosts_, INSERT_VALUES, SCATTER_FORWARD)
                            : VecScatterEnd(scatter_, ghosts_, v, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::run(Part which, Update update, Vec x, Vec z, Vec y) const {
  return run_as(op_, which, update, x, z, y);
}

PetscErrorCode Operator::run_mirrored(Vec x, Vec y, PetscErrorCode* code) const {
  PetscFunctionBegin;
  if (!*code) *code = run_as(mirrored_op_, off_diagonal, Update::assign, x, nullptr, ghosts_);
  PetscCall(VecScatterBegin(scatter_, ghosts_, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter_, ghosts_, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operator::run_as(Op op, Part which, Update update, Vec x, Vec z, Vec y) const {
  PetscFunctionBegin;
  const StateInSpace& part = parts_[which];
  const Operands o{op, update, x, z, y};
  if (part.st->settings.parent_only()) {
    PetscCall(run_base(part.mat, *part.st, o));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SeqState& st = static_cast<SeqState&>(*part.st);
  bool done = false;
  if (st.copy(part.space).must_not_be_used()) PetscCall(check_copies(part.mat, {{part.mat, part.space}}));
  // An earlier product of this operator may have left a device whose memory is full.
  const bool is_there = part.space == MemorySpace::device && st.copy(MemorySpace::device).packed();
  if (is_there) PetscCall(try_on_device(part.mat, st, o, &done));
  if (!done && !st.copy(MemorySpace::host).packed()) {
    PetscCall(run_without_copy(part.mat, st, o));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!done) PetscCall(run_on_host(comm_of(part.mat), o, flops(st, o), st.copy(MemorySpace::host)));
  ++st.counts.products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Operator::takes_vectors() const {
  if (has_mirrored_part() || (parts_[off_diagonal].mat && on_device() && op_ != Op::none)) return false;
  return std::ranges::all_of(parts_, [this](const StateInSpace& part) {
    return !part.mat || (!part.st->settings.parent_only() && part.space == parts_[diagonal].space &&
                         static_cast<const SeqState&>(*part.st).copy(part.space).takes_vectors());
  });
}

PetscErrorCode Operator::run_vectors(Part which, Update update, const VectorsTask& vectors, const PetscScalar* x,
                                     const PetscScalar* z, PetscScalar* y) const {
  PetscFunctionBegin;
  const StateInSpace& part = parts_[which];
  SeqState& st = static_cast<SeqState&>(*part.st);
  const PackedMatrix& packed = *st.copy(part.space).packed();
  const PetscLogDouble all_flops = vectors.count * flops(st, {op_, update, nullptr, nullptr, nullptr});
  const bool device = part.space == MemorySpace::device;
  if (device) PetscCall(begin_device_work(packed.backend()));
  if (device) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(guarded(comm_of(part.mat), [&] { packed.multiply_vectors(op_, update, vectors, x, z, y); }));
  if (device) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(device && PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(all_flops) : PetscLogFlops(all_flops));
  st.counts.products += vectors.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Operator::are_most(MpiState& st, PetscInt vectors) const {
  PetscInt& most = st.prepared[static_cast<int>(op_)].vectors;
  return std::exchange(most, std::max(most, vectors)) < vectors;
}

namespace {

/// y = [z +] conj(A) x as conj([conj(z) +] A conj(x)).
PetscErrorCode multiply_by_conjugate(Mat A, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  ScopedVec conjugate_x;
  PetscCall(VecDuplicate(x, conjugate_x.out()));
  PetscCall(VecCopy(x, conjugate_x));
  PetscCall(VecConjugate(conjugate_x));
  if (z && z != y) PetscCall(VecCopy(z, y));
  if (z) PetscCall(VecConjugate(y));
  PetscCall(multiply(A, Op::none, update, conjugate_x, z ? y : nullptr, y));
  PetscCall(VecConjugate(y));
  PetscCall(conjugate_x.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  Operator a;
  // The other transpose of such a matrix is its conjugate.
  if (op != Op::none && type_of_matrix(A).base_type->keeps_upper) {
    if (PetscDefined(USE_COMPLEX) && op != op_of_mirror(A)) {
      PetscCall(multiply_by_conjugate(A, update, x, z, y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    op = Op::none;
  }
  PetscCall(a.prepare(A, op, x));
  // Others wait for this process, whatever its parts say.
  PetscErrorCode code;
  if (!a.ghosts()) {
    code = a.run(Operator::diagonal, update, x, z, y);
  } else if (op == Op::none) {
    PetscCall(a.begin_ghosts(x));
    code = a.run(Operator::diagonal, update, x, z, y);
    PetscCall(a.end_ghosts(x));
    if (!code) code = a.run(Operator::off_diagonal, Update::add, a.ghosts(), y, y);
    if (a.has_mirrored_part()) PetscCall(a.run_mirrored(x, y, &code));
  } else {
    code = a.run(Operator::off_diagonal, Update::assign, x, nullptr, a.ghosts());
    if (!code) code = a.run(Operator::diagonal, update, x, z, y);
    PetscCall(a.begin_ghosts(y));
    PetscCall(a.end_ghosts(y));
  }
  // Products of some layouts ask for memory, which those after the first one get where it was.
  if (a.is_first()) code = share_error(comm_of(A), code);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
