#!/usr/bin/env bash
# Sets up, builds and runs every test:   bash config/test.sh [--clients] [ctest options, such as -R REGEX]
#
# The core's tests, the plugin's on 1, 2 and 3 ranks, the installed tree and the client programs that are here, with each of
# the system's PETSc builds (real, complex, and real with 64-bit indices). With PETSC_DIR (and PETSC_ARCH) set, with that
# PETSc alone. COMPOUND_SANITIZERS=1 adds a build with address and undefined-behaviour sanitizers. Ends with ctest's summary,
# of all builds together.
#
# --clients installs all client programs first (petsc4py, SLEPc, DOLFINx, PETSc's tutorials, valgrind; about 300 MB) and
# takes a missing one for a failure; without it those that are not here are skipped, with the reason. Clients alone:
# bash config/test.sh --clients -L 'install|clients'
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

clients=no
if [ "${1:-}" = --clients ]; then
  clients=yes
  shift
  [ -z "${PETSC_DIR:-}" ] || fail "--clients is for the system's PETSc and its packages; unset PETSC_DIR (found '$PETSC_DIR')"
fi

packages=("${build_packages[@]}" libgtest-dev nlohmann-json3-dev xz-utils)
presets=(host)
if [ -z "${PETSC_DIR:-}" ]; then
  packages+=(libpetsc-complex-dev)
  presets+=(host-complex)
  if grep -q '"host-64"' "$top/CMakePresets.json"; then
    packages+=(libpetsc64-real-dev)
    presets+=(host-64)
  fi
fi
install_packages "${packages[@]}"

if [ -z "${PETSC_DIR:-}" ]; then
  release=$(pkg-config --modversion "$(ls -d /usr/lib/petscdir/petsc3.*/*-real/lib/pkgconfig/PETSc.pc | head -1)" | cut -d. -f1,2)
  quick_clients=(python3-petsc4py-real libslepc-real-dev "libpetsc$release-dev-examples")
  all_clients=("${quick_clients[@]}" python3-petsc4py-complex libslepc-complex-dev python3-slepc4py-real
    python3-dolfinx-real python3-dolfinx-complex fenicsx-performance-tests valgrind man-db)
  if [ "$clients" = yes ]; then
    install_packages "${all_clients[@]}"
    export COMPOUND_CLIENTS_REQUIRED=1
  else
    (install_packages "${quick_clients[@]}") || say "going on without those client programs; their tests are skipped"
  fi
fi

builds=()
for preset in "${presets[@]}"; do
  configure_and_build "$preset" ON all
  builds+=("$build")
  grep "^-- CUDA backend" "$top/build/configure.log" | sed 's/^--/==/' || true
  cmake_options=(-DCOMPOUND_CORE_TESTS=OFF)  # the core is the same in all of them
done
cmake_options=()

if [ -n "${COMPOUND_SANITIZERS:-}" ]; then
  configure_and_build asan ON all
  builds+=("$build")
fi

# One ctest over all builds: its summary then counts everything.
all="$top/build/all-tests"
mkdir -p "$all"
printf 'subdirs("%s")\n' "${builds[@]}" >"$all/CTestTestfile.cmake"
say "running all tests"
cd "$all"
ctest --output-on-failure -j "$(nproc)" "$@" | tee ctest.log || failed=yes
reasons=$(grep -h "^skipped: " $(printf '%s/Testing/Temporary/LastTest.log ' "$all") 2>/dev/null | sort | uniq -c || true)
[ -z "$reasons" ] || printf '%s\n' "skipped tests and why:" "$reasons"
[ -z "${failed:-}" ]
