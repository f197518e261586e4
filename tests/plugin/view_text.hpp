// What -mat_view ::ascii_info prints.
#pragma once

#include <cstdio>
#include <fstream>
#include <sstream>

#include "petsc_test.hpp"

namespace petsc_test {

/// On all ranks; `test` names the file.
inline std::string view_of(const std::string& test, Mat A, PetscViewerFormat format = PETSC_VIEWER_ASCII_INFO) {
  const std::string name = test + "_view_" + std::to_string(size()) + ".txt";
  Viewer viewer;
  PETSC_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name.c_str(), viewer.out()));
  PETSC_OK(PetscViewerPushFormat(viewer, format));
  PETSC_OK(MatView(A, viewer));
  viewer.reset();
  MPI_Barrier(PETSC_COMM_WORLD);
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  const auto all = same_on_all_ranks(text.str());
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(name.c_str());
  return all;
}

}  // namespace petsc_test
