#include "parent_matrix.hpp"

#include <petsc/private/petscimpl.h>
#include <petsccompound.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "device.hpp"
#include "failure.hpp"
#include "record.hpp"

namespace compound::bench {

Share share_of_rank(MPI_Comm comm, std::int64_t all_rows) {
  const int rank = rank_of(comm), size = ranks_of(comm);
  const std::int64_t each = all_rows / size, more = all_rows % size;
  return {rank * each + std::min<std::int64_t>(rank, more), each + (rank < more ? 1 : 0)};
}

namespace {

bool is_type(Mat A, MatType type) {
  PetscBool same;
  must(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(A), type, &same));
  return same == PETSC_TRUE;
}

BlockArrays arrays_of_part(Mat part) {
  BlockArrays b;
  PetscBool done;
  must(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_TRUE, &b.rows, &b.start, &b.column, &done));
  if (!done) throw petsc_error("PETSc gives no block rows of its baij");
  PetscInt columns, block_size;
  must(MatGetLocalSize(part, nullptr, &columns));
  must(MatGetBlockSize(part, &block_size));
  b.columns = columns / block_size;
  must(MatSeqBAIJGetArray(part, &b.values));  // lends a pointer only
  return b;
}

}  // namespace

void multiply_on_device(Mat A) {
  if (!used_device()) return;
  must(MatCompoundSetBackend(A, "cuda"));
  must(MatSetVecType(A, VECCUDA));
}

Matrix empty_like(Mat parent, const std::string& type) {
  PetscInt rows, columns, all_rows, all_columns, block_size;
  must(MatGetLocalSize(parent, &rows, &columns));
  must(MatGetSize(parent, &all_rows, &all_columns));
  must(MatGetBlockSize(parent, &block_size));
  Matrix A;
  must(MatCreate(PetscObjectComm(reinterpret_cast<PetscObject>(parent)), A.out()));
  must(MatSetSizes(A, rows, columns, all_rows, all_columns));
  must(MatSetBlockSize(A, block_size));
  must(MatSetType(A, type.c_str()));
  if (is_ours(type)) multiply_on_device(A);
  return A;
}

std::vector<BlockArrays> block_arrays(Mat A) {
  if (is_type(A, MATSEQBAIJ)) return {arrays_of_part(A)};
  Mat diagonal, off_diagonal;
  const PetscInt* columns;
  must(MatMPIBAIJGetSeqBAIJ(A, &diagonal, &off_diagonal, &columns));
  std::vector<BlockArrays> parts = {arrays_of_part(diagonal), arrays_of_part(off_diagonal)};
  PetscInt first, block_size;
  must(MatGetOwnershipRangeColumn(A, &first, nullptr));
  must(MatGetBlockSize(A, &block_size));
  parts[0].first_column = first / block_size;
  parts[1].global_column = columns;
  return parts;
}

namespace {

void write_values(Mat A, const BlockRows& rows, int block_size, const ValueRule& rule) {
  const std::size_t words = static_cast<std::size_t>(block_size) * static_cast<std::size_t>(block_size);
  for (const BlockArrays& part : block_arrays(A))
    for (PetscInt r = 0; r < part.rows; ++r) {
      const std::int64_t length = rows.start[static_cast<std::size_t>(r) + 1] - rows.start[static_cast<std::size_t>(r)];
      for (PetscInt k = part.start[r]; k < part.start[r + 1]; ++k)
        rule.write(rows.first + r, part.global(part.column[k]), length,
                   part.values + static_cast<std::size_t>(k) * words);
    }
  must(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)));
}

void preallocate(Mat A, const BlockRows& rows, int block_size, const Share& columns) {
  const RowLengths lengths = row_lengths(rows, columns.first, columns.first + columns.rows);
  // Each is for one of the two types and does nothing for the other.
  must(MatSeqBAIJSetPreallocation(A, block_size, 0, lengths.diagonal.data()));
  must(MatMPIBAIJSetPreallocation(A, block_size, 0, lengths.diagonal.data(), 0, lengths.off_diagonal.data()));
}

