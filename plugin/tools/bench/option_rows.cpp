#include "option_rows.hpp"

#include <cctype>

#include "base/nearest.hpp"

namespace compound::bench {

std::optional<std::string> given(const char* name, const char* help, bool may_be_bare) {
  std::vector<char> text(1 << 16);
  PetscBool found = PETSC_FALSE;
  must(PetscOptionsGetString(nullptr, nullptr, name, text.data(), text.size(), &found));
  if (!found) return {};
  const std::string value = text.data();
  if (value.size() + 1 >= text.size()) throw usage_error(std::string(name) + ": the value is too long");
  if (value.empty() && !may_be_bare) throw usage_error(std::string(name) + " needs a value: " + help);
  return value;
}

void check_words(int argc, const char* const* argv) {
  const auto is_option = [](std::string_view word) {
    return word.size() > 1 && word[0] == '-' && (std::isalpha(static_cast<unsigned char>(word[1])) || word[1] == '-');
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool stray = !is_option(word) && (i == 1 || !is_option(argv[i - 1]));
    if (!stray) continue;
    throw usage_error("unexpected argument '" + word + "' on the command line" +
                      (i == 1 ? "; a matrix file is given by -matrix" : "; quote values that contain spaces"));
  }
}

namespace {

/// " (did you mean -n?)"; empty if none is near.
std::string did_you_mean(std::string_view name, const OptionNames& own) {
  const std::string_view best = nearest(name, own);
  return best.empty() ? "" : " (did you mean -" + std::string(best) + "?)";
}

/// Beginnings of options that PETSc's objects or the plugin may still ask for.
constexpr std::string_view later_options[] = {"mat_",     "vec_",    "vecscatter_", "log_",     "is_",     "sf_",
                                              "matload_", "matmult", "viewer_",     "options_", "malloc",  "info",
                                              "memory_",  "cuda_",   "hip_",        "device_",  "use_gpu", "ksp_",
                                              "pc_",      "sub_",    "mg_"};

}  // namespace

void check_unused_options(bool early, const OptionNames& own) {
  PetscInt count = 0;
  char **option_names = nullptr, **values = nullptr;
  must(PetscOptionsLeftGet(nullptr, &count, &option_names, &values));
  std::string unknown;
  for (PetscInt i = 0; i < count; ++i) {
    const std::string_view name = option_names[i];
    const bool later = std::ranges::any_of(later_options, [&](std::string_view b) { return name.starts_with(b); });
    if ((early && later) || name == "use_gpu_aware_mpi") continue;  // PETSc asks for it when a device is touched
    unknown += (unknown.empty() ? "-" : ", -") + std::string(name) + did_you_mean(name, own);
  }
  must(PetscOptionsLeftRestore(nullptr, &count, &option_names, &values));
  if (!unknown.empty())
    throw usage_error("nothing asked for the option(s) " + unknown + "; -help lists " + program_name() + "'s own");
}

}  // namespace compound::bench
