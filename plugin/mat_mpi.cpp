#include "mat_mpi.hpp"

#include "common_operations.hpp"
#include "coo.hpp"
#include "packing.hpp"

namespace compound::plugin {

namespace {

/// A part's settings: the matrix's own; parts have no prefix and read no options.
PetscErrorCode push_settings(Mat part, const Settings& settings, bool off_diagonal) {
  PetscFunctionBegin;
  if (is_seq_compound(part)) {
    SeqState* st;
    PetscCall(seq_state(part, &st));
    if (st->settings.options_read && st->settings.version == settings.version && st->off_diagonal == off_diagonal)
      PetscFunctionReturn(PETSC_SUCCESS);
  }
  Settings of_part = settings;
  of_part.options_read = true;
  of_part.view = false;
  PetscCall(adopt_seq(part, of_part, off_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raise_parts(Mat A) {
  PetscFunctionBegin;
  Mat parts[2];
  MpiState* st;
  PetscCall(mpi_state(A, &st));  // MatAXPY() may have merged the header of an mpibaij into A's
  PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts)
    if (part) PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parts, and where each is to multiply.
struct PreparedParts {
  Mat diagonal, off;
  Place place_of_diagonal, place_of_off;
};

/// Whatever can fail does so here, before messages are under way.
PetscErrorCode prepare_parts(Mat A, MpiState* st, Op op, Vec x, PreparedParts* p) {
  PetscFunctionBegin;
  PetscCall(compound_parts(A, st, &p->diagonal, &p->off));
  PetscCall(place_of_product(A, st->settings, x, &p->place_of_diagonal));
  p->place_of_off = p->place_of_diagonal;
  PetscCall(seq_prepare(p->diagonal, op, &p->place_of_diagonal));
  PetscCall(seq_prepare(p->off, op, &p->place_of_off));
  PetscCall(check_parts(A, st, {{p->diagonal, p->place_of_diagonal}, {p->off, p->place_of_off}}));
  PetscCall(view_once(A, st->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = A x or z + A x: the diagonal part's product runs while the ghosts travel.
PetscErrorCode gather(Mat A, MpiState* st, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  PreparedParts p;
  Vec ghosts;
  PetscCall(prepare_parts(A, st, Op::none, x, &p));
  PetscCall(ghosts_beside(x, st->ghosts, p.off, &p.place_of_off, &ghosts));
  PetscCall(VecScatterBegin(st->ghosts.scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(seq_run(p.diagonal, p.place_of_diagonal, Op::none, update, x, z, y));
  PetscCall(VecScatterEnd(st->ghosts.scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(seq_run(p.off, p.place_of_off, Op::none, Update::add, ghosts, y, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = op(A) x or z + op(A) x: what belongs to others is computed first and added to their y.
PetscErrorCode scatter(Mat A, MpiState* st, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  PreparedParts p;
  Vec ghosts;
  PetscCall(prepare_parts(A, st, op, x, &p));
  PetscCall(ghosts_beside(x, st->ghosts, p.off, &p.place_of_off, &ghosts));
  PetscCall(seq_run(p.off, p.place_of_off, op, Update::assign, x, nullptr, ghosts));
  PetscCall(seq_run(p.diagonal, p.place_of_diagonal, op, update, x, z, y));
  PetscCall(VecScatterBegin(st->ghosts.scatter, ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(st->ghosts.scatter, ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's own product; it has none for Hermitian transposes, which then run on its parts' products.
PetscErrorCode parent_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y, bool* done) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(mpi_parent(&parent));
  const _MatOps& o = parent->ops;
  const bool add = update == Update::add;
  *done = op != Op::hermitian;
  if (op == Op::none) PetscCall(add ? o.multadd(A, x, z, y) : o.mult(A, x, y));
  if (op == Op::transpose) PetscCall(add ? o.multtransposeadd(A, x, z, y) : o.multtranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  MpiState* st;
  PetscCall(mpi_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(make_ghosts(A, st->ghosts));
  if (st->settings.parent_only()) {
    Mat diagonal, off;
    bool done = false;
    PetscCall(compound_parts(A, st, &diagonal, &off));  // so that they too leave their products to the parent
    PetscCall(view_once(A, st->settings));
    PetscCall(parent_multiply(A, op, update, x, z, y, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
  } else {
    ++st->products;
  }
  PetscCall(op == Op::none ? gather(A, st, update, x, z, y) : scatter(A, st, op, update, x, z, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode install_mpi(Mat A);

/// Parts whose device copies have their values already (device_copy_is_filled()); none before the first assembly.
PetscErrorCode filled_parts(Mat A, std::vector<Mat>* filled) {
  PetscFunctionBegin;
  if (!A->preallocated || !A->was_assembled) PetscFunctionReturn(PETSC_SUCCESS);
  Mat parts[2];
  PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    if (!part || !is_seq_compound(part)) continue;
    SeqState* st;
    PetscCall(seq_state(part, &st));
    if (st->copy(Place::device).is_filled) filled->push_back(part);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assembly_end(Mat A, MatAssemblyType mode) {
  PetscFunctionBegin;
  const Parent* parent;
  std::vector<Mat> filled;
  PetscCall(mpi_parent(&parent));
  PetscCall(filled_parts(A, &filled));
  PetscCall(parent->ops.assemblyend(A, mode));
  if (mode != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  MpiState* st;
  Mat diagonal, off;
  PetscCall(install_mpi(A));
  PetscCall(mpi_state(A, &st));
  PetscCall(check_ghosts(A, st->ghosts));
  PetscCall(compound_parts(A, st, &diagonal, &off));
  for (Mat part : filled) {
    SeqState* of_part;
    PetscCall(seq_state(part, &of_part));
    PetscCall(keep_filled(part, of_part, 0));
  }
  if (!filled.empty()) ++st->parts_state;  // as MatAssemblyEnd() will raise it: the parts then need not be told
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assembly_begin(Mat A, MatAssemblyType mode) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(mpi_parent(&parent));
  PetscCall(set_up_for_assembly(A));
  PetscCall(parent->ops.assemblybegin(A, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_diagonal_block(Mat A, Mat* block) {
  PetscFunctionBegin;
  MpiState* st;
  Mat off;
  PetscCall(mpi_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(compound_parts(A, st, block, &off));
#if PetscDefined(HAVE_CUDA)
  VecType vectors;
  PetscCall(decide_vec_type(A, st->settings, Moment::making_vectors));  // as whoever asks for the block will
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(MatSetVecType(*block, vectors));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat* B) {
  PetscFunctionBegin;
  MpiState *from, *to;
  const Parent* parent;
  PetscCall(mpi_state(A, &from));
  PetscCall(mpi_parent(&parent));
  PetscCall(parent->ops.duplicate(A, option, B));  // constructs our type by its name
  PetscCall(install_mpi(*B));
  PetscCall(mpi_state(*B, &to));
  to->settings = from->settings;
  set_bound(*B, is_bound(A));
  PetscCall(keep_coo(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent keeps this option to itself.
PetscErrorCode set_option(Mat A, MatOption option, PetscBool on) {
  PetscFunctionBegin;
  MpiState* st;
  const Parent* parent;
  PetscCall(mpi_state(A, &st));
  PetscCall(mpi_parent(&parent));
  if (option == MAT_IGNORE_OFF_PROC_ENTRIES) st->ignores_others_rows = on;
  PetscCall(parent->ops.setoption(A, option, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode drop_state(Mat A) {
  PetscFunctionBegin;
  if (auto* st = static_cast<MpiState*>(A->spptr)) {
    PetscCall(destroy_ghosts(st->ghosts));
    delete st;
    A->spptr = nullptr;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* base_converters[] = {"mpiaij", "mpisbaij", "mpiadj", "is", "hypre"};

PetscErrorCode set_preallocation(Mat A, PetscInt bs, PetscInt dnz, const PetscInt* dnnz, PetscInt onz,
                                 const PetscInt* onnz);

PetscErrorCode compose_mpi_functions(Mat A) {
  PetscFunctionBegin;
  PetscCall(compose(A, "MatMPIBAIJSetPreallocation_C", set_preallocation));
  PetscCall(compose(A, "MatProductSetFromOptions_anytype_C", product_by_aij));
  PetscCall(compose_coo(A));
  PetscCall(compose_converters(A, MATMPIBAIJ, MATMPIBAIJCOMPOUND, base_converters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_mpi_functions(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(mpi_parent(&parent));
  PetscCall(compose(A, "MatMPIBAIJSetPreallocation_C", parent->set_mpi_preallocation));
  PetscCall(compose(A, "MatProductSetFromOptions_anytype_C", nullptr));
  PetscCall(remove_coo(A));
  PetscCall(remove_converters(A, MATMPIBAIJCOMPOUND, base_converters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(mpi_parent(&parent));
  if (auto* st = static_cast<MpiState*>(A->spptr)) keep_or_forget(A, st->settings);
  PetscCall(drop_state(A));
  if (!header_is_merging(A)) PetscCall(remove_mpi_functions(A));  // else there is no list of them just now
  PetscCall(parent->ops.destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Raised are the states of the parts too: who holds one (PCBJACOBI) would multiply with stale packed values.
struct MpiType {
  using State = MpiState;
  static PetscErrorCode parent(const Parent** p) { return mpi_parent(p); }
  static PetscErrorCode state(Mat A, MpiState** st) { return mpi_state(A, st); }
  static PetscErrorCode multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y) {
    return mpi_multiply(A, op, update, x, z, y);
  }
  static PetscErrorCode adopt(Mat A, const Settings& settings) { return adopt_mpi(A, settings); }
  static PetscErrorCode raise(Mat A) { return raise_parts(A); }
  /// The parent asks its diagonal part.
  static PetscErrorCode get_diagonal(Mat A, Vec v) {
    PetscFunctionBegin;
    Mat part;
    const Parent* parent;
    PetscCall(mpi_parent(&parent));
    PetscCall(get_diagonal_block(A, &part));
    PetscCall(parent->ops.getdiagonal(A, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
using Common = CommonOperations<MpiType>;

constexpr auto overrides = [](const auto& f) {
  Common::list(f);
  f(&_MatOps::assemblybegin, assembly_begin);
  f(&_MatOps::assemblyend, assembly_end);
  f(&_MatOps::getdiagonalblock, get_diagonal_block);
  f(&_MatOps::duplicate, duplicate);
  f(&_MatOps::setoption, set_option);
  f(&_MatOps::destroy, destroy);
  Common::raising<&_MatOps::axpy>(f);
  Common::raising<&_MatOps::zerorows>(f);
  Common::raising<&_MatOps::zerorowscolumns>(f);
  Common::raising<&_MatOps::diagonalscale>(f);
  Common::raising<&_MatOps::scale>(f);
#if PETSC_VERSION_GE(3, 20, 0)
  Common::raising<&_MatOps::eliminatezeros>(f);
#endif
};

PetscErrorCode install_mpi(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(mpi_parent(&parent));
  finish_late_set_up(A, parent->ops);
  install(A, overrides);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_preallocation(Mat A, PetscInt bs, PetscInt dnz, const PetscInt* dnnz, PetscInt onz,
                                 const PetscInt* onnz) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(mpi_parent(&parent));
  PetscCall(parent->set_mpi_preallocation(A, bs, dnz, dnnz, onz, onnz));
  PetscCall(install_mpi(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

bool is_mpi_compound(Mat A) { return has_type(A, MATMPIBAIJCOMPOUND); }

PetscErrorCode mpi_state(Mat A, MpiState** state) { return state_of(A, compose_mpi_functions, state); }

PetscErrorCode compound_parts(Mat A, MpiState* st, Mat* diagonal, Mat* off_diagonal) {
  PetscFunctionBegin;
  PetscCall(mpi_parts(A, diagonal, off_diagonal, nullptr));
  PetscCall(push_settings(*diagonal, st->settings, false));
  PetscCall(push_settings(*off_diagonal, st->settings, true));
  for (Mat part : {*diagonal, *off_diagonal}) PetscCall(MatBindToCPU(part, is_bound(A) ? PETSC_TRUE : PETSC_FALSE));
  PetscObjectState state;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
  if (state != st->parts_state) PetscCall(raise_parts(A));
  st->parts_state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_parts(Mat A, MpiState* st, std::initializer_list<PlacedPart> parts) {
  PetscFunctionBegin;
  MpiState::Checked now{-1, st->settings.version};
  if (!st->settings.names_entry() || st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &now.state));
  if (now == st->checked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_entries(A, parts));
  st->checked = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode adopt_mpi(Mat A, const Settings& settings) {
  PetscFunctionBegin;
  if (!is_mpi_compound(A)) {
    A->spptr = new MpiState;
    PetscCall(install_mpi(A));
    PetscCall(compose_mpi_functions(A));
    PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(A), MATMPIBAIJCOMPOUND));
    set_bound(A, false);
  }
  MpiState* st;
  PetscCall(mpi_state(A, &st));
  st->settings = settings;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode release_mpi(Mat A) {
  PetscFunctionBegin;
  const Parent* parent;
  Mat parts[2];
  PetscCall(mpi_parent(&parent));
  PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts)
    if (part && is_seq_compound(part)) PetscCall(release_seq(part));
  uninstall(A, parent->ops, overrides);
  PetscCall(remove_mpi_functions(A));
  PetscCall(drop_state(A));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(A), MATMPIBAIJ));
  set_bound(A, true);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
