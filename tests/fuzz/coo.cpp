// Matrices by coordinates: any rows and columns, values set twice. PETSc's numbers for the parent type, and the
// definition's; an error where a coordinate lies beyond the matrix.
#include <cstdlib>
#include <iterator>

#include "petsc_target.hpp"

namespace {

using namespace compound::fuzz;

/// What the first bytes say; coordinates follow, a byte each.
struct Case {
  bool above_aij, of_blocks, apart, add[2];
  PetscInt bs, rows, columns;  ///< in blocks
  std::vector<PetscInt> row, column;

  PetscInt unit() const { return of_blocks ? bs : 1; }  ///< scalars of a coordinate's side
};

/// Small ones as they are, the ends of the range for PETSc's.
PetscInt coordinate_of(std::uint8_t byte) {
  const auto small = static_cast<std::int8_t>(byte);
  return small == INT8_MAX ? PETSC_MAX_INT : small == INT8_MIN ? PETSC_MIN_INT : PetscInt{small};
}

Case case_of(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t flags = data[0], form = data[1];
  Case c{.above_aij = (flags & 1) != 0,
         .of_blocks = (flags & 2) != 0,
         .apart = (flags & 4) != 0,
         .add = {(flags & 8) != 0, (flags & 16) != 0},
         .bs = 1 + (flags >> 5) % 4,
         .rows = form % 16 % 7,
         .columns = form / 16 % 7,
         .row = {},
         .column = {}};
  for (std::size_t k = 2; k + 1 < size; k += 2) {
    c.row.push_back(coordinate_of(data[k]));
    c.column.push_back(coordinate_of(data[k + 1]));
  }
  return c;
}

bool is_beyond(const Case& c, std::size_t k) {
  const PetscInt in_block = c.of_blocks ? 1 : c.bs;
  return c.row[k] >= c.rows * in_block || c.column[k] >= c.columns * in_block;
}

/// An entry with a negative index is ignored, wherever the other index lies.
bool counts(const Case& c, std::size_t k) { return c.row[k] >= 0 && c.column[k] >= 0; }

Matrix empty(const Case& c, const char* type) {
  Matrix A;
  const PetscInt rows = c.rows * c.bs, columns = c.columns * c.bs;
  must(MatCreate(PETSC_COMM_SELF, A.out()));
  must(MatSetSizes(A, rows, columns, rows, columns));
  must(MatSetBlockSize(A, c.bs));
  must(MatSetType(A, type));
  return A;
}

/// Copies: PETSc may sort them.
int preallocate(const Case& c, Mat A) {
  std::vector<PetscInt> row = c.row, column = c.column;
  const auto n = static_cast<PetscCount>(row.size());
  return tried([&] {
    return c.of_blocks ? MatCompoundSetPreallocationCOO(A, n, row.data(), column.data())
                       : MatSetPreallocationCOO(A, n, row.data(), column.data());
  });
}

std::vector<PetscScalar> values_of(const Case& c, int round) {
  std::vector<PetscScalar> values(c.row.size() * static_cast<std::size_t>(c.unit() * c.unit()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<PetscReal>(1 + (k * 7 + round * 5) % 11);
  return values;
}

void set(const Case& c, Mat A, int round) {
  const std::vector<PetscScalar> values = values_of(c, round);
  const InsertMode mode = c.add[round] ? ADD_VALUES : INSERT_VALUES;
  message().clear();
  must(c.of_blocks ? MatCompoundSetValuesCOO(A, values.data(), mode) : MatSetValuesCOO(A, values.data(), mode));
}

void add_to(const Case& c, int round, Dense* a) {
  const std::vector<PetscScalar> values = values_of(c, round);
  if (!c.add[round]) a->value.assign(a->value.size(), 0);
  const PetscInt side = c.unit();
  auto value = values.begin();
  for (std::size_t k = 0; k < c.row.size(); ++k)
    for (PetscInt i = 0; i < side; ++i)
      for (PetscInt j = 0; j < side; ++j, ++value)
        if (counts(c, k)) a->at(c.row[k] * side + i, c.column[k] * side + j) += PetscRealPart(*value);
}

/// Rows have the columns of the parent's, and its numbers.
void require_rows(Mat A, Mat parent) {
  PetscInt rows, columns, n, n_of_parent;
  const PetscInt *column, *column_of_parent;
  const PetscScalar *value, *value_of_parent;
  must(MatGetSize(A, &rows, &columns));
  for (PetscInt i = 0; i < rows; ++i) {
    must(MatGetRow(A, i, &n, &column, &value));
    must(MatGetRow(parent, i, &n_of_parent, &column_of_parent, &value_of_parent));
    require(n == n_of_parent,
            "row " + std::to_string(i) + " has " + std::to_string(n_of_parent) + " entries, not " + std::to_string(n));
    for (PetscInt k = 0; k < n; ++k)
      require(column[k] == column_of_parent[k] && value[k] == value_of_parent[k],
              "entry " + std::to_string(k) + " of row " + std::to_string(i) + " is the parent's");
    must(MatRestoreRow(parent, i, &n_of_parent, &column_of_parent, &value_of_parent));
    must(MatRestoreRow(A, i, &n, &column, &value));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  begin_petsc();
  const Case c = case_of(data, size);
  c.apart ? setenv("COMPOUND_VALUES_APART", "1", 1) : unsetenv("COMPOUND_VALUES_APART");

  const Matrix A = empty(c, c.above_aij ? MATAIJCOMPOUND : MATBAIJCOMPOUND);
  const int code = preallocate(c, A);
  // PETSc's BAIJ refuses, or makes room for, entries with one negative index.
  bool wrong = false, parent_may = !c.of_blocks;
  for (std::size_t k = 0; k < c.row.size(); ++k) {
    wrong = wrong || (is_beyond(c, k) && counts(c, k));
    parent_may = parent_may && !is_beyond(c, k) && (c.row[k] < 0) == (c.column[k] < 0);
  }
  if (wrong) {
    require(code == PETSC_ERR_ARG_OUTOFRANGE, "coordinates beyond the matrix are an error");
    require(message().find("; the matrix has ") != std::string::npos, "the error says so: " + message());
    return 0;
  }
  require(code == PETSC_SUCCESS, "coordinates are taken: " + message());

  const Matrix parent = empty(c, c.above_aij ? MATAIJ : MATBAIJ);
  if (parent_may) require(preallocate(c, parent) == PETSC_SUCCESS, "the parent takes them: " + message());
  Dense a{.rows = c.rows * c.bs, .columns = c.columns * c.bs};
  for (const int round : {0, 1}) {
    set(c, A, round);
    add_to(c, round, &a);
    require_products(A, a, "round " + std::to_string(round));
    if (!parent_may) continue;
    set(c, parent, round);
    require_rows(A, parent);
  }
  return 0;
}
