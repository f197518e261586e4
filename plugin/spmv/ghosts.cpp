#include "spmv/ghosts.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "petsc/agree.hpp"
#include "petsc/base_types.hpp"
#include "petsc/scoped.hpp"
#include "spmv/refresh.hpp"

namespace compound::plugin {

namespace {

/// The off-diagonal part's global block columns.
PetscErrorCode ghost_columns(Mat A, std::span<const PetscInt>* columns) {
  PetscFunctionBegin;
  Mat off;
  const PetscInt* first;
  PetscCall(mpi_parts(A, nullptr, &off, &first));
  *columns = {first, static_cast<std::size_t>(off->cmap->n / type_of_matrix(A).base_type->block_size(A))};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In device memory of our own, so that where it is full nothing of PETSc's fails; null then.
PetscErrorCode make_device_ghosts([[maybe_unused]] Ghosts& g) {
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA)
  PetscInt n;
  bool enough;
  Backend& device = *device_backend();
  PetscCall(VecGetLocalSize(g.on_host, &n));
  PetscCall(guarded_memory(PETSC_COMM_SELF, &enough, [&] {
    g.device_memory = Buffer<std::byte>(device, static_cast<std::size_t>(n) * sizeof(PetscScalar));
  }));
  if (enough)
    PetscCall(VecCreateSeqCUDAWithArrays(PETSC_COMM_SELF, 1, n, nullptr,
                                         reinterpret_cast<PetscScalar*>(g.device_memory.data()), &g.on_device));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

Ghosts::~Ghosts() { static_cast<void>(destroy_ghosts(*this)); }

PetscErrorCode make_ghosts(Mat A, Ghosts& g) {
  PetscFunctionBegin;
  if (g.scatter) PetscFunctionReturn(PETSC_SUCCESS);
  ScopedIS from, to;
  ScopedVec x, on_host;
  PetscCall(together(comm_of(A), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    std::span<const PetscInt> columns;
    const PetscInt bs = type_of_matrix(A).base_type->block_size(A);
    PetscCall(ghost_columns(A, &columns));
    g.columns.assign(columns.begin(), columns.end());
    const auto blocks = static_cast<PetscInt>(columns.size());
    PetscCall(ISCreateBlock(PETSC_COMM_SELF, bs, blocks, columns.data(), PETSC_COPY_VALUES, from.out()));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, blocks * bs, 0, 1, to.out()));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, blocks * bs, on_host.out()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(VecCreateMPIWithArray(comm_of(A), 1, A->cmap->n, A->cmap->N, nullptr, x.out()));
  PetscCall(VecScatterCreate(x, from, on_host, to, &g.scatter));
  g.on_host = on_host.take();
  PetscCall(together(comm_of(A), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(x.reset());
    PetscCall(from.reset());
    PetscCall(to.reset());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_ghosts_of_several(Mat A, PetscInt vectors, Backend* device, Ghosts& g) {
  PetscFunctionBegin;
  if (g.several == vectors && (!device || g.several_is_there)) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt bs = type_of_matrix(A).base_type->block_size(A);
  const PetscInt* const first_of = A->cmap->range;
  std::vector<PetscSFNode> from;
  PetscCall(PetscSFDestroy(&g.scatter_several));
  g.several = 0;
  g.of_several_there = {};
  PetscCall(together(comm_of(A), [&] {
    const std::size_t scalars = g.columns.size() * static_cast<std::size_t>(bs * vectors);
    from.reserve(scalars);
    g.of_several.resize(scalars);
    if (device) g.of_several_there = Buffer<PetscScalar>(*device, scalars);
  }));
  for (PetscInt n = 0; n < vectors; ++n)
    for (const PetscInt column : g.columns) {
      PetscMPIInt owner;
      PetscCall(PetscLayoutFindOwner(A->cmap, column * bs, &owner));
      const PetscInt numbers = first_of[owner + 1] - first_of[owner];
      for (PetscInt j = 0; j < bs; ++j) from.push_back({owner, n * numbers + column * bs + j - first_of[owner]});
    }
  PetscCall(PetscSFCreate(comm_of(A), &g.scatter_several));
  PetscCall(PetscSFSetGraph(g.scatter_several, vectors * A->cmap->n, static_cast<PetscInt>(from.size()), nullptr,
                            PETSC_COPY_VALUES, from.data(), PETSC_COPY_VALUES));
  g.several = vectors;
  g.several_is_there = device != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Whether processes that share a device keep to PETSc's way.
bool shares_device(const Ghosts& g, ExchangeChoice choice) {
  return choice == ExchangeChoice::automatic && !g.group->peers->shared_device().empty();
}

/// The processes that own the ghosts, and those that read values of this one.
PetscErrorCode find_neighbours(Mat A, const Ghosts& g, std::vector<Neighbour>* neighbours) {
  PetscFunctionBegin;
  PetscMPIInt processes;
  const PetscInt bs = type_of_matrix(A).base_type->block_size(A);
  const PetscInt* const first_of = A->cmap->range;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &processes));
  const auto n = static_cast<std::size_t>(processes);
  std::vector<int> reads(n), is_read(n), from(n), to(n);
  std::vector<PetscInt> wanted;
  for (const PetscInt column : g.columns) {
    PetscMPIInt owner;
    PetscCall(PetscLayoutFindOwner(A->cmap, column * bs, &owner));
    ++reads[owner];
    wanted.push_back(column - first_of[owner] / bs);
  }
  PetscCallMPI(MPI_Alltoall(reads.data(), 1, MPI_INT, is_read.data(), 1, MPI_INT, comm_of(A)));
  std::exclusive_scan(reads.begin(), reads.end(), from.begin(), 0);
  std::exclusive_scan(is_read.begin(), is_read.end(), to.begin(), 0);
  std::vector<PetscInt> given(static_cast<std::size_t>(to.back() + is_read.back()));
  PetscCallMPI(MPI_Alltoallv(wanted.data(), reads.data(), from.data(), MPIU_INT, given.data(), is_read.data(),
                             to.data(), MPIU_INT, comm_of(A)));
  for (PetscMPIInt p = 0; p < processes; ++p)
    if (reads[p] > 0 || is_read[p] > 0)
      neighbours->push_back({p,
                             {given.begin() + to[p], given.begin() + to[p] + is_read[p]},
                             slot_t{bs} * from[p],
                             slot_t{bs} * reads[p]});
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode make_exchange(Mat A, const Settings& settings, Ghosts& g) {
  PetscFunctionBegin;
  const ExchangeChoice choice = settings.exchange;
  std::vector<Neighbour> neighbours;
  bool enough = true;
  const ExchangeBy by = choice == ExchangeChoice::nccl ? ExchangeBy::nccl : ExchangeBy::memory;
  if (choice == ExchangeChoice::petsc) PetscFunctionReturn(PETSC_SUCCESS);
  if (g.group && g.group->by != by) {
    g.exchange.reset();
    g.why_no_exchange.clear();
  } else if (g.exchange || !g.why_no_exchange.empty()) {
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(peers_of(comm_of(A), by, settings.exchange_patience, &g.group));
  g.why_no_exchange = g.group->why_not_now();
  if (!g.why_no_exchange.empty() || shares_device(g, choice)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!g.columns.empty() && !g.on_device) PetscCall(make_device_ghosts(g));
  enough = g.columns.empty() || g.on_device;
  PetscCall(on_all(A, enough, &enough));
  if (!enough) g.why_no_exchange = no_memory("for ghosts");
  if (!enough) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_neighbours(A, g, &neighbours));
  const auto bs = static_cast<int>(type_of_matrix(A).base_type->block_size(A));
  PetscCall(begin_device_work(*device_backend()));
  PetscCall(guarded(comm_of(A), [&] {
    try {
      g.exchange = g.group->peers->exchange({scalar_type_of<Scalar>(), bs, neighbours});
    } catch (const error& e) {
      g.why_no_exchange = e.what();
    } catch (const std::bad_alloc&) {
      g.why_no_exchange = no_memory("for what processes exchange");
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool go_by_devices(const Ghosts& g, ExchangeChoice choice) {
  return g.exchange && choice != ExchangeChoice::petsc && !shares_device(g, choice);
}

std::string why_not_by_devices(const Ghosts& g, ExchangeChoice choice) {
  if (choice == ExchangeChoice::petsc) return "processes exchange by PETSc (-mat_compound_exchange petsc)";
  if (!g.group) return "the vectors are on the host";
  if (!g.group->peers || !g.why_no_exchange.empty()) return g.why_no_exchange;
  return shares_device(g, choice) ? g.group->peers->shared_device() : "";
}

PetscErrorCode destroy_ghosts(Ghosts& g) {
  PetscFunctionBegin;
  g.exchange.reset();
  g.why_no_exchange.clear();
  PetscCall(PetscSFDestroy(&g.scatter_several));
  g.several = 0;
  g.of_several_there = {};
  PetscCall(VecDestroy(&g.on_host));
  PetscCall(VecDestroy(&g.on_device));
  g.device_memory = {};
  PetscCall(VecScatterDestroy(&g.scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_ghosts(Mat A, Ghosts& g, PetscErrorCode code) {
  PetscFunctionBegin;
  std::span<const PetscInt> columns;
  PetscCall(ghost_columns(A, &columns));
  bool changed = g.scatter && !std::equal(columns.begin(), columns.end(), g.columns.begin(), g.columns.end());
  PetscErrorCode anywhere;
  PetscCall(error_and_flag(comm_of(A), code, &anywhere, &changed));
  if (changed) PetscCall(destroy_ghosts(g));
  PetscCall(report_error(comm_of(A), code, anywhere));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ghosts_beside(Vec x, Ghosts& g, Vec* beside) {
  PetscFunctionBegin;
  bool device = false;
  if (!g.columns.empty()) PetscCall(is_on_device(x, &device));
  if (device && !g.on_device) PetscCall(make_device_ghosts(g));
  *beside = device ? g.on_device : g.on_host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
