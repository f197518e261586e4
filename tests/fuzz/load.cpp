// PETSc's binary files, by MatLoad(): an error, or a matrix whose products are those of the file's numbers.
#include <bit>
#include <cstring>
#include <optional>

#include "file_of_memory.hpp"
#include "petsc_target.hpp"

namespace {

using namespace compound::fuzz;

/// Numbers of a file one after the other, the most significant byte first.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  template <class T>
  bool take(T* to) {
    if (left_ < sizeof(T)) return false;
    std::uint8_t bytes[sizeof(T)];
    for (std::size_t k = 0; k < sizeof(T); ++k)
      bytes[std::endian::native == std::endian::little ? sizeof(T) - 1 - k : k] = at_[k];
    std::memcpy(to, bytes, sizeof(T));
    at_ += sizeof(T);
    left_ -= sizeof(T);
    return true;
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

struct Entry {
  PetscInt row, column;
  double value;
};

struct Rows {
  PetscInt rows, columns;
  std::vector<Entry> entries;
};

/// What a file says, if its numbers fit together.
std::optional<Rows> rows_of(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  PetscInt id, entries, sum = 0;
  Rows m;
  if (!numbers.take(&id) || !numbers.take(&m.rows) || !numbers.take(&m.columns) || !numbers.take(&entries)) return {};
  if (id != MAT_FILE_CLASSID || m.rows < 0 || m.columns < 0 || entries < 0) return {};
  for (PetscInt i = 0; i < m.rows; ++i) {
    PetscInt length;
    if (!numbers.take(&length) || length < 0 || length > entries - sum) return {};
    sum += length;
    m.entries.insert(m.entries.end(), static_cast<std::size_t>(length), {i, 0, 0});
  }
  if (sum != entries) return {};
  for (Entry& e : m.entries)
    if (!numbers.take(&e.column) || e.column < 0 || e.column >= m.columns) return {};
  for (Entry& e : m.entries)
    if (!numbers.take(&e.value)) return {};
  return m;
}

int load(const FileOfMemory& file, bool above_aij, PetscInt bs, Matrix* A) {
  return tried([&] {
    PetscFunctionBegin;
    Viewer viewer;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file.name().c_str(), FILE_MODE_READ, viewer.out()));
    PetscCall(MatCreate(PETSC_COMM_SELF, A->out()));
    PetscCall(MatSetType(*A, above_aij ? MATAIJCOMPOUND : MATBAIJCOMPOUND));
    PetscCall(MatSetBlockSize(*A, bs));
    PetscCall(MatLoad(*A, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

/// Vectors of more would be a test of the machine's memory, and PETSc keeps a bit for each column that a header tells.
constexpr PetscInt most_components = 1 << 16, most_columns = 1 << 26;

bool is_huge(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  PetscInt id, rows, columns;
  return numbers.take(&id) && numbers.take(&rows) && numbers.take(&columns) && columns > most_columns;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || is_huge(data + 1, size - 1)) return 0;
  begin_petsc();
  const FileOfMemory file(data + 1, size - 1);
  const PetscInt bs = 1 + (data[0] >> 1) % 4;
  Matrix A;
  if (load(file, data[0] & 1, bs, &A)) {
    require(!message().empty(), "an error says what is wrong");
    return 0;
  }
  const auto m = rows_of(data + 1, size - 1);
  require(m.has_value(), "a matrix is loaded from numbers that fit together");
  PetscInt rows, columns;
  must(MatGetSize(A, &rows, &columns));
  require(rows == m->rows && columns == m->columns, "the matrix has the sizes of the file");
  if (rows > most_components || columns > most_components || PetscInt64{rows} * columns > most_components) return 0;
  Dense a{.rows = rows, .columns = columns};
  for (const Entry& e : m->entries) a.at(e.row, e.column) += e.value;
  require_products(A, a, "the matrix");
  return 0;
}
