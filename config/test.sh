#!/usr/bin/env bash
# Sets up, builds and tests:   bash config/test.sh [--all] [--clients] [--petsc] [ctest options, such as -R REGEX]
#
# Two tiers (CONTRIBUTING.md has what each holds, and what it takes):
# - quick, without an option: the cheap checks (config/checks.sh); everything with Debian's PETSc and real scalars; what
#   sees the scalars or the release with PETSc 3.26.1 and complex scalars
# - --all: everything that there is, also with 64-bit indices, with complex scalars and 3.26.1, with sanitizers, and
#   with machine code built in. In parts by ctest's labels: --all -L core (plugin, tools, examples, install, clients,
#   petsc, properties); builds that a part does not need are left out.
#
# PETSc 3.26.1 with CUDA, used with host vectors, comes from the archives in ../shared/petsc, or in the folder that
# COMPOUND_PETSC_ARCHIVES names; its builds are skipped, with the reason, where they are not: the tier quick then takes
# Debian's complex PETSc for what sees the scalars. With PETSC_DIR (and PETSC_ARCH) set: every test of the tier, with
# that PETSc alone. Tests on a GPU: config/device-test.sh.
#
# At the end: what each part took, what was left out and why, which tests were skipped and why, and ctest's summary, of
# all builds together.
#
# --clients installs all client programs first (petsc4py, SLEPc, DOLFINx, PETSc's tutorials, valgrind; about 300 MB),
# runs every test with each of Debian's builds, and takes a missing client for a failure; without it those that are not
# here are skipped, with the reason. Clients alone: bash config/test.sh --clients -L 'install|clients'
#
# --petsc runs the whole table of PETSc's own programs in place of the quick list. Those alone: bash config/test.sh
# --petsc -L petsc
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

tier=quick
clients=no
programs=quick
while :; do
  case ${1:-} in
    --all) tier=all ;;
    --clients) clients=yes ;;
    --petsc) programs=all ;;
    *) break ;;
  esac
  shift
done
if [ "$clients" = yes ] && [ -n "${PETSC_DIR:-}" ]; then
  fail "--clients is for the system's PETSc and its packages; unset PETSC_DIR (found '$PETSC_DIR')"
