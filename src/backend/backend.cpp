#include "backend/backend.hpp"

#include "backend/krylov_loop.hpp"
#include "base/error.hpp"

namespace compound {

std::optional<Buffer<std::byte>> Backend::code_items(const CodeTask& t) {
  const std::size_t bytes = static_cast<std::size_t>(t.count) * t.bytes;
  const void* items = t.items;
  std::vector<std::byte> fetched;
  if (t.items_in == Memory::backend && !reads_in_place()) {
    fetched.resize(bytes);
    download(fetched.data(), t.items, bytes);
    items = fetched.data();
  }
  std::vector<std::byte> codes(t.count * t.code.bytes);
  const auto distinct = compound::code_items(t.code, items, t.count, t.bytes, codes.data());
  if (!distinct) return {};
  if (!codes.empty()) upload(t.codes, codes.data(), codes.size());
  return Buffer<std::byte>(*this, std::span<const std::byte>(*distinct));
}

void Backend::code_chunks(ChunkStep step, const chunk_code_args& a) {
  constexpr void (*steps[])(const chunk_code_args&, slot_t) = {sample_word, note_word, write_word};
  const slot_t workers = step == ChunkStep::sample ? a.samples : a.count;
  for (slot_t worker = 0; worker < workers; ++worker) steps[static_cast<int>(step)](a, worker);
}

void Backend::multiply_sparse(const SparseProductTask&) {
  throw error(ErrorKind::unsupported,
              "products of sparse matrices in the memory of backend " + std::string(name()) + "; use multiply()");
}

std::unique_ptr<KrylovLoop> Backend::krylov_loop(const KrylovProblem&) { return nullptr; }
std::unique_ptr<KrylovPasses> Backend::krylov_passes(ScalarType, std::span<const VectorPass>, bool) { return nullptr; }

std::optional<std::string> why_not(const Plan& plan, const Problem& problem, const Backend& on) {
  auto reason = applicable(plan, problem);
  return reason ? reason : on.applicable(plan, problem);
}

}  // namespace compound
