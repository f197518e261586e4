// Products that a library of the device makes in the place of our kernels, as a table. Each reads the words of a csr
// plan where they lie: nothing is converted, and our kernels serve whatever the library does not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace compound {

/// What the library is given: full square blocks, or entries that are one scalar each (1x1 blocks; in a real matrix the
/// kind `complex`, whose two words are a complex number as the library has them).
enum class LibraryForm { blocks, scalars };

/// Which of the library's algorithms: the one it takes by itself, its second, or the older call for blocks.
enum class LibraryCall { automatic, second, older };

struct LibraryProduct {
  std::string_view word;  ///< as in a plan: "cusparse:bsr-row", the library before the colon
  LibraryForm form;
  WordOrder order;  ///< of a block's words
  LibraryCall call;
  bool repeats_bits;  ///< the library's documentation promises the same bits for the same call

  constexpr std::string_view library() const { return word.substr(0, word.find(':')); }
};

std::span<const LibraryProduct> library_products();

/// "cusparse": each library once, with commas between.
std::string library_names();
bool is_library(std::string_view name);

/// Null for a word that names none.
const LibraryProduct* find_library_product(std::string_view word);

/// "cusparse", or empty where the plan is our kernels'.
std::string_view library_of(const Plan& plan);

/// Of those that these words of a plan name; null where they name none. Throws `argument` where they name two.
const LibraryProduct* library_product_in(std::span<const std::string_view> words);

/// The layout and the words that the product reads, and the product; the rest of the plan stays.
void set_library_product(Plan& plan, const LibraryProduct& product);

/// What speaks against the library's product of a plan, in words; empty if nothing does, or the plan has none. Whether
/// the library is there is the backend's to say.
std::optional<std::string> why_not_by_library(const Plan& part, const Problem& problem);

}  // namespace compound
