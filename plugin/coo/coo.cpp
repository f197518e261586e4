#include "coo/coo.hpp"

#include "coo/structure.hpp"
#include "options/options.hpp"
#include "petsc/agree.hpp"
#include "petsc/log.hpp"
#include "petsc/owned.hpp"
#include "petsc/warnings.hpp"
#include "petsccompound.h"
#include "spmv/placement.hpp"
#include "spmv/refresh.hpp"
#include "spmv/state.hpp"
#include "spmv/vec_types.hpp"
#include "values/guards.hpp"

#include <petscdevice.h>

#include <optional>
#include <utility>

namespace compound::plugin {

namespace {

constexpr const char* name_of_container = "petsccompound_coo";

/// Collective: the lists know places in the arrays, so no block may have been added since.
PetscErrorCode check_pattern(Mat A, CooStructure& s, std::vector<PartArrays>* parts) {
  PetscFunctionBegin;
  bool changed = false;
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(parts_of(A, parts));
    changed = s.parts.size() != parts->size();
    for (std::size_t k = 0; k < parts->size() && !changed; ++k) changed = !s.parts[k].fits((*parts)[k]);
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  PetscCall(share_error(comm_of(A), code, &changed));
  PetscCheck(!changed, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "petsc-compound: MatSetValuesCOO(): the matrix's nonzero pattern is no more that of "
             "MatSetPreallocationCOO(); call that again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values given, and where they are added up.
struct Given {
  PetscMemType type = PETSC_MEMTYPE_HOST;
  const Scalar* values = nullptr;
  std::vector<Scalar> on_host;  ///< they lie on, where they are not the caller's
  Buffer<Scalar> on_device;     ///< the same
  Backend* on = nullptr;
  CooMemory* memory = nullptr;
};

PetscErrorCode leave_to_host(Mat A, CooStructure* s) {
  PetscFunctionBegin;
  s->device_is_full = true;
  PetscCall(PetscInfo(A, "Values by coordinates are added up on the host: the device has no memory left\n"));
  PetscCall(warn("values by coordinates of a matrix of " + std::to_string(A->rmap->n) +
                 " local rows are added up on the host from now on: the device has no memory left"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not collective: values may travel between the host of one process and the device of another. A device that has no
/// memory for the lists leaves them to the host, from now on.
PetscErrorCode make_device_memory(Mat A, Backend& device, CooStructure* s) {
  PetscFunctionBegin;
  if (s->in_device || s->device_is_full) PetscFunctionReturn(PETSC_SUCCESS);
  bool enough;
  PetscCall(guarded_memory(comm_of(A), &enough, [&] { s->in_device = std::make_unique<CooMemory>(device, *s); }));
  if (!enough) PetscCall(leave_to_host(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bring_to_host(Mat A, std::size_t n, Given* g) {
  PetscFunctionBegin;
  PetscCall(guarded(comm_of(A), [&] {
    g->on_host.resize(n);
    if (n > 0) g->on->download(g->on_host.data(), g->values, n * sizeof(Scalar));
  }));
  PetscCall(log_download(n * sizeof(Scalar)));
  g->values = g->on_host.data();
  g->type = PETSC_MEMTYPE_HOST;
  g->on = &backend("host");
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bring_lists(CooStructure& s) {
  if (std::exchange(s.lists_are_on_device, false))
    s.parts[0].lists.own = s.in_device->parts[0].own.lists(s.in_device->on);
}

PetscErrorCode choose_memory(Mat A, CooStructure* s, Given* g) {
  PetscFunctionBegin;
  if (g->on->is_device()) {
    PetscCall(begin_device_work(*g->on));
    PetscCall(make_device_memory(A, *g->on, s));
    if (s->device_is_full) PetscCall(bring_to_host(A, static_cast<std::size_t>(s->given), g));
  }
  if (!g->on->is_device() && !s->in_host)
    PetscCall(guarded(comm_of(A), [&] {
      bring_lists(*s);
      s->in_host = std::make_unique<CooMemory>(*g->on, *s);
    }));
  g->memory = g->on->is_device() ? s->in_device.get() : s->in_host.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether products of all parts run on a device, as far as is known: they have a copy there, or vectors are to lie
/// there and no copy was left out. Their values go there anyway.
PetscErrorCode multiplies_on_device(Mat A, const State& of_A, const std::vector<PartArrays>& parts, bool* yes) {
  PetscFunctionBegin;
  PetscCall(expects_device_vectors(A, of_A.settings, yes));
  const bool expects = *yes;
  *yes = !is_bound(A) && !of_A.is_read_unasked && device_backend();
  for (std::size_t k = 0; k < parts.size() && *yes; ++k) {
    SeqState* st;
    *yes = is_seq_compound(parts[k].mat);
    if (!*yes) break;
    PetscCall(seq_state(parts[k].mat, &st));
    const PackedCopy& copy = st->copy(MemorySpace::device);
    *yes = copy.packed() || (expects && copy.left_out().empty() && copy.refused().empty());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values on the host for a matrix whose products run on a device: they are added up there, where all of them fit.
/// Contributions to other processes need a PETSc that sends from there.
PetscErrorCode bring_to_device(Mat A, const State& of_A, const CooStructure& s, const std::vector<PartArrays>& parts,
                               Given* g) {
  PetscFunctionBegin;
  bool brings =
      (g->values || s.given == 0) && !g->on->is_device() && !s.device_is_full && (PetscDefined(HAVE_CUDA) || !s.sf);
  if (brings) PetscCall(multiplies_on_device(A, of_A, parts, &brings));
  if (!brings) PetscFunctionReturn(PETSC_SUCCESS);
  Backend& device = *device_backend();
  const auto n = static_cast<std::size_t>(s.given);
  bool enough;
  PetscCall(begin_device_work(device));
  PetscCall(guarded_memory(comm_of(A), &enough, [&] {
    g->on_device = Buffer<Scalar>(device, n);
    if (n > 0) device.upload(g->on_device.data(), g->values, n * sizeof(Scalar));
  }));
  if (!enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_upload(n * sizeof(Scalar)));
  g->values = g->on_device.data();
  g->type = PETSC_MEMTYPE_DEVICE;
  g->on = &device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One part's values while they are added up.
struct PartValues {
  SeqState* packs = nullptr;          ///< sums go straight to the packed copy of this part
  Scalar* values = nullptr;           ///< sums go here: to the base type's array, or to a device
  MatrixValues* on_device = nullptr;  ///< in its buffer
  std::optional<MatrixValues> own;    ///< that, of a part that is not of ours yet: the base type gets them at once
};

/// The array that sums go to, which has the old values if those are wanted. `enough` is false where the device has no
/// memory for it.
PetscErrorCode begin_values(const PartArrays& part, const ListsIn& own, Backend& on, bool add, PartValues* v,
                            bool* enough) {
  PetscFunctionBegin;
  const bool is_ours = is_seq_compound(part.mat);
  SeqState* st = nullptr;
  *enough = true;
  if (is_ours) PetscCall(seq_state(part.mat, &st));
  if (!works_as_device(on)) {
    if (add && is_ours) PetscCall(take_host_values(part.mat));
    PetscCall(begin_host_write(part.mat, &v->values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (is_ours && !add && on.is_device() && takes_sums(part.mat, *st, own.task(nullptr))) {
    v->packs = st;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  v->on_device = is_ours ? &st->matrix_values : &v->own.emplace(*type_of_matrix(part.mat).base_type);
  PetscCall(guarded_memory(comm_of(part.mat), enough, [&] { v->values = v->on_device->write(part.mat, on, add); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode begin_all_values(const std::vector<PartArrays>& parts, const CooMemory& m, bool add,
                                std::vector<PartValues>* values, bool* enough) {
  PetscFunctionBegin;
  *enough = true;
  *values = std::vector<PartValues>(parts.size());
  for (std::size_t k = 0; k < parts.size() && *enough; ++k)
    PetscCall(begin_values(parts[k], m.parts[k].own, m.on, add, &(*values)[k], enough));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode end_values(const PartArrays& part, PartValues* v) {
  PetscFunctionBegin;
  if (v->packs) PetscFunctionReturn(PETSC_SUCCESS);
  if (!v->on_device) {
    PetscCall(end_host_write(part.mat, &v->values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(v->on_device->wrote(part.mat));
  if (v->own) PetscCall(guarded(comm_of(part.mat), [&] { v->own->read(part.mat); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode pack_part(const PartArrays& part, const CooMemory& m, std::size_t k, const Scalar* given, SeqState* to) {
  PetscFunctionBegin;
  const CooMemory::Part& p = m.parts[k];
  const SumTask own = p.own.task(given);
  PetscCall(pack_sums(part.mat, to, {own, p.others.task(m.received.data()), p.other.data(), own.stride != nullptr}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Own values are added while those of others are under way.
PetscErrorCode add_up(Mat A, const CooStructure& s, const std::vector<PartArrays>& parts, const Given& given,
                      std::vector<PartValues>* to, bool add) {
  PetscFunctionBegin;
  CooMemory& m = *given.memory;
  const PetscMemType type = given.type;
  const Scalar* const v = given.values;
  PetscCall(guarded(comm_of(A), [&] {
    m.sent.run(m.on, v, m.to_send.data(), Update::assign);
    m.on.synchronize();
  }));
  if (s.sf)
    PetscCall(
        PetscSFBcastWithMemTypeBegin(s.sf, s.block, type, m.to_send.data(), type, m.received.data(), MPI_REPLACE));
  PetscCall(guarded(comm_of(A), [&] {
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (!(*to)[k].packs) m.parts[k].own.run(m.on, v, (*to)[k].values, add ? Update::add : Update::assign);
  }));
  if (s.sf) PetscCall(PetscSFBcastEnd(s.sf, s.block, m.to_send.data(), m.received.data(), MPI_REPLACE));
  PetscCall(guarded(comm_of(A), [&] {
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (!(*to)[k].packs) m.parts[k].others.run(m.on, m.received.data(), (*to)[k].values, Update::add);
  }));
  for (std::size_t k = 0; k < parts.size(); ++k)
    if ((*to)[k].packs) PetscCall(pack_part(parts[k], m, k, v, (*to)[k].packs));
  for (std::size_t k = 0; k < parts.size(); ++k) PetscCall(end_values(parts[k], &(*to)[k]));
  if (HasValues* const of = has_values(A)) {
    of->set_by_coordinates = SetByCoordinates::assembled_next;
    PetscCall(guard_values(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix that was given its coordinates as the base type, and then converted in place (MATIS too makes that
/// first): PETSc keeps them for values one by one, which it reads on the host.
PetscErrorCode set_values_one_by_one(Mat A, const PetscScalar* v, InsertMode mode) {
  PetscFunctionBegin;
  PetscObject rows;
  Given given;
  PetscInt n;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(A), "__PETSc_coo_i", &rows));
  PetscCheck(rows, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "MatSetValuesCOO() on a matrix without coordinates: call MatSetPreallocationCOO() first");
  PetscCall(ISGetLocalSize(reinterpret_cast<IS>(rows), &n));
  PetscCall(backend_of(A, v, &given.type, &given.on));
  given.values = reinterpret_cast<const Scalar*>(v);
  if (v && given.on->is_device()) PetscCall(bring_to_host(A, static_cast<std::size_t>(n), &given));
  PetscCall(compose(A, "MatSetValuesCOO_C", nullptr));
  const PetscErrorCode code = MatSetValuesCOO(A, reinterpret_cast<const PetscScalar*>(given.values), mode);
  PetscCall(compose(A, "MatSetValuesCOO_C", for_petsc<coo_set_values>));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The base type's own function, if the matrix has what that keeps in it. Before 3.20 that cannot be seen.
PetscErrorCode way_of_base(Mat A, void (**function)(void)) {
  PetscFunctionBegin;
  PetscObject kept = nullptr;
  const TypeOfMatrix k = type_of_matrix(A);
  *function = nullptr;
  if (PETSC_VERSION_GE(3, 20, 0))
    PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(A), "__PETSc_MatCOOStruct_Host", &kept));
  if (kept) PetscCall(base_function(*k.base_type, k.is_mpi, "MatSetValuesCOO_C", function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same of a base type that has a way of its own, which keeps what it needs in the matrix.
PetscErrorCode set_values_by_base(Mat A, void (*function)(void), const PetscScalar* v, InsertMode mode) {
  PetscFunctionBegin;
  PetscMemType type = PETSC_MEMTYPE_HOST;
  if (v) PetscCall(PetscGetMemType(v, &type));
  PetscCheck(PetscMemTypeHost(type), comm_of(A), PETSC_ERR_SUP,
             "MatSetValuesCOO() with values on a device for a matrix that was given its coordinates as another type: "
             "call MatSetPreallocationCOO() once more");
  PetscCall(reinterpret_cast<PetscErrorCode (*)(Mat, const PetscScalar*, InsertMode)>(function)(A, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

namespace {

PetscErrorCode take_coordinates(Mat A, const CooInput& in) {
  PetscFunctionBegin;
  std::unique_ptr<CooStructure> s;
  PetscCall(together(comm_of(A), [&] { s = std::make_unique<CooStructure>(); }));
  PetscCall(build(A, in, s.get()));
  PetscCall(together(comm_of(A),
                     [&] { return compose_owned(reinterpret_cast<PetscObject>(A), name_of_container, std::move(s)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode coo_set_preallocation(Mat A, PetscCount n, PetscInt* rows, PetscInt* columns) {
  return take_coordinates(A, {"MatSetPreallocationCOO()", false, n, rows, columns});
}

PetscErrorCode coo_set_block_preallocation(Mat A, PetscCount n, const PetscInt* rows, const PetscInt* columns) {
  PetscFunctionBegin;
  const TypeOfMatrix type = type_of_matrix(A);
  PetscCheck(type.is_ours && !type.base_type->keeps_upper, comm_of(A), PETSC_ERR_ARG_WRONG,
             "MatCompoundSetPreallocationCOO(): the matrix has type %s, which takes no coordinates of blocks; "
             "MatSetType(A, " MATBAIJCOMPOUND ") or " MATAIJCOMPOUND " before it",
             type_of(A));
  PetscCheck(n >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "MatCompoundSetPreallocationCOO(): %" PetscCount_FMT " blocks; a number of blocks is 0 or more", n);
  PetscCheck(n == 0 || (rows && columns), PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "MatCompoundSetPreallocationCOO(): no block rows or no block columns for %" PetscCount_FMT " blocks", n);
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCall(PetscLogEventBegin(MAT_PreallCOO, A, nullptr, nullptr, nullptr));
  PetscCall(take_coordinates(A, {"MatCompoundSetPreallocationCOO()", true, n, rows, columns}));
  PetscCall(PetscLogEventEnd(MAT_PreallCOO, A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode coo_set_block_values(Mat A, const PetscScalar* v, InsertMode mode) {
  PetscFunctionBegin;
  CooStructure* s = nullptr;
  PetscCall(composed(reinterpret_cast<PetscObject>(A), name_of_container, &s));
  PetscCheck(s, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "MatCompoundSetValuesCOO() on a matrix without coordinates: call MatCompoundSetPreallocationCOO() first");
  PetscCheck(s->are_blocks, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "MatCompoundSetValuesCOO() on a matrix that has coordinates of scalars: call MatSetValuesCOO(), or "
             "MatCompoundSetPreallocationCOO() first");
  PetscCall(MatSetValuesCOO(A, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// No values (null) are zeros.
PetscErrorCode coo_set_values(Mat A, const PetscScalar* v, InsertMode mode) {
  PetscFunctionBegin;
  CooStructure* s = nullptr;
  PetscCall(composed(reinterpret_cast<PetscObject>(A), name_of_container, &s));
  if (!s) {  // the coordinates were not given to this type
    void (*base)(void);
    PetscCall(way_of_base(A, &base));
    PetscCall(base ? set_values_by_base(A, base, v, mode) : set_values_one_by_one(A, v, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, comm_of(A), PETSC_ERR_ARG_WRONG,
             "MatSetValuesCOO() takes INSERT_VALUES or ADD_VALUES");
  State* st;  // of settings that were kept for A
  std::vector<PartArrays> parts;
  PetscCall(state_of(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(check_pattern(A, *s, &parts));
  Given given;
  const bool add = mode == ADD_VALUES;
  std::vector<PartValues> to;
  const auto prepare = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    bool enough;
    given.values = reinterpret_cast<const Scalar*>(v);
    PetscCall(backend_of(A, v, &given.type, &given.on));
    if (!v) {
      given.on_host.assign(static_cast<std::size_t>(s->given), Scalar{});
      given.values = given.on_host.data();
    }
    PetscCall(bring_to_device(A, *st, *s, parts, &given));
    PetscCall(choose_memory(A, s, &given));
    PetscCall(begin_all_values(parts, *given.memory, add, &to, &enough));
    if (!enough) {
      PetscCall(leave_to_host(A, s));
      PetscCall(choose_memory(A, s, &given));
      PetscCall(begin_all_values(parts, *given.memory, add, &to, &enough));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(s->is_prepared ? prepare() : together(comm_of(A), prepare));
  s->is_prepared = true;
  PetscCall(add_up(A, *s, parts, given, &to, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode keep_coo(Mat from, Mat duplicate) {
  PetscFunctionBegin;
  PetscObject container;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(from), name_of_container, &container));
  if (container) PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(duplicate), name_of_container, container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
