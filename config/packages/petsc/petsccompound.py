'''petsc-compound for PETSc's configure, by --download-petsc-compound=FILE.

Copy this file to config/BuildSystem/config/packages/ of PETSc's source and apply petsccompound.patch there
(docs/install.md has the commands). FILE is the source package that `python -m build --sdist` makes.
'''
import os

import config.package


class Configure(config.package.CMakePackage):
  def __init__(self, framework):
    config.package.CMakePackage.__init__(self, framework)
    self.version          = '0.1.0'
    # No public address yet: this name is looked for in the folder of configure and in --with-packages-download-dir.
    self.download         = ['petsc_compound-'+self.version+'.tar.gz']
    self.includes         = ['petsccompound.h']
    self.buildLanguages   = ['Cxx']
    self.precisions       = ['double']
    self.minCmakeVersion  = (3,22,0)
    self.providesDocs     = 1
    self.docsDirs         = ['include','plugin'] # manual pages are in comments of these folders
    self.linkedbypetsc    = 0
    self.useddirectly     = 0
    self.builtafterpetsc  = 1
    return

  def setNames(self):
    '''The option is --download-petsc-compound, the macro PETSC_HAVE_PETSCCOMPOUND'''
    config.package.CMakePackage.setNames(self)
    self.package          = 'petsc-compound'
    self.downloadname     = 'petsc-compound'
    self.downloaddirnames = ['petsccompound','petsc_compound','petsc-compound'] # sdist, archive of the repository
    return

  def setupDependencies(self, framework):
    config.package.CMakePackage.setupDependencies(self, framework)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries',self)
    self.mpi             = framework.require('config.packages.MPI',self)
    self.cuda            = framework.require('config.packages.CUDA',self)
    self.deps            = [self.mpi]
    self.odeps           = [self.cuda]
    return

  def petscPlace(self):
    '''Where PETSc is once it is built: PETSC_DIR, PETSC_ARCH and the prefix of this package'''
    if self.argDB['prefix'] and 'package-prefix-hash' not in self.argDB:
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      return prefix, '', prefix
    return self.petscdir.dir, self.arch, os.path.join(self.petscdir.dir,self.arch)

  def formCMakeConfigureArgs(self):
    args = config.package.CMakePackage.formCMakeConfigureArgs(self)
    # The package names its own C++ standard; what it finds is of no interest in the log; it has no tests here.
    args = self.rmArgsStartsWith(args, ['-DCMAKE_CXX_STANDARD','--debug-find','-DCMAKE_INSTALL_PREFIX'])
    directory, arch, prefix = self.petscPlace()
    args.extend(['-DPETSC_DIR="'+directory+'"','-DPETSC_ARCH="'+arch+'"','-DCMAKE_INSTALL_PREFIX="'+prefix+'"',
                 '-DCOMPOUND_INSTALL_LINK=ON','-DCOMPOUND_TESTS=OFF','-DCOMPOUND_EXAMPLES=OFF'])
    if self.cuda.found:
      args.append('-DCOMPOUND_CUDA=ON')
      if hasattr(self.cuda,'cudaDir'):
        args.append('-DCUDAToolkit_ROOT="'+self.cuda.cudaDir+'"')
    else:
      args.append('-DCOMPOUND_CUDA=OFF')
    return args

  def downLoad(self):
    '''The source package must be a local file: say which, instead of trying an address that does not exist'''
    name = self.download[0]
    if name == 'petsc_compound-'+self.version+'.tar.gz' and not os.path.isfile(name):
      raise RuntimeError('petsc-compound has no public address: give --download-petsc-compound=FILE, where FILE is\n'
                         'the source package '+name+' ("python3 -m build --sdist" in its\n'
                         'repository makes it), or put that file into '+os.getcwd())
    return config.package.CMakePackage.downLoad(self)

  def Install(self):
    if not self.checkSharedLibrariesEnabled():
      raise RuntimeError('petsc-compound is a plugin that PETSc loads: it requires shared libraries.\n'
                         'Rerun configure with --with-shared-libraries=1, or without --download-petsc-compound')
    if self.argDB['with-library-name-suffix']:
      raise RuntimeError('petsc-compound cannot be loaded by a PETSc with --with-library-name-suffix='
                         +self.argDB['with-library-name-suffix']+': PETSc then looks for another name.\n'
                         'Rerun configure without it, or build petsc-compound apart and load it by -dll_append')
    if not self.cmake.found:
      raise RuntimeError('CMake not found, needed to build petsc-compound. Rerun configure with --download-cmake.')
    args = self.formCMakeConfigureArgs()
    if 'download-petsc-compound-cmake-arguments' in self.framework.clArgDB:
      args.append(self.argDB['download-petsc-compound-cmake-arguments'])
    self.include = [os.path.join(self.petscPlace()[2],'include')]
    folder = os.path.join(self.packageDir,'petsc-build')
    self.addPost(self.packageDir, [self.cmake.cmake+' -S . -B '+folder+' '+' '.join(args),
                                   self.make.make_jnp+' -C '+folder,
                                   '${OMAKE} -C '+folder+' install'])
    return self.installDir
