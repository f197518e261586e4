// What -mat_view ::ascii_info and -ksp_view print.
#pragma once

#include <cstdio>
#include <fstream>
#include <sstream>

#include "petsc_test.hpp"

namespace petsc_test {

/// What `show`(viewer) prints, on all ranks; `test` names the file.
template <class Show>
std::string text_of_view(const std::string& test, PetscViewerFormat format, const Show& show) {
  const std::string name = file_of_run(test + "_view", ".txt");
  Viewer viewer;
  PETSC_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name.c_str(), viewer.out()));
  PETSC_OK(PetscViewerPushFormat(viewer, format));
  show(viewer);
  viewer.reset();
  MPI_Barrier(PETSC_COMM_WORLD);
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  const auto all = same_on_all_ranks(text.str());
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(name.c_str());
  return all;
}

inline std::string view_of(const std::string& test, Mat A, PetscViewerFormat format = PETSC_VIEWER_ASCII_INFO) {
  return text_of_view(test, format, [&](PetscViewer viewer) { PETSC_OK(MatView(A, viewer)); });
}
inline std::string view_of(const std::string& test, KSP ksp) {
  return text_of_view(test, PETSC_VIEWER_DEFAULT, [&](PetscViewer viewer) { PETSC_OK(KSPView(ksp, viewer)); });
}
inline std::string view_of(const std::string& test, PC pc) {
  return text_of_view(test, PETSC_VIEWER_DEFAULT, [&](PetscViewer viewer) { PETSC_OK(PCView(pc, viewer)); });
}

}  // namespace petsc_test
