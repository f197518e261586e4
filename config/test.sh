#!/usr/bin/env bash
# Sets up, builds and runs every test:   bash config/test.sh [-R REGEX]
#
# The core's tests, and the plugin's on 1, 2 and 3 ranks, with the system's real and complex PETSc. With PETSC_DIR (and
# PETSC_ARCH) set, with that PETSc alone. COMPOUND_SANITIZERS=1 adds a build with address and undefined-behaviour
# sanitizers. Ends with ctest's summary, of all builds together.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

packages=("${build_packages[@]}" libgtest-dev xz-utils)
if [ -z "${PETSC_DIR:-}" ]; then
  packages+=(libpetsc-complex-dev)
fi
install_packages "${packages[@]}"

builds=()
if [ -z "${PETSC_DIR:-}" ]; then
  for preset in host host-complex; do
    configure_and_build "$preset" ON all
    builds+=("$build")
  done
else
  configure_and_build host ON all
  builds+=("$build")
fi

if [ -n "${COMPOUND_SANITIZERS:-}" ]; then
  configure_and_build asan ON all
  builds+=("$build")
fi

# One ctest over all builds: its summary then counts everything.
all="$top/build/all-tests"
mkdir -p "$all"
printf 'subdirs("%s")\n' "${builds[@]}" >"$all/CTestTestfile.cmake"
say "running all tests"
cd "$all" && ctest --output-on-failure -j "$(nproc)" "$@"
