// The machine and the libraries that results are of.
#pragma once

#include <string>
#include <vector>

namespace compound::bench {

struct Machine {
  std::string processor;            ///< model name
  int cores = 0;                    ///< that the operating system shows
  std::vector<std::string> caches;  ///< of the first core: "L1 Data 48K"
  std::string huge_pages;           ///< the setting for transparent ones
  std::string system;               ///< operating system and its release
  std::string host;
};
Machine this_machine();

struct Versions {
  std::string plugin, petsc, petsc_scalar, petsc_configuration, compiler, mpi;
  int petsc_index_bits = 32;
  bool petsc_debug = false;
};
Versions these_versions();

/// "2026-11-21T10:00:00Z"
std::string date_now();

}  // namespace compound::bench