/// Row by row; without values the blocks become zero.
void insert(Mat A, const BlockRows& rows, int block_size) {
  const std::size_t words = static_cast<std::size_t>(block_size) * static_cast<std::size_t>(block_size);
  std::vector<PetscScalar> zeros;
  for (std::size_t r = 1; r < rows.start.size(); ++r) {
    const auto first = static_cast<std::size_t>(rows.start[r - 1]);
    const PetscInt count = rows.start[r] - rows.start[r - 1];
    if (rows.values.empty() && zeros.size() < static_cast<std::size_t>(count) * words)
      zeros.assign(static_cast<std::size_t>(count) * words, 0.0);
    const auto row = static_cast<PetscInt>(rows.first + static_cast<std::int64_t>(r) - 1);
    must(MatSetValuesBlocked(A, 1, &row, count, rows.column.data() + first,
                             rows.values.empty() ? zeros.data() : rows.values.data() + first * words, INSERT_VALUES));
  }
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

/// `sbaij` is made of no other matrices.
void mark_symmetric(Mat A) { must(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE)); }

}  // namespace

Matrix assemble(MPI_Comm comm, const BlockRows& rows, int block_size, const ValueRule* rule) {
  int size;
  MPI_Comm_size(comm, &size);
  const Share columns = share_of_rank(comm, rows.all_columns);
  Matrix A;
  must(MatCreate(comm, A.out()));
  must(MatSetSizes(A, static_cast<PetscInt>(rows.rows() * block_size), static_cast<PetscInt>(columns.rows * block_size),
                   static_cast<PetscInt>(rows.all_rows * block_size),
                   static_cast<PetscInt>(rows.all_columns * block_size)));
  must(MatSetType(A, size == 1 ? MATSEQBAIJ : MATMPIBAIJ));
  preallocate(A, rows, block_size, columns);
  must(MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE));  // blocks come column-major, and whole rows go in at once
  must(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  insert(A, rows, block_size);
  if (rule) write_values(A, rows, block_size, *rule);
  if (rule && rule->is_symmetric()) mark_symmetric(A);
  return A;
}

bool is_known_symmetric(Mat A) {
  PetscBool is_known, is_symmetric = PETSC_FALSE;
  must(MatIsSymmetricKnown(A, &is_known, &is_symmetric));
  return is_known && is_symmetric;
}

Matrix assemble_alone(const BlockRows& rows, int block_size, bool symmetric) {
  Matrix A = assemble(PETSC_COMM_SELF, rows, block_size, nullptr);
  if (symmetric) mark_symmetric(A);
  return A;
}

namespace {

enum class FileKind { petsc, matrix_market };

/// Big-endian, as PETSc writes them; 0 if the file is shorter.
std::int64_t integer_of(const std::string& head, std::size_t bytes, std::size_t which = 0) {
  if (head.size() < (which + 1) * bytes) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = which * bytes; i < (which + 1) * bytes; ++i)
    value = value << 8 | static_cast<unsigned char>(head[i]);
  return static_cast<std::int64_t>(value);
}

/// As many as there are.
std::string first_bytes(const std::string& file, std::size_t count) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw usage_error("-matrix: cannot open '" + file + "': " + std::strerror(errno));
  std::string head(count, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

FileKind kind_of(const std::string& file) {
  // Opening a pipe may wait for ever, and files are opened more than once.
  if (const std::string what = what_else_than_file(file); !what.empty())
    throw usage_error("-matrix: '" + file + "' is " + what + ", not a regular file; write the matrix to a file first");
  const std::string head = first_bytes(file, 14);
  std::string lower = head;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "%%matrixmarket") return FileKind::matrix_market;
  if (integer_of(head, sizeof(PetscInt)) == MAT_FILE_CLASSID) return FileKind::petsc;
  if (integer_of(head, 12 - sizeof(PetscInt)) == MAT_FILE_CLASSID)  // 4 or 8 bytes, whichever PetscInt is not
    throw usage_error("-matrix: '" + file + "' was written by a PETSc with " + (sizeof(PetscInt) == 8 ? "32" : "64") +
                      "-bit indices, this one has " + (sizeof(PetscInt) == 8 ? "64" : "32") +
                      "; use a program built for such a PETSc");
  if (head.size() >= 2 && head[0] == '\x1f' && head[1] == '\x8b')
    throw usage_error("-matrix: '" + file + "' is compressed; gunzip it first");
  throw usage_error("-matrix: '" + file +
                    "' is neither a PETSc binary matrix nor a Matrix Market file (first line %%MatrixMarket)");
}

