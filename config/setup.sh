# shellcheck shell=bash disable=SC2034
# Variables that are not used here are for the scripts that source this.
#
# Sourced by quickstart.sh, test.sh and device-test.sh: packages, build folders, MPI for small and shared machines.
# Debian 12 and Ubuntu 24.04; elsewhere install the same things by hand and set PETSC_DIR.

set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Programs that may have come another way than by their package, which then is not needed.
declare -A program_of=([g++]=g++ [cmake]=cmake [ninja-build]=ninja [pkg-config]=pkg-config [python3]=python3)

# is_there PACKAGE
is_there() {
  local program=${program_of[$1]:-}
  { [ -n "$program" ] && command -v "$program" >/dev/null; } ||
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# install PACKAGE...: those that are missing, by apt.
install_packages() {
  local missing=() package
  for package in "$@"; do
    is_there "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "packages: all there"
    return
  fi
  command -v apt-get >/dev/null ||
    fail "these Debian packages (or their like) are missing and apt-get is not here: ${missing[*]}"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "run as root or install sudo; missing packages: ${missing[*]}"
    root=(sudo)
  fi
  say "installing packages: ${missing[*]}"
  "${root[@]}" apt-get update -qq || say "apt-get update failed; trying with the lists there are"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install: ${missing[*]}"
}

build_packages=(g++ cmake ninja-build pkg-config libopenmpi-dev openmpi-bin python3)
if [ -z "${PETSC_DIR:-}" ]; then
  build_packages+=(libpetsc-real-dev)
fi

# part_ends NAME: what came since the last one ended is that part; print_parts tells what each took.
parts=
part_began=$SECONDS
part_ends() {
  parts+=$(printf '== %5d s  %s' $((SECONDS - part_began)) "$1")$'\n'
  say "$1: $((SECONDS - part_began)) s"
  part_began=$SECONDS
}
print_parts() {
  say "what each part took:"
  printf '%s== %5d s  in all\n' "$parts" $SECONDS
}

# nproc goes by OMP_NUM_THREADS where that is set, which is a choice for programs, not for tests side by side.
cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# Ranks share cores here: wait by yielding, one thread each, on any core (tests/CMakeLists.txt). Open MPI refuses root
# unless told.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# configure_and_build PRESET COMPOUND_TESTS TARGET... (CMake's -D options in cmake_options): into build/PRESET, or
# build/petsc-dir-PRESET with PETSC_DIR, or build/$build_name. Sets build to the folder.
configure_and_build() {
  local preset=$1 tests=$2 name=${build_name:-$1}
  shift 2
  build="$top/build/$name"
  [ -n "${PETSC_DIR:-}" ] && [ -z "${build_name:-}" ] && build="$top/build/petsc-dir-$preset"
  say "building $name in ${build#"$top"/}${PETSC_DIR:+ with PETSC_DIR=$PETSC_DIR}"
  cmake -S "$top" --preset "$preset" -B "$build" -DCOMPOUND_TESTS="$tests" -DCOMPOUND_TEST_PREFIX="$name." \
    "${cmake_options[@]}" >"$top/build/configure.log" 2>&1 ||
    { cat "$top/build/configure.log"; fail "configuring $name failed"; }
  cmake --build "$build" --target "$@" >"$top/build/build.log" 2>&1 ||
    { tail -60 "$top/build/build.log"; fail "building $name failed"; }
}

# Archives of installed PETSc with CUDA, as config/petsc-cuda.sh makes them, by their release and scalar type.
cuda_petsc="petsc-3.26.1-cuda"
petsc_archives=${COMPOUND_PETSC_ARCHIVES:-$top/../shared/petsc}

# unpack_petsc SCALAR: that archive below build/petsc. Sets petsc to the folder, or to nothing and why_no_petsc to the
# reason.
unpack_petsc() {
  local archive=$petsc_archives/$cuda_petsc-$1.tar.xz library
  petsc=
  if [ ! -f "$archive" ]; then
    why_no_petsc="$archive is not there (COMPOUND_PETSC_ARCHIVES names its folder)"
    return
  fi
  local folder=$top/build/petsc/$cuda_petsc-$1
  if [ ! -f "$folder/unpacked" ] || [ "$archive" -nt "$folder/unpacked" ]; then
    rm -rf "$folder"
    mkdir -p "$top/build/petsc"
    tar xf "$archive" -C "$top/build/petsc" || fail "$archive cannot be unpacked"
    # It was made for another prefix: where its files name that, they are to name their own place.
    # shellcheck disable=SC2016 # pkg-config's variable
    sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$folder"/lib/pkgconfig/*.pc
    touch "$folder/unpacked"
  fi
  library=$(ldd "$folder/lib/libpetsc.so" | sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p' | paste -sd ' ')
  if [ -n "$library" ]; then
    why_no_petsc="$archive needs libraries that are not here: $library"
    return
  fi
  petsc=$folder
}

# why_no_gpu: after configure_and_build, why that build cannot use a GPU here, in words; nothing if it can. PETSc is not
# asked: it would initialise the device.
why_no_gpu() {
  if ! grep -q "^-- PETSc .* CUDA: TRUE" "$top/build/configure.log"; then
    echo "the PETSc in use has no CUDA (bash config/petsc-cuda.sh builds one that has)"
  elif ! grep -q "^-- CUDA backend: built" "$top/build/configure.log"; then
    grep "^-- CUDA backend: not built" "$top/build/configure.log" | sed 's/^-- //' ||
      echo "the CUDA backend was not built"
  elif [ "${CUDA_VISIBLE_DEVICES-any}" = "" ]; then
    echo "CUDA_VISIBLE_DEVICES is empty"
  elif ! nvidia-smi -L 2>/dev/null | grep -q "^GPU "; then
    echo "no device is usable (nvidia-smi -L lists none)"
  fi
}
cmake_options=()
mkdir -p "$top/build"
