#include "layout_times.hpp"

#include "candidate_times.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "memory.hpp"

namespace compound::bench {

namespace {

/// What a packed copy may take now.
double most_bytes(MPI_Comm comm, const Options& o) {
  if (used_device()) return 0.95 * used_device()->free_bytes();
  if (o.memory_limit_bytes > 0) return o.memory_limit_bytes;
  const double available = available_bytes(comm);
  return available > 0 ? 0.7 * available : std::numeric_limits<double>::infinity();
}

void time_layout(MPI_Comm comm, Candidate& candidate, const Options& o, Progress& progress, CandidateResult& result) {
  const std::vector<Runner> runner = {{candidate.name(), [&] { candidate.multiply(); }}};
  result.samples = std::move(measure(comm, runner, o, progress).front());
  constexpr int cold_products = 20;
  if (o.cold && candidate.on_device())
    result.cold_s = used_device()->cold_seconds([&] { candidate.multiply(); }, cold_products);
  packing_times(candidate, result);
}

}  // namespace

void time_layouts(MPI_Comm comm, const CaseMatrix& c, const Options& o, Check& check, Progress& progress,
                  CaseResult& r) {
  const auto source = make_core_source(c, o.core_float);
  for (const std::string& layout : o.layouts) {
    progress.say("packing as " + layout);
    LayoutResult& row = r.layouts.emplace_back();
    row.result.name = layout;
    try {
      const auto candidate = make_layout_candidate(c, source, layout, most_bytes(comm, o));
      first_product(comm, *candidate, row.result);
      row.result.compulsory_bytes = compulsory_bytes(c, storage_of(*candidate, c));
      if (o.check) check(*candidate, row.result);
      time_layout(comm, *candidate, o, progress, row.result);
    } catch (const left_out& e) {
      row.why = e.what();
    }
  }
}

}  // namespace compound::bench