std::string whole_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw usage_error("-matrix: cannot read '" + file + "'");
  return std::move(text).str();
}

/// Sizes in scalars, as a file's header has them. Of rows and columns the larger: there are vectors of both.
struct ScalarSize {
  double rows = 0, entries = 0;
};

ScalarSize size_of_petsc(const std::string& file) {
  const std::string head = first_bytes(file, 4 * sizeof(PetscInt));
  const auto number = [&](std::size_t which) {
    return static_cast<double>(static_cast<PetscInt>(integer_of(head, sizeof(PetscInt), which)));
  };
  const double rows = number(1), columns = number(2), entries = number(3);
  return {std::max(rows, columns), entries < 0 ? rows * columns : entries};  // negative: a dense matrix
}

ScalarSize size_of_matrix_market(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head, line;
  while (std::getline(in, line)) {
    head += line + "\n";
    if (!line.starts_with('%') && line.find_first_not_of(" \t\r\v\f") != std::string::npos) break;
  }
  const auto characters = static_cast<std::int64_t>(std::filesystem::file_size(file));
  const CoordinateSize s = matrix_market_size(head, characters, file);
  return {static_cast<double>(std::max(s.rows, s.columns)), static_cast<double>(s.entries)};
}

CaseSize in_blocks(const ScalarSize& s, int block_size) {
  const double side = std::max(block_size, 1);
  return {s.rows / side, s.entries / (side * side), {std::max(block_size, 1), std::max(block_size, 1)}};
}

Matrix load_matrix_market(MPI_Comm comm, const std::string& file, int block_size, bool complex_blocks) {
  BlockRows rows;
  // Every rank reads the whole file: simple, and the file system's cache serves all but the first.
  collectively(comm, [&] {
    CoordinateMatrix m = parse_matrix_market(whole_text(file), file);
    if (complex_blocks) m = real_blocks(m, file);
    const Share share = share_of_rank(comm, m.rows / block_size);
    rows = coordinate_rows(m, block_size, share.first, share.rows);
  });
  return assemble(comm, rows, block_size, nullptr);
}

/// Of the .info file, which opening has put among the options; 0 if it says nothing.
int block_size_of_info() {
  PetscInt block_size = 0;
  must(PetscOptionsGetInt(nullptr, nullptr, "-matload_block_size", &block_size, nullptr));
  return static_cast<int>(block_size);
}

Matrix load_petsc(MPI_Comm comm, const std::string& file, int block_size, const ScalarSize& size,
                  const std::function<void(const CaseSize&)>& check) {
  Viewer viewer;
  must(PetscViewerBinaryOpen(comm, file.c_str(), FILE_MODE_READ, viewer.out()));
  const int side = std::max(1, block_size > 0 ? block_size : block_size_of_info());
  check(in_blocks(size, side));
  Matrix A;
  must(MatCreate(comm, A.out()));
  must(MatSetType(A, MATBAIJCOMPOUND));  // checks the file: PETSc's types believe what it says
  must(MatSetBlockSize(A, side));
  must(MatLoad(A, viewer));
  must(MatConvert(A, MATBAIJ, MAT_INPLACE_MATRIX, A.in_place()));
  return A;
}

}  // namespace

