// Files of the examples spin_transformation and lattice_dirac: surfaces (OBJ, OFF, PLY), images (TGA, PGM) and gauge
// fields. A message, or what is right in itself.
#include <filesystem>
#include <fstream>

#include "folder.hpp"
#include "petsc_target.hpp"

extern "C" {  // PETSc's headers were included before
#include "gauge_field.h"
#include "grey_image.h"
#include "surface_mesh.h"
}

namespace {

using namespace compound::fuzz;
namespace files = std::filesystem;

PetscErrorCode read_surface(const char* file) {
  PetscFunctionBegin;
  SurfaceMesh m = {};
  PetscCall(SurfaceMeshRead(file, &m));
  const PetscErrorCode code = SurfaceMeshFinish(&m, file);
  if (code) PetscCall(SurfaceMeshDestroy(&m));
  PetscCall(code);
  require(m.nface > 0, "a surface has triangles");
  for (PetscInt k = 0; k < 3 * m.nface; ++k)
    require(m.face[k] >= 0 && m.face[k] < m.nvertex, "triangles have vertices of the surface");
  for (PetscInt k = 0; k < 3 * m.nvertex; ++k) require(std::isfinite(m.xyz[k]), "vertices are somewhere");
  PetscCall(SurfaceMeshDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_image(const char* file) {
  PetscFunctionBegin;
  GreyImage image = {};
  const PetscErrorCode code = GreyImageRead(file, &image);
  if (code) PetscCall(GreyImageDestroy(&image));
  PetscCall(code);
  for (const PetscReal at : {0.0, 0.4, 1.0}) {
    const PetscReal grey = GreyImageSample(&image, at, 1 - at);
    require(grey >= -1e-12 && grey <= 1 + 1e-12, "an image is from black to white");
  }
  PetscCall(GreyImageDestroy(&image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_gauge(const char* file) {
  PetscFunctionBegin;
  GaugeField g = {};
  PetscReal plaquette;
  const PetscErrorCode code = GaugeFieldRead(file, &g, &plaquette);
  if (code) PetscCall(GaugeFieldDestroy(&g));
  PetscCall(code);
  require(FarFromUnitary(Link(&g, Place{1, 0}, 0)) <= 1e-8, "links are unitary");
  PetscCall(GaugeFieldDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Reader {
  const char* file;
  PetscErrorCode (*read)(const char* file);
};
constexpr Reader readers[] = {{"a.obj", read_surface}, {"a.off", read_surface}, {"a.ply", read_surface},
                              {"a.tga", read_image},   {"a.pgm", read_image},   {"a.gauge", read_gauge}};

}  // namespace

/// The first byte chooses the reader.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  begin_petsc();
  const Reader& reader = readers[data[0] % std::size(readers)];
  const files::path file = folder() / reader.file;
  std::ofstream(file, std::ios::binary) << text_of(data + 1, size - 1);
  const int code = tried([&] { return reader.read(file.c_str()); });
  require(code == 0 || !message().empty(), "an error says what is wrong");
  return 0;
}
