// Candidates: the same matrix and product, each in a type, plan or program of its own.
#pragma once

#include <petscmat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cusparse_kinds.hpp"
#include "options.hpp"
#include "parent_matrix.hpp"
#include "plan/plan.hpp"
#include "record.hpp"

namespace compound::bench {

/// The matrix and the vectors of a case, shared by all candidates.
struct CaseMatrix {
  Matrix parent;  ///< none where blocks are not square: BAIJ has no such
  BlockRows own;  ///< the matrix then
  Vector x, y, z;
  Operation operation = Operation::mult;
  BlockShape block;
  std::int64_t block_rows = 0, block_columns = 0, entries = 0;  ///< of the whole matrix
  std::int64_t longest_row = 0;                                 ///< blocks
  double norm = 0, x_norm = 0;                                  ///< |op(A)| and |x|, largest sums and components
  double ordering_s = 0;                                        ///< to find the order of its rows
  std::int64_t read_bytes = 0;                                  ///< of this rank's arrays: values, columns, row starts

  std::int64_t area() const { return std::int64_t{block.rows} * block.cols; }
  /// This rank's blocks; the pointers live as long as the case.
  std::vector<BlockArrays> arrays() const;
};

/// Collective. Takes an assembled BAIJ.
CaseMatrix make_case(Matrix parent, Operation operation, std::uint64_t seed);
/// One rank alone: blocks of any shape.
CaseMatrix make_case(BlockRows blocks, BlockShape shape, Operation operation, std::uint64_t seed);

/// op(A) x [+ z] in PETSc's order by the definition, one scalar after the other; one rank alone.
std::vector<PetscScalar> plain_product(const CaseMatrix& matrix);

/// Of the rows of a matrix in one or two parts on each rank, "row_lengths" in blocks, and "row_bandwidths": largest
/// less smallest block column, 0 for rows of one block or none (MSF 2020, eq. 3). Of both the least and the most, and
/// the least values that at least a quarter, a half, three quarters of the rows of all ranks do not exceed. Collective.
Record row_quartiles(MPI_Comm comm, const std::vector<BlockArrays>& parts);
Record quartiles(MPI_Comm comm, std::vector<std::int64_t> numbers);

struct Bytes {
  double parent = 0, packed = 0;  ///< on all ranks
};

/// One way to multiply. All functions are collective.
class Candidate {
 public:
  explicit Candidate(std::string name) : name_(std::move(name)) {}
  virtual ~Candidate() = default;
  const std::string& name() const { return name_; }
  virtual std::string kind() const = 0;  ///< "type", "plan", "core", "hamilton", "layout", "cusparse"
  /// The plan in use as a line; empty if there is none. After the first product.
  virtual std::string plan() const = 0;
  virtual void multiply() = 0;
  /// Seconds to make the first product possible that the first product does not contain.
  virtual double preparation_s() const { return 0; }
  /// Makes the candidate believe that the matrix has new values, and takes them; seconds. `steady_s`: of a product.
  virtual double new_values_s(double steady_s) = 0;
  /// The same from full blocks that lie on the device already; negative: there are none.
  virtual double new_values_there_s() { return -1; }
  /// Packs pattern and values anew, as for the first product; seconds. Negative: this candidate cannot.
  virtual double pack_again_s(double) { return -1; }
  virtual Bytes bytes() const = 0;  ///< vectors left out
  /// This rank's part of the last product.
  virtual std::vector<PetscScalar> result() = 0;
  /// Whether products are queued on the device, on vectors there.
  virtual bool on_device() const { return false; }
  /// Queues further products in this queue (cudaStream_t), null for the default one. False: that cannot be chosen.
  virtual bool use_queue(void*) { return false; }
  /// Words stored for each block where no plan line says it; 0: the block's own scalars.
  virtual int words() const { return 0; }
  /// Slots of a packed copy, padding among them; 0 where there are none.
  virtual double slots() const { return 0; }
  /// Whether the vectors are of single precision too.
  virtual bool float_vectors() const { return false; }

 private:
  std::string name_;
};

/// What the compulsory bytes and the allowed error depend on.
struct Storage {
  double block_bytes = 0;   ///< stored words of one block
  double vector_bytes = 8;  ///< one scalar of x or y
  bool single = false;      ///< words or vectors of single precision
};
Storage storage_of(const Candidate& candidate, const CaseMatrix& matrix);

/// Bytes that one product must move at least: words, columns, row starts, x, y (and z) once.
double compulsory_bytes(const CaseMatrix& matrix, const Storage& storage);

/// Vectors are the host's, but on a run's device (used_device()) those of compound types and plans lie there.
std::unique_ptr<Candidate> make_type_candidate(const CaseMatrix& matrix, const std::string& type);
std::unique_ptr<Candidate> make_plan_candidate(const CaseMatrix& matrix, const std::string& plan);

/// What core candidates share: the pattern and, in single precision or in the order of rows, the values. Products run
/// on the run's device, else on the host.
class CoreSource;
std::shared_ptr<CoreSource> make_core_source(const CaseMatrix& matrix, bool single,
                                             ValueOrder order = ValueOrder::blocks);
std::unique_ptr<Candidate> make_core_candidate(const CaseMatrix& matrix, std::shared_ptr<CoreSource> source,
                                               const std::string& plan);

/// A layout as users name it, in the plan that suits it for the cheapest kind of entry. Throws left_out with the reason
/// where there is no such plan, where it pads to more than 4 slots an entry and by more than 64 MB, or beyond
/// `most_bytes`; counted before anything is allocated.
std::unique_ptr<Candidate> make_layout_candidate(const CaseMatrix& matrix, std::shared_ptr<CoreSource> source,
                                                 const std::string& layout, double most_bytes);
/// Four real matrices of the words of quaternions. Throws left_out where the blocks are no quaternions.
std::unique_ptr<Candidate> make_hamilton_candidate(const CaseMatrix& matrix, std::shared_ptr<CoreSource> source,
                                                   const std::string& plan);

/// What cuSPARSE's candidates share: the matrix in its forms on the device.
class CusparseSource;
/// Throws left_out where the blocks are not such scalars.
std::shared_ptr<CusparseSource> make_cusparse_source(const CaseMatrix& matrix, bool single, CusparseScalars scalars);
/// Throws left_out with cuSPARSE's own reason.
std::unique_ptr<Candidate> make_cusparse_candidate(const std::shared_ptr<CusparseSource>& source,
                                                   const CusparseKind& kind);

/// Finding the cheapest kind of entry of all blocks, which lie where core products run: "entry" and the samples.
Record time_entry_check(const CaseMatrix& matrix);

/// Seconds on the slowest rank, all starting together and waiting for what they queued on the device.
double timed(MPI_Comm comm, const std::function<void()>& body);

}  // namespace compound::bench
