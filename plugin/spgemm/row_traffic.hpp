// Block rows that processes send each other: patterns once, values as often as they change.
#pragma once

#include <vector>

#include "pattern/pattern.hpp"
#include "petsc/messages.hpp"

namespace compound::plugin {

/// Block rows from one process: which (as the sender names them), and where their entries are, in global columns.
struct ForeignRows {
  PetscMPIInt rank = 0;
  std::vector<PetscInt> row, start, column;

  PetscInt entries() const { return start.back(); }
};

/// Rows for one process, by their numbers in a pattern of the sender's.
struct RowsFor {
  PetscMPIInt rank = 0;
  std::vector<idx> row;
};

/// Which rows of a pattern go where, and which come from where.
class RowTraffic {
 public:
  /// `name(row)` is what the receivers know a row by, `global(column)` the global column. Collective.
  template <class Name, class Global>
  PetscErrorCode send_pattern(MPI_Comm comm, std::vector<RowsFor> to, const PatternView& pattern, const Name& name,
                              const Global& global) {
    PetscFunctionBegin;
    std::vector<Message<PetscInt>> messages, answers;
    for (const RowsFor& r : to) {
      Message<PetscInt> m{r.rank, {static_cast<PetscInt>(r.row.size())}};
      for (const idx row : r.row) m.data.push_back(name(row));
      for (const idx row : r.row) m.data.push_back(pattern.length(row));
      for (const idx row : r.row)
        for (count32 e = pattern.start[row]; e < pattern.start[row + 1]; ++e)
          m.data.push_back(global(pattern.column[e]));
      messages.push_back(std::move(m));
    }
    to_ = std::move(to);
    PetscCall(exchange(comm, messages, &answers));
    take(answers);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// By rank.
  const std::vector<ForeignRows>& from() const { return from_; }
  PetscInt64 entries_from_others() const;

  /// Entries of `scalars` each, of rows of `pattern`, in the order of rows; `values` of what comes, message by message.
  PetscErrorCode send_values(MPI_Comm comm, const PatternView& pattern, PetscInt64 scalars, const PetscScalar* from,
                             PetscScalar* values) const;

 private:
  void take(const std::vector<Message<PetscInt>>& messages);

  std::vector<RowsFor> to_;
  std::vector<ForeignRows> from_;
};

}  // namespace compound::plugin