fi
# The labels that ctest is asked for; every label without that.
labels=.
for ((i = 1; i < $#; ++i)); do
  next=$((i + 1))
  [ "${!i}" != -L ] || labels=${!next}
done

packages=("${build_packages[@]}" libgtest-dev nlohmann-json3-dev xz-utils zlib1g-dev python3-venv clang-tidy)
if [ -z "${PETSC_DIR:-}" ]; then
  packages+=(libpetsc-complex-dev libopenblas-dev abigail-tools)
  [ $tier = quick ] && [ $clients = no ] || packages+=(libpetsc64-real-dev)
fi
install_packages "${packages[@]}"
(install_packages clang libclang-rt-14-dev) || say "going on without a fuzzer; its tests are skipped"

if [ -z "${PETSC_DIR:-}" ]; then
  # shellcheck disable=SC2012 # no such folder has a space in its name
  pc=$(ls -d /usr/lib/petscdir/petsc3.*/*-real/lib/pkgconfig/PETSc.pc | head -1)
  release=$(pkg-config --modversion "$pc" | cut -d. -f1,2)
  quick_clients=(python3-petsc4py python3-petsc4py-real libslepc-real-dev "libpetsc$release-dev-examples")
  all_clients=("${quick_clients[@]}" python3-petsc4py-complex libslepc-complex-dev python3-slepc4py-real
    python3-dolfinx-real python3-dolfinx-complex fenicsx-performance-tests
    libdeal.ii-dev libdeal.ii-doc valgrind man-db)
  if [ "$clients" = yes ]; then
    install_packages "${all_clients[@]}"
    export COMPOUND_CLIENTS_REQUIRED=1
  else
    (install_packages "${quick_clients[@]}") || say "going on without those client programs; their tests are skipped"
  fi
fi
if [ $tier = all ]; then
  (install_packages chromium) || say "going on without Chromium; tests that open pages are skipped"
fi
part_ends packages

if [ "$labels" = . ]; then
  bash "$top/config/checks.sh"
  part_ends "cheap checks"
fi

builds=()
left_out=
# test_build LABELS PRESET [-D option...]: builds it, and its tests are run; not where ctest is asked for none of its
# labels.
test_build() {
  local of=$1 preset=$2
  shift 2
  tr ' ' '\n' <<<"$of" | grep -qE "$labels" || return 0
  cmake_options=(-DCOMPOUND_TIER="$tier" -DCOMPOUND_PETSC_PROGRAMS="$programs" "$@")
  configure_and_build "$preset" ON all
  builds+=("$build")
  left_out+=$(sed -nE "s/^-- Left out( of the tier quick)?: /$(basename "$build"): /p" "$top/build/configure.log")$'\n'
  part_ends "building $(basename "$build")"
}

# Its plugin and what tests that, with the core of the first build.
other=(-DCOMPOUND_CORE="$top/build/host")
plugin_alone=("${other[@]}" -DCOMPOUND_TESTS_OF=plugin -DCOMPOUND_TOOLS=OFF -DCOMPOUND_EXAMPLES=OFF)
# In the tier quick compiling these plugins takes longer than their tests run.
[ $tier = all ] || plugin_alone+=(-DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG")
every="core plugin properties tools examples install clients petsc documents packages"
without_core="plugin properties tools examples install clients packages"

# with_petsc SCALAR LABELS [-D option...]: a build with PETSc 3.26.1 from its archive.
with_petsc() {
  local scalar=$1 of=$2
  shift 2
  unpack_petsc "$scalar"
  if [ -n "$petsc" ]; then
    PETSC_DIR=$petsc PETSC_ARCH='' build_name=$cuda_petsc-$scalar test_build "$of" host "${plugin_alone[@]}" "$@"
  else
    skipped+="skipped: $cuda_petsc-$scalar: $why_no_petsc"$'\n'
  fi
}

if [ $tier = quick ]; then
  test_build "$every" host -DCOMPOUND_DEVICE_CODE=OFF -DCOMPOUND_SIMD=native
  left_out+="host: machine code that is built in: minutes of NVRTC (--all and config/device-test.sh have it)"$'\n'
else
  # Machine code for every plugin that links this core; of real scalars and one capability: the others are made the same
  # way, and core.cuda.kernel_source compiles kernels of complex ones.
  test_build "$every" host -DCOMPOUND_DEVICE_CODE=AUTO -DCOMPOUND_DEVICE_CODE_SCALARS=real \
    -DCOMPOUND_DEVICE_CODE_CAPABILITIES=90 -DCOMPOUND_SIMD="avx512;avx2"
fi
grep "^-- CUDA backend" "$top/build/configure.log" 2>/dev/null | sed 's/^--/==/' || true
if [ -z "${PETSC_DIR:-}" ]; then
  if [ "$clients" = yes ]; then
    for preset in host-complex host-64; do
      test_build "$without_core" $preset "${other[@]}" \
        -DCOMPOUND_TESTS_OF="plugin;tools;examples;install;clients;packages"
    done
  elif [ $tier = quick ]; then
    # One build for two differences from the first. What fails with one of them alone is found by --all.
    with_petsc complex "plugin" -DCOMPOUND_TESTS_SEE="scalars;release"
    other_complex=host-complex
    if [ -z "$petsc" ]; then
      test_build "plugin" host-complex "${plugin_alone[@]}" -DCOMPOUND_TESTS_SEE=scalars
      other_complex=$cuda_petsc-complex
    fi
    left_out+="$other_complex, host-64, $cuda_petsc-real, sanitizers, random cases of complex scalars: --all has them"
    left_out+=$'\n'
  else
    test_build "plugin properties examples" host-complex "${plugin_alone[@]}" -DCOMPOUND_EXAMPLES=ON \
      -DCOMPOUND_TESTS_OF="plugin;examples.lattice_dirac"
    test_build "plugin properties" host-64 "${plugin_alone[@]}"
  fi
  if [ $tier = all ]; then
    with_petsc real "plugin properties petsc" -DCOMPOUND_TESTS_OF="plugin;petsc"
    with_petsc complex "plugin properties"
  fi
fi
if [ $tier = all ]; then
  test_build "core plugin properties tools examples" asan
  if [ -z "${PETSC_DIR:-}" ]; then
    build_name=asan-complex test_build "plugin examples" asan -DCOMPOUND_SCALAR=complex \
      -DCOMPOUND_CORE="$top/build/asan" -DCOMPOUND_TOOLS=OFF -DCOMPOUND_TESTS_OF="plugin;examples.lattice_dirac"
  fi
  test_build "core plugin" tsan
fi
[ ${#builds[@]} -gt 0 ] || fail "no build has tests with a label like '$labels'; the labels: $every"

if [ $tier = all ] && grep -qE "$labels" <<<documents; then
  bash "$top/config/docs.sh"
  part_ends "making the site"
fi

# Installing by pip takes 20 minutes; it has no label of ctest's, which asks for `packages`.
if [ $tier = all ] && [ -z "${PETSC_DIR:-}" ] && grep -qE "$labels" <<<packages; then
  bash "$top/config/package-test.sh" >"$top/build/package-test.log" 2>&1 ||
    { tail -60 "$top/build/package-test.log"; failed=yes; }
  skipped+=$(sed -n '/^skipped: /p' "$top/build/package-test.log")
  part_ends "installing by pip"
fi

# One ctest over all builds: its summary then counts everything.
all="$top/build/all-tests"
mkdir -p "$all"
printf 'subdirs("%s")\n' "${builds[@]}" >"$all/CTestTestfile.cmake"
say "running the tests of the tier $tier"
cd "$all" || exit
# Its summary comes after the reasons of what was skipped.
ctest --output-on-failure -j "$cores" "$@" | tee ctest.log | sed -u '/% tests passed/,$d' || failed=yes
part_ends "running the tests"
print_parts
printf '%s' "$left_out" | sed '/^$/d; s/^/== left out: /'
reasons=${skipped:-}$(grep -h "^skipped: " "$all/Testing/Temporary/LastTest.log" 2>/dev/null | sort | uniq -c || true)
[ -z "$reasons" ] || printf '%s\n' "skipped tests and why:" "$reasons"
sed -n '/% tests passed/,$p' ctest.log
[ -z "${failed:-}" ]
