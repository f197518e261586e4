#include "memory.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <set>
#include <string>

#include "cusparse_kinds.hpp"
#include "failure.hpp"
#include "plan/plan.hpp"

namespace compound::bench {

namespace {

/// Small numbers with their digits.
std::string megabytes(double bytes) {
  char text[40];
  std::snprintf(text, sizeof(text), bytes < 1e9 ? "%.4g MB" : "%.0f MB", bytes / 1e6);
  return text;
}

/// Whether a plan line stands for words on the base type's own arrays.
bool lies_on_parent(const std::string& line, Precision precision) {
  Plan base;
  base.values = precision;
  try {
    const Plan p = line == "auto" ? base : parse_plan(split_off_diagonal(line).diagonal, base);
    return words_are_blocks(p, {{}, {Field::real, precision}});
  } catch (const std::exception&) {
    return false;  // the candidate itself will say what is wrong with it
  }
}

/// Values, columns and row starts of the matrix in blocks and in scalars.
struct Sizes {
  explicit Sizes(const CaseSize& s) {
    const double area = static_cast<double>(s.block.rows) * s.block.cols;
    values = s.entries * area * sizeof(PetscScalar);
    blocks = values + (s.entries + s.block_rows) * sizeof(PetscInt);
    scalar_columns = s.entries * area * sizeof(PetscInt);
    scalar_rows = values + (s.entries * area + s.block_rows * s.block.rows) * sizeof(PetscInt);
    vector = s.block_rows * std::max(s.block.rows, s.block.cols) * sizeof(PetscScalar);
  }
  double values, blocks, scalar_columns, scalar_rows, vector;
};

double bytes_of_cusparse(const Sizes& s, const Options& o) {
  std::set<CusparseForm> forms;  // products of one form share it
  for (const std::string& name : o.cusparse) forms.insert(find_cusparse(name)->form);
  double all = 4 * s.vector * static_cast<double>(o.cusparse.size());
  for (const CusparseForm form : forms)
    all += form == CusparseForm::rows || form == CusparseForm::slices ? 1.2 * s.scalar_rows
           : form == CusparseForm::coordinates                        ? s.scalar_rows + s.scalar_columns
                                                                      : s.blocks;
  return o.core_float ? all / 2 + (s.scalar_rows - s.values) : all;
}

/// Block rows, and one matrix at a time with what it packs; or coordinates, and all matrices with their lists, of ours
/// one for scalars and one for blocks.
double bytes_of_assembly(const Sizes& s, const Options& o) {
  double units = o.inserted.empty() ? 0 : 3;
  if (!o.assembled.empty()) units += 3;
  for (const std::string& type : o.assembled) units += is_ours(type) ? 4 : 2;
  return units * s.scalar_rows;
}

/// Matrices and vectors of the methods, and a copy of the parent with a diagonal.
double bytes_of_ksp(const Sizes& s, const Options& o) {
  constexpr double vectors_of_method = 12;
  if (o.solvers.empty() && o.of_columns.empty()) return 0;
  const double columns = 1.0 + std::accumulate(o.columns.begin(), o.columns.end(), 0);
  return s.blocks + (s.scalar_rows + vectors_of_method * s.vector) * static_cast<double>(o.solvers.size()) +
         (s.scalar_rows + vectors_of_method * columns * s.vector) * static_cast<double>(o.of_columns.size());
}

/// A matrix of each type, and for each number of columns two dense ones.
double bytes_of_dense(const Sizes& s, const Options& o) {
  const double columns = std::accumulate(o.columns.begin(), o.columns.end(), 0.0);
  return (s.scalar_rows + 2 * (1 + columns) * s.vector) * static_cast<double>(o.of_dense.size());
}

}  // namespace

double estimated_device_bytes(const CaseSize& size, const Options& o, int ranks) {
  constexpr double yardsticks = 2.2e9, staging = 0.6e9;
  const Sizes s(size);
  double all = bytes_of_cusparse(s, o);
  for (const std::string& type : o.types) {
    if (type.find("cusparse") != std::string::npos) all += s.scalar_rows + 4 * s.vector;
    if (is_ours(type)) all += s.blocks + 4 * s.vector;
  }
  const double copies = o.operation == Operation::transpose ? 2 : 1;
  all += static_cast<double>(o.plans.size()) * (copies * s.blocks + 4 * s.vector);
  all += static_cast<double>(o.core_plans.size()) * (o.core_float ? 0.5 : 1) * (copies * s.blocks + 4 * s.vector);
  all += bytes_of_assembly(s, o);
  all += bytes_of_dense(s, o);
  all += bytes_of_ksp(s, o);
  if (ranks == 1) all += s.values;  // while the kind of entry is found
  return all / ranks + yardsticks + staging;
}

void check_device_memory(const CaseSize& size, const Options& o, int ranks, double free_bytes) {
  const double needed = estimated_device_bytes(size, o, ranks), limit = 0.95 * free_bytes;
  if (needed <= limit) return;
  throw usage_error("the case needs about " + megabytes(needed) +
                    " of device memory with all its candidates, more than " + megabytes(limit) +
                    " (95 % of what is free there); choose a smaller case or fewer types, plans and products");
}

double estimated_bytes(const CaseSize& s, const Options& o, int ranks) {
  const Sizes sizes(s);
  const double values = sizes.values, parent = sizes.blocks, scalar_rows = sizes.scalar_rows;
  const double assembly = s.entries * sizeof(PetscInt) + 2 * (o.shuffle_window > 1 ? 4.0 * ranks * s.block_rows : 0);
  const double vectors = 4 * sizes.vector;
  double all = parent + assembly + vectors;
  if (o.renumber.size() > 1 || o.renumber.front() != "natural")
    all += parent + s.entries * (sizeof(PetscScalar) + 2 * sizeof(PetscInt));
  for (const std::string& type : o.types) {
    const bool pinned_csr = type.ends_with("baijcompoundcsr");
    if (type == "baij") continue;
    all += type.find("baij") != std::string::npos ? parent : scalar_rows;
    if (is_ours(type) && !pinned_csr) all += parent;
  }
  for (const std::string& plan : o.plans) all += parent * (lies_on_parent(plan, Precision::double_) ? 1 : 2);
  const Precision core = o.core_float ? Precision::single : Precision::double_;
  const double core_share = o.core_float ? 0.5 : 1;
  if ((o.wants_core() || !o.cusparse.empty()) && o.core_float) all += values / 2;
  all += static_cast<double>(o.hamilton.size()) * core_share * (2.5 * vectors + values / 2 + 8 * s.entries);
  if (!o.cusparse.empty()) all += 2.2 * scalar_rows;  // while they are made
  all += bytes_of_assembly(sizes, o);
  all += bytes_of_dense(sizes, o);
  all += bytes_of_ksp(sizes, o);
  for (const std::string& plan : o.core_plans)
    all += core_share * (vectors + (lies_on_parent(plan, core) ? 0 : parent));
  return all;
}

namespace {

double number_in(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    if (!key.empty() && word != key) continue;
    if (key.empty()) return word.find_first_not_of("0123456789") == std::string::npos ? std::stod(word) : 0;
    double value = 0;
    return in >> value ? value : 0;
  }
  return 0;
}

double available_here() {
  const double system = 1024 * number_in("/proc/meminfo", "MemAvailable:");
  const double group = number_in("/sys/fs/cgroup/memory.max", "");
  if (group == 0) return system;
  const double left = std::max(1.0, group - number_in("/sys/fs/cgroup/memory.current", ""));
  return system == 0 ? left : std::min(system, left);
}

}  // namespace

double available_bytes(MPI_Comm comm) {
  MPI_Comm machine;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  double bytes = rank_of(machine) == 0 ? available_here() : 0;
  MPI_Comm_free(&machine);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  return bytes;
}

void check_memory(MPI_Comm comm, const CaseSize& size, const Options& o) {
  const double needed = estimated_bytes(size, o, ranks_of(comm)), available = available_bytes(comm);
  const double limit = o.memory_limit_bytes > 0 ? o.memory_limit_bytes : 0.7 * available;
  if (limit == 0 || needed <= limit) return;
  throw usage_error("the case needs about " + megabytes(needed) + " with all its candidates, more than " +
                    megabytes(limit) + " (" +
                    (o.memory_limit_bytes > 0 ? "-memory_limit" : "70 % of what is available") +
                    "); choose a smaller case or fewer types and plans, as each keeps a matrix of its own, or raise "
                    "-memory_limit");
}

}  // namespace compound::bench
