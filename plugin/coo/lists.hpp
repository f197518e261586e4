// From coordinates to lists of sums: which of the values given are added up for each scalar of a matrix's blocks.
#pragma once

#include <array>
#include <vector>

#include "backend/backend.hpp"
#include "petsc/parts.hpp"

namespace compound::plugin {

/// Scalar rows and columns of a matrix. A negative row marks what does not count.
struct Coordinates {
  std::vector<PetscInt> row, column;
};

/// The lists of a SumTask.
struct SumLists {
  std::vector<slot_t> first{0}, index, place;  ///< `place` empty: list s is of scalar s
  slot_t sums() const { return static_cast<slot_t>(first.size()) - 1; }
};

/// The same in a backend's memory; the host lends the vectors, which must stay.
class ListsIn {
 public:
  ListsIn(Backend& on, const SumLists& lists);
  void run(Backend& on, const Scalar* from, Scalar* to, Update update) const;
  bool empty() const { return sums_ == 0; }

 private:
  const slot_t* take(Backend& on, const std::vector<slot_t>& v, Buffer<slot_t>& copy);

  slot_t sums_;
  std::array<Buffer<slot_t>, 3> copies_;
  const slot_t *first_, *index_, *place_;
};

/// Block compressed rows, columns sorted and each once.
struct BlockRows {
  std::vector<PetscInt> start, column;
};

/// The blocks of all coordinates. Rows begin at scalar row `first_row`; columns stay global.
BlockRows block_rows_of(std::initializer_list<const Coordinates*> all, PetscInt first_row, PetscInt rows, PetscInt bs);

/// For every scalar of the part the coordinates that are added up, in their order.
SumLists lists_of(const PartArrays& part, const Coordinates& coordinates);

/// Without the scalars that have none.
SumLists without_empty(const SumLists& lists);

}  // namespace compound::plugin
