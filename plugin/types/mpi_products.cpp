#include "types/mpi_products.hpp"

#include "copies/options.hpp"
#include "types/mpi_state.hpp"
#include "types/seq_products.hpp"
#include "types/view.hpp"

namespace compound::plugin {

namespace {

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

/// The ghosts on the side of x, unless the off-diagonal part multiplies on the host all the same.
PetscErrorCode choose_ghosts(Ghosts& all, Vec x, PreparedParts* p, Vec* ghosts) {
  PetscFunctionBegin;
  *ghosts = all.on_host;
  if (p->place_of_off == Place::host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ghosts_beside(x, all, ghosts));
  if (*ghosts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_leave_device(p->off, "for ghosts", &p->place_of_off));
  *ghosts = all.on_host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = A x or z + A x: the diagonal part's product runs while the ghosts travel.
PetscErrorCode gather(Mat A, MpiState* st, Update update, Vec x, Vec z, Vec y) {
  PetscFunctionBegin;
  PreparedParts p;
  Vec ghosts;
  PetscCall(prepare_parts(A, st, Op::none, x, &p));
  PetscCall(choose_ghosts(st->ghosts, x, &p, &ghosts));
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
  PetscCall(choose_ghosts(st->ghosts, x, &p, &ghosts));
  PetscCall(seq_run(p.off, p.place_of_off, op, Update::assign, x, nullptr, ghosts));
  PetscCall(seq_run(p.diagonal, p.place_of_diagonal, op, update, x, z, y));
  PetscCall(VecScatterBegin(st->ghosts.scatter, ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(st->ghosts.scatter, ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The parent's own product; it has none for Hermitian transposes, which then run on its parts' products.
PetscErrorCode parent_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y, bool* done) {
  PetscFunctionBegin;
  const _MatOps* parent;
  PetscCall(parent_ops(A, &parent));
  const _MatOps& o = *parent;
  const bool add = update == Update::add;
  *done = op != Op::hermitian;
  if (op == Op::none) PetscCall(add ? o.multadd(A, x, z, y) : o.mult(A, x, y));
  if (op == Op::transpose) PetscCall(add ? o.multtransposeadd(A, x, z, y) : o.multtranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

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

}  // namespace compound::plugin
