#include "petsc/messages.hpp"

#include <algorithm>
#include <limits>

namespace compound::plugin {

namespace {

/// A message's length as MPI takes it.
PetscErrorCode count_of(MPI_Comm comm, PetscInt64 n, PetscMPIInt* count) {
  PetscFunctionBegin;
  PetscCheck(n <= std::numeric_limits<PetscMPIInt>::max(), comm, PETSC_ERR_SUP,
             "A message of %lld numbers to one process is beyond MPI's counts; use more processes",
             static_cast<long long>(n));
  *count = static_cast<PetscMPIInt>(n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Messages under way.
class Requests {
 public:
  MPI_Request* next() { return &all_.emplace_back(MPI_REQUEST_NULL); }
  void reserve(std::size_t n) { all_.reserve(n); }
  PetscErrorCode wait() {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Waitall(static_cast<PetscMPIInt>(all_.size()), all_.data(), MPI_STATUSES_IGNORE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  std::vector<MPI_Request> all_;
};

struct Part {
  PetscMPIInt rank;
  void* data;
  PetscInt64 count;
};

PetscErrorCode send_and_receive(MPI_Comm comm, MPI_Datatype type, const std::vector<Part>& to,
                                const std::vector<Part>& from) {
  PetscFunctionBegin;
  PetscMPIInt tag, count;
  Requests requests;
  PetscCall(PetscCommGetNewTag(comm, &tag));
  requests.reserve(to.size() + from.size());
  for (const Part& p : from) {
    PetscCall(count_of(comm, p.count, &count));
    PetscCallMPI(MPI_Irecv(p.data, count, type, p.rank, tag, comm, requests.next()));
  }
  for (const Part& p : to) {
    PetscCall(count_of(comm, p.count, &count));
    PetscCallMPI(MPI_Isend(p.data, count, type, p.rank, tag, comm, requests.next()));
  }
  PetscCall(requests.wait());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode exchange(MPI_Comm comm, const std::vector<Message<PetscInt>>& to, std::vector<Message<PetscInt>>* from) {
  PetscFunctionBegin;
  PetscMPIInt senders, *ranks;
  PetscInt* lengths;
  std::vector<PetscMPIInt> receivers;
  std::vector<PetscInt> their_lengths;
  std::vector<Part> parts_to, parts_from;
  for (const auto& m : to) {
    receivers.push_back(m.rank);
    their_lengths.push_back(static_cast<PetscInt>(m.data.size()));
    parts_to.push_back({m.rank, const_cast<PetscInt*>(m.data.data()), static_cast<PetscInt64>(m.data.size())});
  }
  PetscCall(PetscCommBuildTwoSided(comm, 1, MPIU_INT, static_cast<PetscMPIInt>(to.size()), receivers.data(),
                                   their_lengths.data(), &senders, &ranks, &lengths));
  from->resize(static_cast<std::size_t>(senders));
  for (PetscMPIInt k = 0; k < senders; ++k) {
    auto& m = (*from)[static_cast<std::size_t>(k)];
    m.rank = ranks[k];
    m.data.resize(static_cast<std::size_t>(lengths[k]));
  }
  PetscCall(PetscFree(ranks));
  PetscCall(PetscFree(lengths));
  std::ranges::sort(*from, {}, &Message<PetscInt>::rank);
  for (auto& m : *from) parts_from.push_back({m.rank, m.data.data(), static_cast<PetscInt64>(m.data.size())});
  PetscCall(send_and_receive(comm, MPIU_INT, parts_to, parts_from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode exchange(MPI_Comm comm, const std::vector<Scalars>& to, const std::vector<Scalars>& from) {
  PetscFunctionBegin;
  std::vector<Part> parts_to, parts_from;
  for (const Scalars& s : to) parts_to.push_back({s.rank, s.values, s.count});
  for (const Scalars& s : from) parts_from.push_back({s.rank, s.values, s.count});
  PetscCall(send_and_receive(comm, MPIU_SCALAR, parts_to, parts_from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
