"""petsc-compound for Spack. Not run by us: Spack is not on our machines. A test checks the syntax, and the names of
CMake options and files against the tree (tests/packages/package_files_test.py).

Put this file into packages/petsc_compound/ of a package repository of your own (docs/install.md has the commands).
"""

import glob
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class PetscCompound(CMakePackage, CudaPackage):
    """PETSc matrix types for block matrices with fast products on the host and on NVIDIA GPUs. A plugin: applications
    load it by the option -dll_append and take -mat_type baijcompound."""

    # The source package has no public address: `python3 -m build --sdist` in the repository makes it.
    manual_download = True
    url = f"file://{os.getcwd()}/petsc_compound-0.1.0.tar.gz"
    test_requires_compiler = True

    license("BSD-2-Clause")

    version("0.1.0")

    variant("python", default=False, description="Install the Python module petsccompound, for petsc4py")
    variant("tools", default=True, description="Build compound-bench and compound-tune")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:3.26 +mpi+shared+double")
    depends_on("nlohmann-json", when="+tools")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc+cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    depends_on("petsc+cuda", when="+cuda")
    depends_on("petsc~cuda", when="~cuda")
    depends_on("cuda@12.8:", when="+cuda")
    depends_on("zlib-api", when="+cuda")  # machine code of kernels is stored compressed
    extends("python", when="+python")
    depends_on("python@3.9:", when="+python", type=("build", "run"))
    depends_on("py-petsc4py", when="+python", type=("build", "run"))

    conflicts("%gcc@:10", msg="C++20 is needed: GCC 11 or newer")
    conflicts("%clang@:15", msg="C++20 is needed: Clang 16 or newer")

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("PETSC_DIR", spec["petsc"].prefix),
            self.define("PETSC_ARCH", ""),
            self.define("COMPOUND_TESTS", "OFF"),
            self.define("COMPOUND_EXAMPLES", False),
            self.define_from_variant("COMPOUND_TOOLS", "tools"),
            self.define_from_variant("COMPOUND_CUDA", "cuda"),
        ]
        if spec.satisfies("+cuda"):
            args.append(self.define("CUDAToolkit_ROOT", spec["cuda"].prefix))
            capabilities = [arch for arch in spec.variants["cuda_arch"].value if arch != "none"]
            if capabilities:
                args.append(self.define("COMPOUND_DEVICE_CODE", "ON"))
                args.append(self.define("COMPOUND_DEVICE_CODE_CAPABILITIES", ";".join(capabilities)))
        return args

    @property
    def plugin(self):
        """The one plugin of this prefix: what -dll_append takes."""
        return glob.glob(join_path(self.prefix, "lib*", "petsccompound", "*", "libpetsccompound.so"))[0]

    @run_after("install", when="+python")
    def install_python(self):
        folder = join_path(python_platlib, "petsccompound")
        install_tree(join_path(self.stage.source_path, "plugin", "python", "petsccompound"), folder)
        install(join_path(self.build_directory, "python", "built_for.json"), folder)
        symlink(self.plugin, join_path(folder, "libpetsccompound.so"))

    def test_elasticity(self):
        """the installed example solves elasticity with baijcompound"""
        examples = join_path(self.prefix.share, "petsccompound", "examples")
        compiler = which(self.spec["mpi"].mpicc)
        petsc = self.spec["petsc"]
        sources = [join_path(examples, "elasticity.c"), *glob.glob(join_path(examples, "common", "*.c"))]
        compiler("-o", "elasticity", *sources, *petsc.headers.include_flags.split(), *petsc.libs.ld_flags.split(),
                 f"-Wl,-rpath,{petsc.prefix.lib}", "-lm")
        run = which("elasticity", path=".", required=True)
        out = run("-mesh", join_path(examples, "data", "bracket.msh"), "-dll_append", self.plugin,
                  "-mat_type", "baijcompound", "-pc_type", "pbjacobi", "-ksp_view", output=str.split, error=str.split)
        assert "compound plan: entry=dense" in out

    def test_python(self):
        """the Python module finds the plugin and its PETSc"""
        if self.spec.satisfies("~python"):
            raise SkipTest("the package was installed without the Python module")
        python("-m", "petsccompound", "--check")
