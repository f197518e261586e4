#!/usr/bin/env bash
# Installs the Python package by pip as users do, and runs it:   bash config/package-test.sh [PART...]
#
#   real      an environment with Debian's petsc4py: pip install . from the tree, in an isolated build
#   complex   Debian's petsc4py with complex scalars: pip install of the sdist, unpacked elsewhere, without isolation
#   release   petsc4py 3.26.1, built from its source for PETSc 3.26.1: pip install . finds that PETSc by petsc4py
#   wrong     each wrong PETSC_DIR ends pip with one line
#
# Without a PART: all of them, 20 minutes on two cores. Each part imports, calls all functions and solves on 1 and 2
# ranks, and then uninstalls and looks for what is left. PETSc 3.26.1 comes from the archives in ../shared/petsc, or in
# the folder that COMPOUND_PETSC_ARCHIVES names; petsc4py from the package index, or from the file that
# COMPOUND_PETSC4PY names. What cannot run for want of one of these is skipped, with the reason.
#
#   bash config/package-test.sh --device
#
# runs the part `release` on a machine with a GPU and without a network: petsc4py is built from the file, and the solve
# runs on the GPU (COMPOUND_PETSC_SCALAR=complex for complex scalars). Its python3 must have numpy, cython, setuptools
# and scikit-build-core; COMPOUND_PYTHON names another one.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
unset PETSC_DIR PETSC_ARCH PETSC_OPTIONS PYTHONPATH VIRTUAL_ENV

asked=(real complex release wrong)
device=no
if [ "${1:-}" = --device ]; then
  device=yes
  asked=(release)
elif [ $# -gt 0 ]; then
  for part in "$@"; do
    [[ " ${asked[*]} " == *" $part "* ]] || fail "there is no part '$part'; choose ${asked[*]}, or --device alone"
  done
  asked=("$@")
fi
work=$top/build/packages
mkdir -p "$work"
export CMAKE_BUILD_PARALLEL_LEVEL=$cores XDG_CACHE_HOME=$work/cache PIP_DISABLE_PIP_VERSION_CHECK=1
rm -rf "$work/cache/petsc-compound"
reasons=

# logged NAME COMMAND...: its output is in build/packages/NAME.log, and shown if it fails.
logged() {
  local log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 || { tail -60 "$log"; fail "'$*' failed; ${log#"$top"/} has all of it"; }
}

files_of() { (cd "$1" && find . -not -name '*.pyc' -not -name __pycache__ | sort); }

# environment NAME PYTHON [OPTION...]: an empty one in build/packages/NAME. Sets venv, and python to its interpreter.
environment() {
  venv=$work/$1
  python=$venv/bin/python
  rm -rf "$venv"
  logged "$1-venv" "$2" -m venv "${@:3}" "$venv"
}

# install NAME WHAT [OPTION...]: by pip, from WHAT; says what it took and what the build was for.
install() {
  local name=$1 began=$SECONDS
  files_of "$venv" >"$work/$name-before.txt"
  logged "$name" "$python" -m pip install -v --no-cache-dir "${@:3}" "$2"
  say "$name: pip install took $((SECONDS - began)) s"
  grep -m 2 -E "^ *(petsc-compound is built for|found by)" "$work/$name.log" | sed 's/^ */== /'
  grep -o -m 1 "filename=petsc_compound-.*" "$work/$name.log" | sed "s/^/== $name: /"
}

# check NAME [OPTION of the program...]: all functions on 1 and 2 ranks, before and after petsc4py, and the table.
check() {
  local name=$1 ranks way
  shift
  cd "$work"  # not the tree, whose plugin/python is not what was installed
  "$python" -m petsccompound --check | sed 's/^/   /' || fail "$name: --check failed"
  for ranks in 1 2; do
    for way in "" "--after --aij"; do
      # shellcheck disable=SC2086 # words
      mpiexec -n $ranks "$python" "$top/tests/packages/program.py" $way "$@" || fail "$name: program.py on $ranks ranks"
    done
  done
  "$python" - <<'END' || fail "$name: measuring failed"
import os, statistics, subprocess, sys
import petsccompound
here = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
def median(text):
    times = [float(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=here).stdout)
             for _ in range(5)]
    return 1e3 * statistics.median(times)
imported = median("import time; t = time.perf_counter(); import petsccompound; print(time.perf_counter() - t)")
started = median("import time, petsccompound, petsc4py; petsc4py.init(['-use_gpu_aware_mpi', '0']); "
                 "from petsc4py import PETSc; t = time.perf_counter(); petsccompound.init(); "
                 "print(time.perf_counter() - t)")
size = os.path.getsize(petsccompound.plugin())
print(f"== import petsccompound {imported:.0f} ms; init() beyond petsc4py.init() {started:.0f} ms; "
      f"plugin {size / 1e6:.1f} MB (medians of 5)")
END
  cd "$top"
}

# uninstall NAME: nothing that pip brought is left.
uninstall() {
  logged "$1-uninstall" "$python" -m pip uninstall -y petsc-compound
  diff "$work/$1-before.txt" <(files_of "$venv") >"$work/$1-left.txt" ||
    { cat "$work/$1-left.txt"; fail "$1: files are left, or are gone, after pip uninstall"; }
  say "$1: uninstall leaves nothing"
}

