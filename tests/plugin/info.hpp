// What -info says.
#pragma once

#include <cstdio>

#include "petsc_test.hpp"

namespace petsc_test {

/// What -info says on this process while `call` runs; `test` names the files.
template <class Call>
std::string own_info_during(const std::string& test, const Call& call) {
  const std::string name = file_of_run(test, "_info"), own = name + "." + std::to_string(rank());
  PETSC_OK(PetscInfoSetFile(name.c_str(), "w"));
  PETSC_OK(PetscInfoAllow(PETSC_TRUE));
  call();
  PETSC_OK(PetscInfoAllow(PETSC_FALSE));
  FILE* file = nullptr;
  char* file_name = nullptr;
  PETSC_OK(PetscInfoGetFile(&file_name, &file));
  PETSC_OK(PetscFree(file_name));
  if (file) std::fflush(file);
  std::string text;
  char line[1024];
  FILE* in = std::fopen(own.c_str(), "r");
  if (!in) in = std::fopen(name.c_str(), "r");
  while (in && std::fgets(line, sizeof(line), in)) text += line;
  if (in) std::fclose(in);
  MPI_Barrier(PETSC_COMM_WORLD);
  std::remove(own.c_str());
  std::remove(name.c_str());
  return text;
}

/// The same of process 0.
template <class Call>
std::string info_during(const std::string& test, const Call& call) {
  return same_on_all_ranks(own_info_during(test, call));
}

}  // namespace petsc_test
