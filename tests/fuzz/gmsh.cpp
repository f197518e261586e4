// Gmsh files of the example elasticity: a message, or a mesh whose elements have its nodes and are right-handed.
#include "file_of_memory.hpp"
#include "petsc_target.hpp"

extern "C" {  // PETSc's headers were included before
#include "volume_mesh.h"
}

namespace {

using namespace compound::fuzz;

double volume(const VolumeMesh& m, const PetscInt* node) {
  double e[3][3];
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 3; ++d) e[k][d] = m.xyz[3 * node[k + 1] + d] - m.xyz[3 * node[0] + d];
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  begin_petsc();
  const FileOfMemory file(data, size);
  const Surface surfaces[] = {{"-clamp", "clamp"}, {"-load", "2"}};
  const Kept kept;  // what DMPlex and the reader hold when they end with an error
  VolumeMesh m = {};
  if (tried([&] { return VolumeMeshReadGmsh(file.name().c_str(), 0, 2, surfaces, &m); })) {
    require(!message().empty(), "an error says what is wrong");
    return 0;
  }
  for (PetscInt k = 0; k < 4 * m.nelem; ++k) require(m.elem[k] >= 0 && m.elem[k] < m.nnode, "elements have nodes");
  for (PetscInt k = 0; k < 3 * m.nface; ++k) require(m.face[k] >= 0 && m.face[k] < m.nnode, "faces have nodes");
  for (PetscInt e = 0; e < m.nelem; ++e) require(!(volume(m, m.elem + 4 * e) < 0), "elements are right-handed");
  must(VolumeMeshDestroy(&m));
  return 0;
}
