#include "candidate_times.hpp"

#include <algorithm>

#include "statistics.hpp"

namespace compound::bench {

void first_product(MPI_Comm comm, Candidate& candidate, CandidateResult& result) {
  result.name = candidate.name();
  result.kind = candidate.kind();
  result.first_pack_s = timed(comm, [&] { candidate.multiply(); });
  result.plan = candidate.plan();
}

void packing_times(Candidate& candidate, CandidateResult& result) {
  const double steady_s = statistics_of(result.samples.seconds).median;
  std::vector<double> first = {std::max(0.0, result.first_pack_s - steady_s) + candidate.preparation_s()}, values;
  // One short sample alone would be at the mercy of the machine's other work.
  constexpr double long_enough_s = 0.5;
  do values.push_back(candidate.new_values_s(steady_s));
  while (values.size() < 3 && values.front() < long_enough_s);
  result.new_values_there_s = candidate.new_values_there_s();
  for (int i = 0; i < 2 && first.front() < long_enough_s; ++i)
    if (const double again_s = candidate.pack_again_s(steady_s); again_s >= 0) first.push_back(again_s);
  result.first_pack_s = statistics_of(first).median;
  result.new_values_s = statistics_of(values).median;
  const Bytes bytes = candidate.bytes();
  result.parent_bytes = bytes.parent;
  result.packed_bytes = bytes.packed;
  result.slots = candidate.slots();
}

}  // namespace compound::bench
