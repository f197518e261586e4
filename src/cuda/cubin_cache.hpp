// Machine code of kernels, kept on disk between runs.
//
// The folder is $COMPOUND_CUDA_CACHE, else $XDG_CACHE_HOME/petsc-compound, else ~/.cache/petsc-compound; "off" keeps
// nothing. It is made with mode 0700, and not used if it is someone else's or others may write to it: code from it
// runs.
//
// A file is named <key>-sm<capability>-nvrtc<version>.cubin, the key being a hash of all that the code depends on but
// the compiler's version. Where there is an NVRTC only its own files count; where there is none, as on a machine that
// was brought the folder of another, the newest version's does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace compound::cuda {

/// compile(source, capability), from the cache where it is there. Nothing about the cache is ever an error.
std::string cubin_of(const std::string& source, int capability);

/// The same for many, on all cores that this process may use. Nothing for one that does not compile: cubin_of() says
/// why.
std::vector<std::optional<std::string>> cubins_of(std::span<const std::string> sources, int capability);

/// Why nothing is kept, in words; empty if it is.
std::string why_no_cubin_cache();

}  // namespace compound::cuda
