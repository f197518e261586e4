#!/usr/bin/env bash
# Builds PETSc with CUDA from PyPI's source package, for machines that have none:
#
#   bash config/petsc-cuda.sh [--scalar real|complex] [--arch CAPABILITY] [--prefix FOLDER] [--jobs N]
#
# --scalar real                              or complex
# --arch                                     compute capability (90 is 9.0); by default that of the device here, else 90
# --prefix ~/petsc-VERSION-cuda-SCALAR       where PETSc goes
# --jobs                                     compilers at once; by default one a core
#
# Needs a CUDA toolkit (nvcc on the PATH, or in $CUDA_HOME, $CUDA_PATH or /usr/local/cuda), MPI (mpicc), OpenBLAS, make,
# python3 with pip, and some minutes. Does nothing where the prefix has this PETSc already. Ends with the lines that
# make CMake, the quickstart and test.sh use it.
set -euo pipefail

version=3.26.1
scalar=real arch='' prefix='' jobs=$(nproc)

say() { printf '== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --scalar | --arch | --prefix | --jobs)
      [ $# -gt 1 ] || fail "$1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    *) fail "unknown option '$1'; usage: bash config/petsc-cuda.sh [--scalar real|complex] [--arch CAPABILITY]" \
         "[--prefix FOLDER] [--jobs N]" ;;
  esac
done
case $scalar in real | complex) ;; *) fail "--scalar is '$scalar'; choose real or complex" ;; esac
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs is '$jobs'; give a positive number"
if [ -z "$arch" ]; then
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d . || true)
  [[ $arch =~ ^[0-9]+$ ]] || arch=90
fi
[[ $arch =~ ^[1-9][0-9]+$ ]] || fail "--arch is '$arch'; give a compute capability without its dot, such as 90 for 9.0"
prefix=${prefix:-$HOME/petsc-$version-cuda-$scalar}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

# What this script made there before: "VERSION SCALAR ARCH" in a file that is written last.
stamp=$prefix/lib/petsc/made-by-petsc-cuda.sh
wanted="$version $scalar $arch"

how_to_use() {
  say "use it by:"
  printf 'export PETSC_DIR=%s\nexport PETSC_ARCH=\n' "$prefix"
}

if [ -f "$stamp" ]; then
  [ "$(cat "$stamp")" = "$wanted" ] \
    || fail "$prefix has another PETSc ($(cat "$stamp"); wanted: $wanted); give another --prefix or remove that folder"
  say "PETSc $version ($scalar, CUDA capability $arch) is there already: $prefix"
  how_to_use
  exit 0
fi
if [ -e "$prefix" ] && [ -n "$(ls -A "$prefix")" ]; then
  fail "$prefix is not empty and not made by this script (or its last run ended early);" \
    "give another --prefix or remove that folder"
fi

# The toolkit, MPI and the rest, all looked for before anything is downloaded.
nvcc=$(command -v nvcc || true)
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
  [ -n "$nvcc" ] || [ ! -x "$folder/bin/nvcc" ] || nvcc=$folder/bin/nvcc
done
[ -n "$nvcc" ] ||
  fail "nvcc is missing: it is on the PATH, in \$CUDA_HOME, \$CUDA_PATH and /usr/local/cuda nowhere." \
    "Install the CUDA toolkit 12.8 or newer (developer.nvidia.com/cuda-downloads)"
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
mpicc=$(command -v mpicc || true)
[ -n "$mpicc" ] || fail "mpicc is missing; install an MPI (Debian, Ubuntu: apt-get install libopenmpi-dev openmpi-bin)"
mpi=$(dirname "$(dirname "$mpicc")")
for tool in make g++ python3; do
  command -v "$tool" >/dev/null ||
    fail "$tool is missing (Debian, Ubuntu: apt-get install make g++ python3 python3-pip)"
done
python3 -m pip --version >/dev/null 2>&1 ||
  fail "pip is missing for $(command -v python3) (Debian, Ubuntu: apt-get install python3-pip)"
echo 'int main(void) { return 0; }' | "$mpicc" -x c - -o /dev/null -lopenblas 2>/dev/null \
  || fail "OpenBLAS is missing, or $mpicc cannot link a program with -lopenblas" \
    "(Debian, Ubuntu: apt-get install libopenblas-dev)"

work=$(mktemp -d "${TMPDIR:-/tmp}/petsc-cuda.XXXXXX")
log=$work/log
trap 'rm -rf "$work"' EXIT

# step WORDS COMMAND...: the command's output goes to the log, whose end is shown if it fails; the folder then stays.
step() {
  local words=$1
  shift
  say "$words"
  "$@" >>"$log" 2>&1 && return
  trap - EXIT
  tail -40 "$log" >&2
  fail "$words failed; the whole output is in $log"
}

step "downloading PETSc $version" python3 -m pip download "petsc==$version" --no-deps --no-binary :all: -d "$work"
tar xf "$work/petsc-$version.tar.gz" -C "$work"
cd "$work/petsc-$version"
unset PETSC_DIR PETSC_ARCH
step "configuring ($scalar, capability $arch, $cuda, $mpicc)" ./configure --prefix="$prefix" \
  --with-cuda=1 --with-cuda-dir="$cuda" --with-cuda-arch="$arch" --with-fc=0 --with-debugging=0 --with-mpi-dir="$mpi" \
  --with-blaslapack-lib=-lopenblas --with-x=0 --with-ssl=0 --with-hwloc=0 --with-zlib=0 --with-scalar-type="$scalar" \
  COPTFLAGS=-O3 CXXOPTFLAGS=-O3 CUDAOPTFLAGS=-O3
step "building with $jobs compilers (minutes)" make -j"$jobs" MAKE_NP="$jobs" all
step "installing to $prefix" make install
printf '%s\n' "$wanted" >"$stamp"
say "PETSc $version ($scalar, CUDA capability $arch) is in $prefix"
how_to_use
