// Mistyped names: the name that was probably meant, for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace compound {

/// The name that `word` was probably meant to be: the one that differs by the fewest letters (left out, added, changed,
/// or exchanged with the next one; upper and lower case are the same), or that `word` abbreviates. Of equals the first.
/// Empty where none is near: more than every third letter differs.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// What there is to choose from, behind an unknown word: ": did you mean csr? Choose csr, ellr, sell", or "; choose
/// csr, ellr, sell" where none is near. `list`: what is shown of the names, where it is not the names themselves.
std::string choose(std::string_view word, std::span<const std::string_view> names, std::string_view list = {});

/// "unknown layout 'csrr': did you mean csr? Choose csr, ellr, sell".
std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string_view> names,
                         std::string_view list = {});

}  // namespace compound
