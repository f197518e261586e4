#include "mat/load.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <petscviewer.h>

#include "petsc/agree.hpp"
#include "petsc/base_types.hpp"

namespace compound::plugin {

namespace {

/// PETSc writes the most significant byte first.
PetscInt swapped(PetscInt v) {
  if constexpr (std::endian::native == std::endian::big) return v;
  if constexpr (sizeof(PetscInt) == 8)
    return static_cast<PetscInt>(__builtin_bswap64(static_cast<std::uint64_t>(v)));
  else
    return static_cast<PetscInt>(__builtin_bswap32(static_cast<std::uint32_t>(v)));
}

/// Integers of a regular file, which are read without moving the place where others read it.
class FilePart {
 public:
  FilePart(int descriptor, off_t at) : descriptor_(descriptor), at_(at) {}

  /// As they lie in the file. False where it ends before, or cannot be read.
  bool read(std::span<PetscInt> to) {
    char* into = reinterpret_cast<char*>(to.data());
    for (std::size_t missing = to.size_bytes(); missing > 0;) {
      const ssize_t got = pread(descriptor_, into, missing, at_);
      if (got <= 0) return false;
      into += got;
      at_ += got;
      missing -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int descriptor_;
  off_t at_;
};

/// Integers of a file one after the other, as they lie there, read in pieces.
class IntegerStream {
 public:
  IntegerStream(FilePart file, PetscInt64 count) : file_(file), left_(count) {}
  /// The next `count` integers, which stay until the next call; empty where the file ends before.
  std::span<const PetscInt> next(std::size_t count) {
    if (used_ + count > end_ && !refill(count)) return {};
    used_ += count;
    return {buffer_.data() + used_ - count, count};
  }

 private:
  bool refill(std::size_t count) {
    constexpr std::size_t piece = 1 << 15;  // stays in the cache
    const std::size_t rest = end_ - used_;
    const auto more =
        static_cast<std::size_t>(std::min<PetscInt64>(left_, static_cast<PetscInt64>(std::max(piece, count - rest))));
    if (rest + more < count) return false;
    if (buffer_.size() < rest + more) buffer_.resize(rest + more);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(used_), rest, buffer_.begin());
    used_ = 0;
    end_ = rest + more;
    left_ -= static_cast<PetscInt64>(more);
    return file_.read(std::span(buffer_).subspan(rest, more));
  }

  FilePart file_;
  PetscInt64 left_;
  std::vector<PetscInt> buffer_;  ///< those of [used_, end_) were read and not given yet
  std::size_t used_ = 0, end_ = 0;
};

std::string text(PetscInt64 n) { return std::to_string(n); }

/// A matrix in a file: four integers, the length of each row, all columns, all values. A process checks the rows
/// [first, end), if it has the file.
struct FileOfMatrix {
  int descriptor = -1;  ///< -1: another process reads it, or it cannot be read twice
  bool opened = false;  ///< the descriptor is to be closed
  off_t at = 0, size = 0;
  PetscInt rows = 0, columns = 0, entries = 0;
  bool has_more = false;  ///< entries than PetscInt can count: the lengths of its rows tell how many
  std::size_t first = 0, end = 0;

