#include "yardsticks.hpp"

#include "device.hpp"
#include "read_bandwidth.hpp"

namespace compound::bench {

namespace {

double sum_over_ranks(MPI_Comm comm, double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, comm);
  return mine;
}

/// The host's plain read of the matrix' own arrays.
void take_read(MPI_Comm comm, const CaseMatrix& c, std::vector<Runner>& runners, Yardstick& read) {
  runners.push_back({"plain read", [parts = c.arrays(), area = std::size_t(c.area())] {
                       // Without a use of the sums the compiler might leave them out.
                       [[maybe_unused]] static volatile std::uint64_t sink;
                       for (const BlockArrays& p : parts) {
                         const auto entries = static_cast<std::size_t>(p.entries());
                         sink = streaming_sum(p.values, entries * area * sizeof(PetscScalar)) +
                                streaming_sum(p.column, entries * sizeof(PetscInt));
                       }
                     }});
  read = {{}, sum_over_ranks(comm, static_cast<double>(c.read_bytes)), streaming_sum_name()};
}

}  // namespace

void add_yardsticks(MPI_Comm comm, const CaseMatrix& c, std::vector<Runner>& runners, Yardstick& read,
                    std::optional<Yardstick>& copy) {
  if (!used_device()) return take_read(comm, c, runners, read);
  const MemoryPass copying = used_device()->copy(), reading = used_device()->read();
  runners.push_back({"device copy", copying.run});
  runners.push_back({"device read", reading.run});
  copy = Yardstick{{}, sum_over_ranks(comm, copying.bytes), "device"};
  read = {{}, sum_over_ranks(comm, reading.bytes), "device"};
}

}  // namespace compound::bench
