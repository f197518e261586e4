#include "spgemm/row_traffic.hpp"

#include <algorithm>

namespace compound::plugin {

void RowTraffic::take(const std::vector<Message<PetscInt>>& messages) {
  from_.clear();
  for (const auto& m : messages) {
    const PetscInt* at = m.data.data();
    const PetscInt rows = *at++;
    ForeignRows f{m.rank, {at, at + rows}, {0}, {}};
    at += rows;
    for (PetscInt k = 0; k < rows; ++k) f.start.push_back(f.start.back() + *at++);
    f.column.assign(at, at + f.start.back());
    from_.push_back(std::move(f));
  }
}

PetscInt64 RowTraffic::entries_from_others() const {
  PetscInt64 all = 0;
  for (const ForeignRows& f : from_) all += f.entries();
  return all;
}

PetscErrorCode RowTraffic::send_values(MPI_Comm comm, const PatternView& p, PetscInt64 scalars, const PetscScalar* from,
                                       PetscScalar* values) const {
  PetscFunctionBegin;
  std::vector<PetscScalar> packed;
  std::vector<Scalars> to_send, to_receive;
  PetscInt64 all = 0;
  for (const RowsFor& r : to_)
    for (const idx row : r.row) all += p.length(row) * scalars;
  packed.reserve(static_cast<std::size_t>(all));
  for (const RowsFor& r : to_) {
    const std::size_t first = packed.size();
    for (const idx row : r.row)
      packed.insert(packed.end(), from + p.start[row] * scalars, from + p.start[row + 1] * scalars);
    to_send.push_back({r.rank, packed.data() + first, static_cast<PetscInt64>(packed.size() - first)});
  }
  for (const ForeignRows& f : from_) {
    to_receive.push_back({f.rank, values, f.entries() * scalars});
    values += f.entries() * scalars;
  }
  PetscCall(exchange(comm, to_send, to_receive));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
