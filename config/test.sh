#!/usr/bin/env bash
# Sets up, builds and runs every test:   bash config/test.sh [--clients] [--petsc] [ctest options, such as -R REGEX]
#
# - Debian's PETSc, real scalars: the core's tests, the plugin's on 1, 2 and 3 ranks, compound-bench, the examples, the
#   installed tree, the client programs that are here, and the quick list of PETSc's own programs
# - Debian's PETSc, complex scalars: the plugin's tests and the example that needs complex scalars
# - Debian's PETSc, real scalars and 64-bit indices: the plugin's tests
# - PETSc 3.26.1 with CUDA, real and complex, with host vectors: the plugin's tests; real also that quick list. From the
#   archives in ../shared/petsc, or in the folder that COMPOUND_PETSC_ARCHIVES names; skipped, with the reason, where they are not.
# - COMPOUND_SANITIZERS=1: the core's tests and the plugin's on 2 ranks, with address and undefined-behaviour sanitizers
#
# With PETSC_DIR (and PETSC_ARCH) set: every test, with that PETSc alone. Ends with ctest's summary, of all builds together.
# Tests on a GPU: config/device-test.sh.
#
# --clients installs all client programs first (petsc4py, SLEPc, DOLFINx, PETSc's tutorials, valgrind; about 300 MB), runs
# every test with each of Debian's builds, and takes a missing client for a failure; without it those that are not here are
# skipped, with the reason. Clients alone: bash config/test.sh --clients -L 'install|clients'
#
# --petsc runs the whole table of PETSc's own programs in place of the quick list. Those alone: bash config/test.sh --petsc -L petsc
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

clients=no
programs=quick
while :; do
  case ${1:-} in
    --clients) clients=yes ;;
    --petsc) programs=all ;;
    *) break ;;
  esac
  shift
done
if [ "$clients" = yes ] && [ -n "${PETSC_DIR:-}" ]; then
  fail "--clients is for the system's PETSc and its packages; unset PETSC_DIR (found '$PETSC_DIR')"
fi

packages=("${build_packages[@]}" libgtest-dev nlohmann-json3-dev xz-utils zlib1g-dev)
if [ -z "${PETSC_DIR:-}" ]; then
  packages+=(libpetsc-complex-dev libpetsc64-real-dev libopenblas-dev)
fi
install_packages "${packages[@]}"

if [ -z "${PETSC_DIR:-}" ]; then
  release=$(pkg-config --modversion "$(ls -d /usr/lib/petscdir/petsc3.*/*-real/lib/pkgconfig/PETSc.pc | head -1)" | cut -d. -f1,2)
  quick_clients=(python3-petsc4py-real libslepc-real-dev "libpetsc$release-dev-examples")
  all_clients=("${quick_clients[@]}" python3-petsc4py-complex libslepc-complex-dev python3-slepc4py-real
    python3-dolfinx-real python3-dolfinx-complex fenicsx-performance-tests libdeal.ii-dev libdeal.ii-doc valgrind man-db)
  if [ "$clients" = yes ]; then
    install_packages "${all_clients[@]}"
    export COMPOUND_CLIENTS_REQUIRED=1
  else
    (install_packages "${quick_clients[@]}") || say "going on without those client programs; their tests are skipped"
  fi
fi

builds=()
# test_build PRESET [-D option...]: builds it, and its tests are run.
test_build() {
  local preset=$1 start=$SECONDS
  shift
  cmake_options=(-DCOMPOUND_PETSC_PROGRAMS="$programs" "$@")
  configure_and_build "$preset" ON all
  builds+=("$build")
  say "built in $((SECONDS - start)) s"
}

# Machine code for every plugin that links this core; of real scalars and one capability: the others are made the same way, and
# core.cuda.kernel_source compiles kernels of complex ones.
test_build host -DCOMPOUND_DEVICE_CODE_SCALARS=real -DCOMPOUND_DEVICE_CODE_CAPABILITIES=90
grep "^-- CUDA backend" "$top/build/configure.log" | sed 's/^--/==/' || true
if [ -z "${PETSC_DIR:-}" ]; then
  # The core is the same in all of them: built and tested once.
  other=(-DCOMPOUND_CORE="$top/build/host")
  plugin_alone=("${other[@]}" -DCOMPOUND_TESTS_OF=plugin -DCOMPOUND_TOOLS=OFF -DCOMPOUND_EXAMPLES=OFF)
  if [ "$clients" = yes ]; then
    every="plugin;tools;examples;install;clients"
    test_build host-complex "${other[@]}" -DCOMPOUND_TESTS_OF="$every" -DCOMPOUND_TOOLS=ON -DCOMPOUND_EXAMPLES=ON
    test_build host-64 "${other[@]}" -DCOMPOUND_TESTS_OF="$every" -DCOMPOUND_TOOLS=ON -DCOMPOUND_EXAMPLES=ON
  else
    test_build host-complex "${plugin_alone[@]}" -DCOMPOUND_TESTS_OF="plugin;examples.lattice_dirac" -DCOMPOUND_EXAMPLES=ON
    test_build host-64 "${plugin_alone[@]}"
  fi
  declare -A tests_with=([real]="plugin;petsc" [complex]=plugin)
  for scalar in real complex; do
    unpack_petsc $scalar
    if [ -n "$petsc" ]; then
      PETSC_DIR=$petsc PETSC_ARCH='' build_name=$cuda_petsc-$scalar test_build host "${plugin_alone[@]}" -DCOMPOUND_TESTS_OF="${tests_with[$scalar]}"
    else
      skipped+="skipped: $cuda_petsc-$scalar: $why_no_petsc"$'\n'
    fi
  done
fi
[ -z "${COMPOUND_SANITIZERS:-}" ] || test_build asan

# One ctest over all builds: its summary then counts everything.
all="$top/build/all-tests"
mkdir -p "$all"
printf 'subdirs("%s")\n' "${builds[@]}" >"$all/CTestTestfile.cmake"
say "running all tests"
cd "$all"
# Its summary comes after the reasons of what was skipped.
ctest --output-on-failure -j "$cores" "$@" | tee ctest.log | sed -u '/% tests passed/,$d' || failed=yes
reasons=${skipped:-}$(grep -h "^skipped: " $(printf '%s/Testing/Temporary/LastTest.log ' "$all") 2>/dev/null | sort | uniq -c || true)
[ -z "$reasons" ] || printf '%s\n' "skipped tests and why:" "$reasons"
sed -n '/% tests passed/,$p' ctest.log
[ -z "${failed:-}" ]