# sdist: makes build/packages/sdist/petsc_compound-*.tar.gz and unpacks it outside the tree; sets unpacked. It holds the
# files of the tree, but figures and the papers' records.
sdist() {
  local archive
  [ -x "$work/tools/bin/python" ] || logged tools "$1" -m venv "$work/tools"
  logged tools-pip "$work/tools/bin/pip" install -q build
  rm -rf "$work/sdist"
  logged sdist "$work/tools/bin/python" -m build --sdist --outdir "$work/sdist" "$top"
  archive=$(echo "$work"/sdist/petsc_compound-*.tar.gz)
  unpacked=$(mktemp -d "${TMPDIR:-/tmp}/petsc-compound.XXXXXX")
  trap 'rm -rf "$unpacked"' EXIT
  tar xf "$archive" -C "$unpacked" --strip-components=1
  comm -23 <(git -C "$top" ls-files | grep -vE '^(docs/images/|docs/reproduction/.*\.json\.xz$|\.)' | sort) \
    <(cd "$unpacked" && find . -type f | sed 's|^\./||' | sort) >"$work/sdist-files.txt"
  [ ! -s "$work/sdist-files.txt" ] || { cat "$work/sdist-files.txt"; fail "the sdist has not these files of the tree"; }
  ! find "$unpacked" -name '*.json.xz' -o -path '*/docs/images/*' | grep -q . || fail "the sdist has figures or records"
  say "sdist: $(stat -c %s "$archive" | numfmt --to=si)B, $(find "$unpacked" -type f | wc -l) files"
}

part_real() {
  environment real "$system" --system-site-packages
  install real "$top"
  check real
  uninstall real
}

part_complex() {
  sdist "$system"
  environment complex "$system" --system-site-packages
  logged complex-tools "$python" -m pip install -q scikit-build-core
  export PETSC_DIR=$complex_petsc
  install complex "$unpacked" --no-build-isolation --no-deps
  check complex
  uninstall complex
  unset PETSC_DIR
}

# petsc4py: into the environment, from its source, for the PETSc that unpack_petsc has unpacked.
petsc4py() {
  local what=${COMPOUND_PETSC4PY:-petsc4py==3.26.1} conf=$petsc/lib/petsc/conf old
  # petsc4py compiles by what these name, which is where PETSc was before it was packed.
  old=$(sed -n 's|^ *.--prefix=\([^ ,]*\).,$|\1|p' "$conf"/reconfigure-*.py | head -1)
  [ -z "$old" ] || sed -i "s|$old|$petsc|g" "$conf/petscvariables" "$conf/variables"
  [ -z "${COMPOUND_PETSC4PY:-}" ] || [ -f "$what" ] || fail "COMPOUND_PETSC4PY names $what, which is not a file"
  # Its 300,000 lines of C take minutes to optimise, and only call PETSc.
  PETSC_DIR=$petsc PETSC_ARCH='' CFLAGS=-O0 logged petsc4py "$python" -m pip install --no-build-isolation --no-deps \
    --no-cache-dir "$what"
}

part_release() {
  local scalar=${COMPOUND_PETSC_SCALAR:-real} options=(-use_gpu_aware_mpi 0) capability
  unpack_petsc "$scalar"
  if [ -z "$petsc" ]; then
    [ $device = no ] || fail "$why_no_petsc"
    reasons+="skipped: release: $why_no_petsc"$'\n'
    return
  fi
  if [ $device = no ]; then
    environment release "$system"
    logged release-tools "$python" -m pip install -q numpy cython 'setuptools<81' wheel
    petsc4py
    part_ends "release: petsc4py"
    install release "$top" --config-settings=cmake.define.COMPOUND_DEVICE_CODE=OFF
  else
    environment release "${COMPOUND_PYTHON:-python3}" --system-site-packages
    # What the environment's own interpreter has, which may be an environment itself, is seen as well.
    "${COMPOUND_PYTHON:-python3}" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
      >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/outer.pth"
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
    petsc4py &
    PETSC_DIR=$petsc install release "$top" --no-build-isolation --no-deps \
      --config-settings=cmake.define.COMPOUND_DEVICE_CODE_CAPABILITIES="$capability"
    wait $! || fail "petsc4py was not built"
    options+=(-vec_type cuda)
  fi
  check release "${options[@]}"
  [ $device = no ] || "$python" -m petsccompound --check | grep -E "^device +NVIDIA" || fail "--check names no device"
  uninstall_release
}

uninstall_release() {
  if [ $device = yes ]; then  # petsc4py came while files were counted
    logged petsc4py-uninstall "$python" -m pip uninstall -y petsc4py
  fi
  uninstall release
}

# Before pip downloads anything but scikit-build-core it says what is wrong.
part_wrong() {
  environment wrong "$system"
  local folder=$work/nothing name
  mkdir -p "$folder"
  for name in "$folder" /nonexistent; do
    if PETSC_DIR=$name "$python" -m pip install "$top" >"$work/wrong.log" 2>&1; then
      fail "pip install with PETSC_DIR=$name succeeded"
    fi
    grep -E "^ *petsc-compound: .*$name" "$work/wrong.log" || { cat "$work/wrong.log"; fail "no line about $name"; }
  done
}

system=/usr/bin/python3
if [ $device = yes ]; then
  nvidia-smi -L 2>/dev/null | grep -q "^GPU " || fail "there is no GPU here (nvidia-smi -L lists none)"
else
  install_packages "${build_packages[@]}" python3-venv python3-dev python3-petsc4py python3-petsc4py-real \
    python3-petsc4py-complex libpetsc-real-dev libpetsc-complex-dev xz-utils
  # shellcheck disable=SC2012 # no such folder has a space in its name
  complex_petsc=$(ls -d /usr/lib/petscdir/petsc3.*/*-complex | head -1)
  part_ends packages
fi
for part in "${asked[@]}"; do
  say "part $part"
  "part_$part"
  part_ends "$part"
done
print_parts
printf '%s' "$reasons"
say "the Python package works: ${asked[*]}"
