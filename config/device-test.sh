#!/usr/bin/env bash
# The tests that use a GPU, on a machine that has one:
#
#     bash config/device-test.sh [--all | --gpus N | --sanitizer TOOL | --coverage] [ctest options, such as -R REGEX]
#     bash config/device-test.sh --mutants [options of tests/mutants/mutants.py]
#
# With PETSC_DIR (and PETSC_ARCH) set, with that PETSc, which must have CUDA; else with PETSc 3.26.1 from the archives
# in ../shared/petsc or in the folder that COMPOUND_PETSC_ARCHIVES names: real scalars, and with --all complex ones,
# too. Nothing is installed or downloaded. What cannot use the device here fails: nothing is skipped for want of one.
#
# --gpus N, on a machine with several: tests of the plugin on N processes with a GPU each, which exchange among
# themselves (docs/solvers.md), one test after the other; then times of an iteration on one GPU and on N, as JSON in
# build/device-tests.
#
# --sanitizer TOOL: the tests under a tool of compute-sanitizer: memcheck, racecheck, initcheck or synccheck. A test
# with a finding fails. -R chooses some; --minutes N ends it earlier, and the same command goes on there; --record keeps
# what had no finding, and --left runs the rest alone (tests/sanitizers/sanitizers.py).
#
# --coverage: how many of the lines that need a device (tests/coverage/needs_device.txt) the tests run. It takes 20
# minutes on 16 cores; --minutes N ends it earlier, and the same command goes on there.
#
# --mutants: whether the tests find mistakes in these lines (tests/mutants/mutants.py --device), by what --coverage has
# found of which test runs which line.
#
# The tier quick takes 6 minutes on 16 cores with building; --all is for parts: --all -L core, --all -L plugin,
# --all -L 'tools|examples|properties', each at most 9 minutes. Ends with what each part took and ctest's summary.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

nvidia-smi -L 2>/dev/null | grep -q "^GPU " ||
  fail "there is no GPU here (nvidia-smi -L lists none); the tests without one: bash config/test.sh"

# need_petsc SCALAR: sets petsc to that of the archive.
need_petsc() {
  unpack_petsc "$1"
  [ -n "$petsc" ] || fail "no PETSc with CUDA for $1 scalars: $why_no_petsc; or set PETSC_DIR" \
    "(bash config/petsc-cuda.sh builds one)"
}

tier=quick
scalars=(real)
ranks="1;2"
together=$cores
runner=()  # a script below tests that runs them in place of ctest
if [ "${1:-}" = --all ]; then
  tier=all
  scalars=(real complex)
  ranks=
  shift
elif [ "${1:-}" = --gpus ]; then
  ranks=${2:-}
  [[ $ranks =~ ^[2-8]$ ]] || fail "--gpus wants a number of GPUs from 2 to 8, not '$ranks'"
  gpus=$(nvidia-smi -L | grep -c "^GPU ")
  [ "$gpus" -ge "$ranks" ] || fail "--gpus $ranks: there are $gpus here (nvidia-smi -L)"
  together=1  # kernels of two tests would share a GPU, and those that wait for each other take turns then
  shift 2
  set -- -L plugin "$@"
elif [ "${1:-}" = --sanitizer ]; then
  sanitizer=${2:-}
  [[ $sanitizer =~ ^(memcheck|racecheck|initcheck|synccheck)$ ]] ||
    fail "--sanitizer wants memcheck, racecheck, initcheck or synccheck, not '$sanitizer'"
  command -v compute-sanitizer >/dev/null || fail "there is no compute-sanitizer here; the CUDA toolkit has it"
  runner=(sanitizers/sanitizers.py "$sanitizer")
  shift 2
elif [ "${1:-}" = --coverage ]; then
  preset=coverage
  runner=(coverage/coverage.py --device)
  shift
elif [ "${1:-}" = --mutants ]; then
  shift
  if [ -z "${PETSC_DIR:-}" ]; then
    need_petsc real
    export PETSC_DIR=$petsc PETSC_ARCH=
  fi
  python3 "$top/tests/mutants/mutants.py" --device "$@"
  exit
fi

builds=()
cmake_options=(-DCOMPOUND_TIER="$tier" -DCOMPOUND_TEST_RANKS="$ranks" -DCOMPOUND_CUDA=ON -DCOMPOUND_DEVICE_CODE=ON)
# On many cores the tests take longer than compiling; -O2 counts the same lines.
if [ "${preset:-}" = coverage ]; then cmake_options+=(-DCMAKE_CXX_FLAGS_DEBUG="-O2 -DNDEBUG -fno-early-inlining"); fi
# device_build: for PETSC_DIR.
device_build() {
  local reason
  configure_and_build "${preset:-host}" ON compound_device_tests
  reason=$(why_no_gpu)
  [ -z "$reason" ] || fail "${build#"$top"/} cannot use the GPU: $reason"
  ! grep -q "^-- compound-bench and compound-tune are not built" "$top/build/configure.log" ||
    fail "compound-bench and compound-tune cannot be tested: CMake finds no nlohmann-json" \
      "(Debian: nlohmann-json3-dev; or a folder that has it in CMAKE_PREFIX_PATH)"
  builds+=("$build")
  part_ends "building $(basename "$build")"
}

# Machine code for the device that is here alone, but for the tier all.
if [ $tier = quick ]; then
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
  cmake_options+=(-DCOMPOUND_DEVICE_CODE_CAPABILITIES="$capability")
fi
if [ -n "${PETSC_DIR:-}" ]; then
  device_build
else
  cmake_options+=(-DCOMPOUND_DEVICE_CODE_SCALARS="$(IFS=';'; echo "${scalars[*]}")")
  for scalar in "${scalars[@]}"; do
    need_petsc "$scalar"
    PETSC_DIR=$petsc PETSC_ARCH='' build_name=device-${preset:-$scalar} device_build
    # The core is the same, and tested once.
    cmake_options=(-DCOMPOUND_TIER="$tier" -DCOMPOUND_TEST_RANKS="$ranks" -DCOMPOUND_CUDA=ON -DCOMPOUND_CORE="$build"
      -DCOMPOUND_TESTS_OF="plugin;tools;examples")
  done
fi

export COMPOUND_DEVICE_REQUIRED=1
if [ ${#runner[@]} -gt 0 ]; then
  python3 "$top/tests/${runner[0]}" "${runner[@]:1}" --build "${builds[0]}" -j "$together" "$@"
  exit
fi

all="$top/build/device-tests"
mkdir -p "$all"
printf 'subdirs("%s")\n' "${builds[@]}" >"$all/CTestTestfile.cmake"
say "running the device tests of the tier $tier"
cd "$all" || exit
ctest --output-on-failure -L device -j "$together" "$@" | tee ctest.log |
  sed -u '/% tests passed/,$d' || failed=yes
part_ends "running the tests"
if [ -n "${gpus:-}" ]; then
  solvers=baijcompound/cgcompound,baijcompound/bcgscompound,baijcompound/cg
  for nodes in 15 30 60 90; do
    for processes in 1 "$ranks"; do
      PETSC_OPTIONS="-use_gpu_aware_mpi 0" mpirun -n "$processes" "${builds[0]}/plugin/tools/compound-bench" \
        -device cuda -grid 27 -n "$nodes" -block_size 3 -rounds 7 -min_time 0.02 -pc_type jacobi \
        -types "$solvers" -json "$all/$processes-gpus-$nodes.json" |
        grep "^baijcompound" || failed=yes
    done
  done
  part_ends "times of iterations"
fi
print_parts
sed -n '/% tests passed/,$p' ctest.log
[ -z "${failed:-}" ]
