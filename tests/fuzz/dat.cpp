// Files of -matrix and -pattern of compound-bench and compound-tune, PETSc's binary and Matrix Market: a message, or a
// matrix of the size that the file announces.
#include <stdexcept>

#include "bench/failure.hpp"
#include "bench/parent_matrix.hpp"
#include "file_of_memory.hpp"
#include "petsc_target.hpp"

namespace {

namespace bench = compound::bench;
using namespace compound::fuzz;

/// Larger ones are left to the tools, which ask for the machine's memory.
void check(const bench::CaseSize& size) {
  if (!(size.block_rows * size.block.rows < 1e5 && size.entries < 1e6)) throw std::runtime_error("too large");
}

void load(const std::string& name, int block_size, bool complex_blocks) {
  const bench::Matrix A = bench::load(PETSC_COMM_SELF, name, block_size, complex_blocks, check);
  PetscInt rows, columns;
  std::vector<double> y;
  must(MatGetSize(A, &rows, &columns));
  if (PetscInt64{columns} < 100000) require(multiply(A, false, &y), "the matrix multiplies: " + message());
  for (const bench::BlockArrays& part : bench::block_arrays(A))
    for (PetscInt k = 0; k < part.entries(); ++k)
      require(part.column[k] >= 0 && part.column[k] < part.columns, "entries are in the matrix");
}

void load_pattern(const std::string& name) {
  const bench::BlockRows rows = bench::load_pattern(PETSC_COMM_SELF, name, {2, 3}, check);
  for (const auto column : rows.column) require(column >= 0 && column < rows.all_columns, "entries are in the pattern");
}

}  // namespace

/// The first byte says by which option, and the block size.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  begin_petsc();
  static const bool remembers = [] {
    must(PetscPushErrorHandler(bench::remember_error, nullptr));
    return true;
  }();
  (void)remembers;
  const FileOfMemory file(data + 1, size - 1);
  try {
    if (data[0] & 1)
      load_pattern(file.name());
    else
      load(file.name(), (data[0] >> 1) % 4, data[0] & 16);
  } catch (const std::exception& e) {
    require(*e.what() != 0, "an error says what is wrong");
  }
  return 0;
}
