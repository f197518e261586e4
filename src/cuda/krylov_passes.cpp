#include "cuda/krylov_passes.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/kernel_source.hpp"
#include "cuda/krylov_parts.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

namespace {

struct PassRow {
  const char* name;
  int sums;
};
/// What has no scalar type of its own: how many sums there are is the same for all.
struct any_form {
  using scalar = double;
  static constexpr bool hermitian = true, diagonal = true;
};
/// In the order of VectorPass.
constexpr PassRow rows[] = {
    {"cg_step_pass", cg_step_pass<any_form>::sums},         {"cg_turn_pass", cg_turn_pass<any_form>::sums},
    {"cg_advance_pass", cg_advance_pass<any_form>::sums},   {"cg_sums_pass", cg_sums_pass<any_form>::sums},
    {"bcgs_first_pass", bcgs_first_pass<any_form>::sums},   {"bcgs_half_pass", bcgs_half_pass<any_form>::sums},
    {"bcgs_second_pass", bcgs_second_pass<any_form>::sums}, {"bcgs_step_pass", bcgs_step_pass<any_form>::sums},
    {"bcgs_turn_pass", bcgs_turn_pass<any_form>::sums}};

}  // namespace

std::vector<std::string> pass_sources(ScalarType scalar) {
  std::vector<std::string> sources;
  for (const PassRow& row : rows)
    for (const bool diagonal : {false, true})
      sources.push_back(pass_source(scalar, scalar.field == Field::complex, diagonal, row.name));
  return sources;
}

namespace {

class Passes final : public KrylovPasses {
 public:
  Passes(Backend& backend, cudaStream_t& queue, ScalarType scalar, std::span<const VectorPass> passes, bool hermitian)
      : backend_(backend),
        queue_(queue),
        scalar_(scalar),
        partials_(backend, most_pass_sums * partials_of(most_krylov_blocks()) * bytes_of(scalar)),
        tickets_(backend, tickets_of(most_krylov_blocks())),
        sums_(most_pass_sums * sizeof(complex_number<double>)) {
    backend.clear(tickets_.data(), tickets_.bytes());
    std::vector<WantedKernel> wanted;
    for (const VectorPass pass : passes)
      for (const bool diagonal : {false, true})
        wanted.push_back({pass_source(scalar, hermitian, diagonal, rows[static_cast<int>(pass)].name),
                          &kernels_[static_cast<int>(pass)][diagonal]});
    find_kernels(wanted);
  }

  void run(VectorPass pass, const Arguments& from, void* sums) override {
    const PassRow& row = rows[static_cast<int>(pass)];
    const std::size_t of_sums = static_cast<std::size_t>(row.sums) * bytes_of(scalar_);
    pass_args args;
    for (int i = 0; i < most_pass_numbers; ++i)
      take(static_cast<const std::byte*>(from.numbers) + i * bytes_of(scalar_), args.numbers[i]);
    std::ranges::copy(from.vectors, args.vectors);
    args.scalars = from.scalars;
    args.sum = {partials_.data(), tickets_.data()};
    args.sums = sums_.data();
    if (of_sums) std::memset(sums_.data(), 0, of_sums);  // of no scalars
    const void* const kernel = kernels_[static_cast<int>(pass)][from.diagonal];
    launch(kernel, krylov_blocks(from.scalars), threads_of_krylov, args, queue_);
    if (!of_sums) return;
    backend_.synchronize();
    std::memcpy(sums, sums_.data(), of_sums);
  }

 private:
  template <class Real>
  static void widen(const void* from, int parts, double (&to)[2]) {
    for (int i = 0; i < parts; ++i) to[i] = static_cast<const Real*>(from)[i];
  }
  void take(const void* from, double (&to)[2]) const {
    const int parts = scalar_.field == Field::complex ? 2 : 1;
    scalar_.precision == Precision::single ? widen<float>(from, parts, to) : widen<double>(from, parts, to);
  }

  Backend& backend_;
  cudaStream_t& queue_;
  ScalarType scalar_;
  const void* kernels_[std::size(rows)][2] = {};  ///< of its passes, without and with a diagonal
  Buffer<std::byte> partials_;
  Buffer<unsigned> tickets_;
  Pinned sums_;
};

}  // namespace

std::unique_ptr<KrylovPasses> krylov_passes(Backend& backend, cudaStream_t& queue, ScalarType scalar,
                                            std::span<const VectorPass> passes, bool hermitian) {
  return std::make_unique<Passes>(backend, queue, scalar, passes, hermitian);
}

}  // namespace compound::cuda
