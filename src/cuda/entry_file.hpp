// Kinds of entry from a user's file: read, tried by NVRTC, registered.
#pragma once

#include <string>

#include "entry/kinds.hpp"

namespace compound::cuda {

/// Registers the kind `name` for devices from the text of a file that defines `template <class S> struct name`
/// (include/petsccompound/entry.hpp), for matrices of this scalar. Needs NVRTC, no device. A file that was registered
/// already is read again and must be the same.
///
/// Throws `argument` for a name that may not be, a file that cannot be read, is empty or larger than 1 MB, that does
/// not compile (with the compiler's messages, which name the file's lines) or has no such template; `unsupported`
/// without NVRTC.
void register_entry_file(std::string_view name, const std::string& file, ScalarType scalar);

}  // namespace compound::cuda
