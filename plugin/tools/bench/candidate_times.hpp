// What is timed of a candidate beside its steady products.
#pragma once

#include "candidate.hpp"
#include "report.hpp"

namespace compound::bench {

/// The first product packs, so it is timed; steady products are not known yet.
void first_product(MPI_Comm comm, Candidate& candidate, CandidateResult& result);

/// After the rounds, which give the time of a steady product.
void packing_times(Candidate& candidate, CandidateResult& result);

}  // namespace compound::bench