BlockRows load_pattern(MPI_Comm comm, const std::string& file, BlockShape block,
                       const std::function<void(const CaseSize&)>& check) {
  ScalarSize size;
  collectively(comm, [&] {
    if (kind_of(file) != FileKind::matrix_market)
      throw usage_error("-pattern reads Matrix Market files; '" + file + "' is PETSc's binary: give it by -matrix");
    size = size_of_matrix_market(file);
  });
  check({size.rows, size.entries, block});
  BlockRows rows;
  collectively(comm, [&] {
    CoordinateMatrix m = parse_matrix_market(whole_text(file), file);
    m.complex = false;
    const Share share = share_of_rank(comm, m.rows);
    rows = coordinate_rows(m, 1, share.first, share.rows);
    rows.values = {};
  });
  return rows;
}

Matrix load(MPI_Comm comm, const std::string& file, int block_size, bool complex_blocks,
            const std::function<void(const CaseSize&)>& check) {
  FileKind kind = FileKind::petsc;
  ScalarSize size;
  collectively(comm, [&] {
    kind = kind_of(file);
    size = kind == FileKind::petsc ? size_of_petsc(file) : size_of_matrix_market(file);
    if (complex_blocks) size = {2 * size.rows, 4 * size.entries};
  });
  if (kind == FileKind::matrix_market) {
    if (block_size == 0) block_size = complex_blocks ? 2 : 1;
    check(in_blocks(size, block_size));
    return load_matrix_market(comm, file, block_size, complex_blocks);
  }
  if (complex_blocks)
    throw usage_error("-complex blocks reads Matrix Market files; '" + file + "' is PETSc's binary: convert it");
  try {
    return load_petsc(comm, file, block_size, size, check);
  } catch (const petsc_error& e) {
    throw petsc_error("-matrix: cannot load '" + file + "': " + e.what());
  }
}

BlockRows rows_of(const BlockArrays& a, BlockShape block) {
  BlockRows b;
  b.all_rows = a.rows;
  b.all_columns = a.columns;
  b.start.assign(a.start, a.start + a.rows + 1);
  b.column.assign(a.column, a.column + a.entries());
  b.values.assign(a.values, a.values + a.entries() * block.rows * block.cols);
  return b;
}

std::vector<PetscInt> ordering_of(const BlockRows& rows, const std::string& ordering, double& seconds) {
  if (rows.all_rows != rows.all_columns)
    throw usage_error("-renumber takes rows and columns in the same order: the matrix has " +
                      std::to_string(rows.all_rows) + " block rows and " + std::to_string(rows.all_columns) +
                      " block columns; leave it out");
  Matrix graph;
  std::vector<PetscScalar> ones(rows.column.size(), 1.0);
  const auto size = static_cast<PetscInt>(rows.all_rows);
  // PETSc takes pointers to what it will not change.
  must(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, size, size, const_cast<PetscInt*>(rows.start.data()),
                                 const_cast<PetscInt*>(rows.column.data()), ones.data(), graph.out()));
  Handle<IS, ISDestroy> row_order, column_order;
  const double begin = MPI_Wtime();
  must(MatGetOrdering(graph, ordering.c_str(), row_order.out(), column_order.out()));
  seconds = MPI_Wtime() - begin;
  const PetscInt* places;
  must(ISGetIndices(row_order, &places));
  std::vector<PetscInt> order(places, places + size);
  must(ISRestoreIndices(row_order, &places));
  return order;
}

Matrix renumbered(Matrix matrix, const std::string& ordering, int block_size, double& seconds) {
  const BlockShape block{block_size, block_size};
  BlockRows rows = rows_of(block_arrays(matrix).front(), block);
  const bool symmetric = is_known_symmetric(matrix);
  matrix.reset();
  rows = renumbered(rows, ordering_of(rows, ordering, seconds), block);
  return assemble_alone(rows, block_size, symmetric);
}

}  // namespace compound::bench
