// A user's kind of entry from a file, in whichever backend compiles such files.
#pragma once

#include <string>
#include <string_view>

#include "base/scalar.hpp"

namespace compound {

/// Makes the kind of entry that a file defines, `template <class S> struct name`, known for matrices of this scalar
/// (cuda/entry_file.hpp). Throws `argument` saying what is wrong with the file, `unsupported` where nothing here can
/// compile it.
void take_entry_file(std::string_view name, const std::string& file, ScalarType scalar);

}  // namespace compound
