#!/usr/bin/env bash
# Every test that uses a GPU, on a machine that has one:   bash config/device-test.sh [ctest options, such as -R REGEX]
#
# With PETSC_DIR (and PETSC_ARCH) set, with that PETSc, which must have CUDA; else with PETSc 3.26.1, real and complex, from the
# archives in ../shared/petsc or in the folder that COMPOUND_PETSC_ARCHIVES names. Nothing is installed or downloaded. Ends
# with ctest's summary. What cannot use the device here fails: nothing is skipped for want of one.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

nvidia-smi -L 2>/dev/null | grep -q "^GPU " || fail "there is no GPU here (nvidia-smi -L lists none); the tests without one: bash config/test.sh"

builds=()
cmake_options=(-DCOMPOUND_CUDA=ON -DCOMPOUND_DEVICE_CODE=ON -DCOMPOUND_DEVICE_CODE_SCALARS="real;complex")
# device_build: for PETSC_DIR.
device_build() {
  local start=$SECONDS reason
  configure_and_build host ON compound_device_tests
  reason=$(why_no_gpu)
  [ -z "$reason" ] || fail "${build#"$top"/} cannot use the GPU: $reason"
  builds+=("$build")
  say "built in $((SECONDS - start)) s"
}

if [ -n "${PETSC_DIR:-}" ]; then
  device_build
else
  for scalar in real complex; do
    unpack_petsc $scalar
    [ -n "$petsc" ] || fail "no PETSc with CUDA for $scalar scalars: $why_no_petsc; or set PETSC_DIR (bash config/petsc-cuda.sh builds one)"
    PETSC_DIR=$petsc PETSC_ARCH='' build_name=device-$scalar device_build
    # The core is the same, and tested once.
    cmake_options=(-DCOMPOUND_CUDA=ON -DCOMPOUND_CORE="$build" -DCOMPOUND_TESTS_OF="plugin;tools;examples")
  done
fi

all="$top/build/device-tests"
mkdir -p "$all"
printf 'subdirs("%s")\n' "${builds[@]}" >"$all/CTestTestfile.cmake"
say "running the device tests"
cd "$all"
COMPOUND_DEVICE_REQUIRED=1 ctest --output-on-failure -L device -j "$cores" "$@"
