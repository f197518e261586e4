// NVRTC, NVIDIA's compiler as a library: opened at the first use, so that programs start without it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace compound::cuda {

/// Machine code (cubin) of a source that includes files of src/device, for one compute capability (90 is 9.0).
///
/// Throws `unsupported` without NVRTC (saying where it was looked for) and, with the log, when the source does not
/// compile.
std::string compile(const std::string& source, int capability);

/// Mangled name of a function template's instance that a source has: "f<3>" may be "_Z1fILi3EEvv". Throws as compile().
std::string lowered_name(const std::string& source, const std::string& expression);

/// What compile() tells NVRTC.
std::vector<std::string> compile_options(int capability);

/// "13.0"; empty without NVRTC.
std::optional<std::string> nvrtc_version();

/// Calls of compile() that reached NVRTC so far: for logs and tests.
int compile_count();

}  // namespace compound::cuda