  FilePart integers_from(PetscInt64 number) const {
    return {descriptor, static_cast<off_t>(at + (4 + number) * static_cast<PetscInt64>(sizeof(PetscInt)))};
  }
};

/// Empty if the file can be as long as its header says.
std::string mistake_in_size(const FileOfMatrix& f) {
  const double needed = static_cast<double>(f.rows) * sizeof(PetscInt) +
                        static_cast<double>(f.has_more ? 0 : f.entries) * (sizeof(PetscInt) + sizeof(PetscScalar));
  const PetscInt64 left = f.size - f.at - static_cast<PetscInt64>(4 * sizeof(PetscInt));
  if (needed <= static_cast<double>(left)) return "";
  return "it has " + text(f.rows) + " rows and " + text(f.entries) + " entries, which take " +
         text(static_cast<PetscInt64>(needed)) + " bytes; " + text(left) + " follow its header";
}

std::string mistake_in_lengths(const FileOfMatrix& f, std::vector<PetscInt>* lengths) {
  lengths->resize(f.end - f.first);
  if (!f.integers_from(static_cast<PetscInt64>(f.first)).read(*lengths)) return "the lengths of rows cannot be read";
  for (PetscInt& length : *lengths) length = swapped(length);
  for (std::size_t k = 0; k < lengths->size(); ++k) {
    const PetscInt length = (*lengths)[k];
    const auto row = static_cast<PetscInt64>(f.first + k);
    if (length < 0 || length > f.columns)
      return "row " + text(row) + " has " + text(length) + " entries (byte " +
             text(f.at + (4 + row) * static_cast<PetscInt64>(sizeof(PetscInt))) + "); a row has 0 to " +
             text(f.columns);
  }
  return "";
}

/// Columns in range that ascend. Nearly all rows are right: one look at signs for all entries, without branches.
bool is_right(std::span<const PetscInt> columns, PetscInt end) {
  using Bits = std::make_unsigned_t<PetscInt>;  // which may wrap around
  const Bits last = static_cast<Bits>(end) - 1;
  Bits signs = 0, before = static_cast<Bits>(-1);
  for (const PetscInt column : columns) {
    const auto c = static_cast<Bits>(swapped(column));
    signs |= c | (last - c) | (c - before - 1);
    before = c;
  }
  return static_cast<PetscInt>(signs) >= 0;
}

std::string mistake_in_row(std::span<const PetscInt> columns, PetscInt end) {
  if (is_right(columns, end)) return "";
  std::vector<PetscInt> sorted;
  for (const PetscInt column : columns) sorted.push_back(swapped(column));
  for (const PetscInt column : sorted)
    if (column < 0 || column >= end)
      return "has an entry in column " + text(column) + "; columns are 0 to " + text(end - 1);
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? "" : "has column " + text(*twice) + " twice; a row has each column once";
}

/// `before`: entries of the rows before these.
std::string mistake_in_columns(const FileOfMatrix& f, const std::vector<PetscInt>& lengths, PetscInt64 before,
                               PetscInt64 entries) {
  IntegerStream stream(f.integers_from(f.rows + before), entries);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const auto length = static_cast<std::size_t>(lengths[k]);
    const std::span<const PetscInt> columns = stream.next(length);
    const std::string mistake = columns.size() < length ? "cannot be read" : mistake_in_row(columns, f.columns);
    if (!mistake.empty()) return "row " + text(static_cast<PetscInt64>(f.first + k)) + " " + mistake;
  }
  return "";
}

/// On the processes that read it: the first one, or all by MPI-IO.
PetscErrorCode find_file(PetscViewer viewer, FileOfMatrix* f) {
  PetscFunctionBegin;
  PetscMPIInt rank = -1;
  PetscBool by_mpi;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(viewer)), &rank));
  PetscCall(PetscViewerBinaryGetUseMPIIO(viewer, &by_mpi));
  int descriptor = -1;
  off_t at = -1;
  if (by_mpi) {
#if PetscDefined(HAVE_MPIIO)
    const char* name;
    MPI_Offset offset;
    PetscCall(PetscViewerFileGetName(viewer, &name));
    PetscCall(PetscViewerBinaryGetMPIIOOffset(viewer, &offset));
    descriptor = open(name, O_RDONLY | O_CLOEXEC);
    f->opened = descriptor >= 0;
    at = static_cast<off_t>(offset);
#endif
  } else if (rank == 0) {
    PetscCall(PetscViewerBinaryGetDescriptor(viewer, &descriptor));
    at = descriptor < 0 ? -1 : lseek(descriptor, 0, SEEK_CUR);
  }
  struct stat file;
  if (descriptor < 0 || at < 0 || fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode))
    PetscFunctionReturn(PETSC_SUCCESS);
  f->descriptor = descriptor;
  f->at = at;
  f->size = std::max(at, file.st_size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `check` gives what is wrong on this process; that is an error on all. Collective.
template <class Check>
PetscErrorCode check_on_all(Mat A, PetscViewer viewer, const FileOfMatrix& f, const Check& check) {
  PetscFunctionBegin;
  const char* name;
  std::string mistake;
  PetscCall(PetscViewerFileGetName(viewer, &name));
  const PetscErrorCode code = guarded(comm_of(A), [&] {
    if (f.descriptor >= 0) mistake = check();
    if (!mistake.empty())
      mistake = "MatLoad(): '" + std::string(name ? name : "") + "', the matrix at byte " + text(f.at) + ": " +
                mistake + "; the file is damaged, or was written by other means: write it once more";
  });
  PetscCall(agree_on(A, PETSC_ERR_MEM, code ? "MatLoad(): the file cannot be checked: no memory is left" : ""));
  PetscCall(agree_on(A, PETSC_ERR_FILE_UNEXPECTED, mistake));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The header, on all processes, and which rows each of them checks. Not `is_matrix`: the base type says what is wrong.
/// By MPI-IO the base type takes a header that ends too soon for what lies in memory, which differs between processes.
/// Collective.
PetscErrorCode read_header(Mat A, PetscViewer viewer, FileOfMatrix* f, bool* is_matrix) {
  PetscFunctionBegin;
  PetscInt header[4] = {0, 0, 0, 0};
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(comm_of(A), &rank));
  PetscCall(check_on_all(A, viewer, *f, [&]() -> std::string {
    if (FilePart(f->descriptor, f->at).read(header)) return "";
    return "its header takes " + text(sizeof(header)) + " bytes; " + text(f->size - f->at) + " are left in the file";
  }));
  for (PetscInt& v : header) v = swapped(v);
  PetscCallMPI(MPI_Bcast(header, 4, MPIU_INT, 0, comm_of(A)));
  *is_matrix = header[0] == MAT_FILE_CLASSID && header[1] >= 0 && header[2] >= 0 && header[3] >= 0;
  f->rows = header[1];
  f->columns = header[2];
  f->entries = header[3];
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  // PETSc 3.26 writes and reads AIJ on several processes so; 3.18 does not.
  f->has_more = f->entries == std::numeric_limits<PetscInt>::max() && size > 1 && type_of_matrix(A).base_type == &aij;
  PetscMPIInt reads = f->descriptor >= 0, readers, before = 0;
  PetscCallMPI(MPI_Allreduce(&reads, &readers, 1, MPI_INT, MPI_SUM, comm_of(A)));
  PetscCallMPI(MPI_Exscan(&reads, &before, 1, MPI_INT, MPI_SUM, comm_of(A)));
  if (rank == 0) before = 0;  // MPI leaves it undefined
  if (!reads) PetscFunctionReturn(PETSC_SUCCESS);
  f->first = static_cast<std::size_t>(PetscInt64{f->rows} * before / readers);
  f->end = static_cast<std::size_t>(PetscInt64{f->rows} * (before + 1) / readers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_file(Mat A, PetscViewer viewer, FileOfMatrix* f) {
  PetscFunctionBegin;
  bool is_matrix = false;
  std::vector<PetscInt> lengths;
  PetscCall(find_file(viewer, f));
  PetscCall(read_header(A, viewer, f, &is_matrix));
  if (!is_matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_on_all(A, viewer, *f, [&] { return mistake_in_size(*f); }));
  PetscCall(check_on_all(A, viewer, *f, [&] { return mistake_in_lengths(*f, &lengths); }));
  PetscInt64 own = 0, sum, before = 0;
  for (const PetscInt length : lengths) own += length;
  PetscCallMPI(MPI_Allreduce(&own, &sum, 1, MPIU_INT64, MPI_SUM, comm_of(A)));
  PetscCallMPI(MPI_Exscan(&own, &before, 1, MPIU_INT64, MPI_SUM, comm_of(A)));
  if (f->first == 0) before = 0;  // MPI leaves it undefined on the first process
  PetscCall(check_on_all(A, viewer, *f, [&] {
    return sum == f->entries || f->has_more
               ? mistake_in_columns(*f, lengths, before, own)
               : "its rows have " + text(sum) + " entries in all, its header says " + text(f->entries);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode any_load(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscBool is_binary;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERBINARY, &is_binary));
  if (is_binary) {
    FileOfMatrix file;
    PetscCall(PetscViewerSetUp(viewer));
    const PetscErrorCode code = check_file(A, viewer, &file);
    if (file.opened) (void)close(file.descriptor);
    PetscCall(code);
  }
  PetscCall(base_ops(A, &base));
  // SBAIJ counts its triangle alone under its exact name.
  PetscCall(under_upper_name(A, [&] { return base->load(A, viewer); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
