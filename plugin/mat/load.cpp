#include "mat/load.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
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

/// A part of a regular file, which is read without moving the place where others read it.
class FilePart {
 public:
  FilePart(int descriptor, off_t at, off_t end) : descriptor_(descriptor), at_(at), end_(end) {}
  PetscInt64 at() const { return static_cast<PetscInt64>(at_); }
  PetscInt64 left() const { return static_cast<PetscInt64>(end_ - at_); }

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
  off_t at_, end_;
};

/// Integers of a file one after the other, as they lie there, read in pieces.
class IntegerStream {
 public:
  IntegerStream(FilePart& file, PetscInt64 count) : file_(file), left_(count) {}
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

  FilePart& file_;
  PetscInt64 left_;
  std::vector<PetscInt> buffer_;  ///< those of [used_, end_) were read and not given yet
  std::size_t used_ = 0, end_ = 0;
};

struct Header {
  PetscInt rows = 0, columns = 0;
  PetscInt64 entries = 0;
};

std::string text(PetscInt64 n) { return std::to_string(n); }

/// What is wrong with the lengths of rows, which are kept in `lengths`.
std::string mistake_in_lengths(FilePart& file, const Header& h, std::vector<PetscInt>* lengths) {
  const PetscInt64 begin = file.at();
  PetscInt64 sum = 0;
  lengths->resize(static_cast<std::size_t>(h.rows));
  if (!file.read(*lengths)) return "the lengths of rows, which begin at byte " + text(begin) + ", cannot be read";
  for (PetscInt& length : *lengths) length = swapped(length);
  for (std::size_t row = 0; row < lengths->size(); ++row) {
    const PetscInt length = (*lengths)[row];
    if (length < 0 || length > h.columns)
      return "row " + text(static_cast<PetscInt64>(row)) + " has " + text(length) + " entries (byte " +
             text(begin + static_cast<PetscInt64>(row * sizeof(PetscInt))) + "); a row has 0 to " + text(h.columns);
    sum += length;
  }
  if (sum != h.entries) return "its rows have " + text(sum) + " entries in all, its header says " + text(h.entries);
  return "";
}

/// Columns in range that ascend. Nearly all rows are right: one look at signs for all entries, without branches.
bool is_right(std::span<const PetscInt> columns, const Header& h) {
  using Bits = std::make_unsigned_t<PetscInt>;  // which may wrap around
  const Bits last = static_cast<Bits>(h.columns) - 1;
  Bits signs = 0, before = static_cast<Bits>(-1);
  for (const PetscInt column : columns) {
    const auto c = static_cast<Bits>(swapped(column));
    signs |= c | (last - c) | (c - before - 1);
    before = c;
  }
  return static_cast<PetscInt>(signs) >= 0;
}

std::string mistake_in_row(std::span<const PetscInt> columns, const Header& h) {
  if (is_right(columns, h)) return "";
  std::vector<PetscInt> sorted;
  for (const PetscInt column : columns) sorted.push_back(swapped(column));
  for (const PetscInt column : sorted)
    if (column < 0 || column >= h.columns)
      return "has an entry in column " + text(column) + "; columns are 0 to " + text(h.columns - 1);
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? "" : "has column " + text(*twice) + " twice; a row has each column once";
}

std::string mistake_in_columns(FilePart& file, const Header& h, const std::vector<PetscInt>& lengths) {
  IntegerStream stream(file, h.entries);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const auto length = static_cast<std::size_t>(lengths[row]);
    const std::span<const PetscInt> columns = stream.next(length);
    const std::string mistake = columns.size() < length ? "cannot be read" : mistake_in_row(columns, h);
    if (!mistake.empty()) return "row " + text(static_cast<PetscInt64>(row)) + " " + mistake;
  }
  return "";
}

/// What is wrong with the matrix that begins here; empty if nothing is, or if the base type says it.
std::string mistake_in(FilePart file) {
  PetscInt header[4];
  if (!file.read(header)) return "";
  for (PetscInt& v : header) v = swapped(v);
  const Header h = {header[1], header[2], header[3]};
  if (header[0] != MAT_FILE_CLASSID || h.rows < 0 || h.columns < 0 || h.entries < 0) return "";
  const double needed = static_cast<double>(h.rows) * sizeof(PetscInt) +
                        static_cast<double>(h.entries) * (sizeof(PetscInt) + sizeof(PetscScalar));
  const PetscInt64 left = file.left();
  if (needed > static_cast<double>(left))
    return "it has " + text(h.rows) + " rows and " + text(h.entries) + " entries, which take " +
           text(static_cast<PetscInt64>(needed)) + " bytes; " + text(left) + " follow its header";
  std::vector<PetscInt> lengths;
  const std::string mistake = mistake_in_lengths(file, h, &lengths);
  return mistake.empty() ? mistake_in_columns(file, h, lengths) : mistake;
}

/// A descriptor of the viewer's file on the process that reads it, and where it reads next; -1 elsewhere, and where the
/// file cannot be read twice. `opened`: it is to be closed.
struct Place {
  int descriptor = -1;
  off_t at = 0, end = 0;
  bool opened = false;
};

PetscErrorCode find_place(PetscViewer viewer, Place* p) {
  PetscFunctionBegin;
  PetscMPIInt rank;
  PetscBool by_mpi;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(viewer)), &rank));
  PetscCall(PetscViewerBinaryGetUseMPIIO(viewer, &by_mpi));
  if (rank != 0) PetscFunctionReturn(PETSC_SUCCESS);
  int descriptor = -1;
  off_t at = -1;
  if (by_mpi) {
#if PetscDefined(HAVE_MPIIO)
    const char* name;
    MPI_Offset offset;
    PetscCall(PetscViewerFileGetName(viewer, &name));
    PetscCall(PetscViewerBinaryGetMPIIOOffset(viewer, &offset));
    descriptor = open(name, O_RDONLY | O_CLOEXEC);
    p->opened = descriptor >= 0;
    at = static_cast<off_t>(offset);
#endif
  } else {
    PetscCall(PetscViewerBinaryGetDescriptor(viewer, &descriptor));
    at = descriptor < 0 ? -1 : lseek(descriptor, 0, SEEK_CUR);
  }
  struct stat file;
  if (descriptor < 0 || at < 0 || fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode))
    PetscFunctionReturn(PETSC_SUCCESS);
  p->descriptor = descriptor;
  p->at = at;
  p->end = std::max(at, file.st_size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Collective.
PetscErrorCode check_file(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  Place place;
  const char* name;
  std::string mistake;
  PetscCall(PetscViewerSetUp(viewer));
  PetscCall(PetscViewerFileGetName(viewer, &name));
  PetscCall(find_place(viewer, &place));
  const PetscErrorCode code = guarded(comm_of(A), [&] {
    if (place.descriptor < 0) return;
    mistake = mistake_in({place.descriptor, place.at, place.end});
    if (!mistake.empty())
      mistake = "MatLoad(): '" + std::string(name ? name : "") + "', the matrix at byte " + text(place.at) + ": " +
                mistake + "; the file is damaged, or was written by other means: write it once more";
  });
  if (place.opened) (void)close(place.descriptor);
  PetscCall(code);
  PetscCall(agree_on(A, PETSC_ERR_FILE_UNEXPECTED, mistake));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode any_load(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscBool is_binary;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERBINARY, &is_binary));
  if (is_binary) PetscCall(check_file(A, viewer));
  PetscCall(base_ops(A, &base));
  PetscCall(base->load(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
