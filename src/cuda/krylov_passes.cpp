#include "cuda/krylov_passes.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"
#include "device/cg_passes.hpp"

namespace compound::cuda {

namespace {

/// Host memory that a kernel writes its sums to.
class PinnedSums {
 public:
  PinnedSums() {
    check(cudaHostAlloc(&memory_, 3 * sizeof(complex_number<double>), cudaHostAllocMapped), "pinning memory");
  }
  PinnedSums(const PinnedSums&) = delete;
  ~PinnedSums() { cudaFreeHost(memory_); }
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

class Passes final : public KrylovPasses {
 public:
  Passes(Backend& backend, cudaStream_t& queue, ScalarType scalar, bool hermitian)
      : backend_(backend),
        queue_(queue),
        scalar_(scalar),
        most_blocks_(slot_t{8} * current_device().multiprocessors),
        step_(kernel_of(cg_pass_source(scalar, hermitian, "cg_step_pass"))),
        turn_(kernel_of(cg_pass_source(scalar, hermitian, "cg_turn_pass"))),
        partials_(backend, 3 * partials_of(most_blocks_) * bytes_of(scalar)),
        tickets_(backend, tickets_of(most_blocks_)) {
    backend.clear(tickets_.data(), tickets_.bytes());
  }

  void step(slot_t n, const void* alpha, const void* d, void* z, void* r, void* sums) override {
    cg_pass_args args;
    take(alpha, args.alpha);
    args.d = d;
    args.z = z;
    args.r = r;
    args.scalars = n;
    args.sum = {partials_.data(), tickets_.data()};
    args.sums = sums_.data();
    std::memset(sums_.data(), 0, 3 * bytes_of(scalar_));  // of no scalars
    launch(step_, blocks(n), threads_of_krylov, args, queue_);
    backend_.synchronize();
    std::memcpy(sums, sums_.data(), 3 * bytes_of(scalar_));
  }

  void turn(slot_t n, const void* alpha, const void* beta, const void* z, void* x, void* p) override {
    cg_pass_args args;
    take(alpha, args.alpha);
    take(beta, args.beta);
    args.z_read = z;
    args.x = x;
    args.p = p;
    args.scalars = n;
    launch(turn_, blocks(n), threads_of_krylov, args, queue_);
  }

 private:
  /// As many as the device holds at once: each takes several shares then.
  slot_t blocks(slot_t n) const { return std::min((n + threads_of_krylov - 1) / threads_of_krylov, most_blocks_); }

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
  slot_t most_blocks_;
  const void *step_, *turn_;
  Buffer<std::byte> partials_;
  Buffer<unsigned> tickets_;
  PinnedSums sums_;
};

}  // namespace

std::unique_ptr<KrylovPasses> krylov_passes(Backend& backend, cudaStream_t& queue, ScalarType scalar, bool hermitian) {
  return std::make_unique<Passes>(backend, queue, scalar, hermitian);
}

}  // namespace compound::cuda
