#!/usr/bin/env bash
# Repeats what long jobs do, and looks for what grows:
#
#     bash config/soak.sh --hours H [--device] [--record] [SCENARIO...]
#
# New values, new patterns, coordinates, duplicates, submatrices, matrices that come and go or change their type, of
# every type; solvers, plans and tuning: each on 1, 2 and 3 processes, in H hours altogether (tests/soak/soak.cpp), or
# those scenarios that are named. A round does it once or twice with each type. A row has the state after the first
# tenth of the rounds and at the end, on the process where it grew most: memory in MB, open files, communicators, and a
# round's time on a processor in milliseconds. Memory and handles may grow by 1 %, times by 5 % (in a tenth of less than
# 20 rounds or a second by anything). A row whose time alone has grown runs once more, as other work on the machine does
# that, too. Ends with 1, and says what grew, where more does.
#
# --device: with vectors and products on a GPU, with PETSC_DIR, or PETSc 3.26.1 from its archive
# (config/device-test.sh). Its memory is that of all programs there: let no other use the GPU (CUDA_VISIBLE_DEVICES
# chooses one).
#
# --record: rows in which nothing grew are kept in tests/soak/record.json, for docs/trust.md.
#
# COMPOUND_SOAK_BUILD names a build with the target `soak` that is used as it is.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

hours=
options=()
keep=(python3 "$top/tests/soak/record.py")
record=no
scenarios=()
while [ $# -gt 0 ]; do
  case $1 in
    --hours) hours=${2:-}; shift ;;
    --device) options=(-soak_mat_vec_type cuda -use_gpu_aware_mpi 0); keep+=(--device) ;;
    --record) record=yes ;;
    -*) fail "'$1' is no option; choose --hours, --device, --record" ;;
    *) scenarios+=("$1") ;;
  esac
  shift
done
[[ $hours =~ ^[0-9]*\.?[0-9]+$ ]] || fail "--hours is '$hours', and must be a number, such as 0.5"

build=${COMPOUND_SOAK_BUILD:-}
if [ -z "$build" ]; then
  if [ ${#options[@]} -gt 0 ] && [ -z "${PETSC_DIR:-}" ]; then
    unpack_petsc real
    [ -n "$petsc" ] || fail "no PETSc with CUDA: $why_no_petsc; or set PETSC_DIR"
    export PETSC_DIR=$petsc PETSC_ARCH=
    build_name=device-real
  fi
  configure_and_build host ON petsccompound soak
fi
if [ ${#options[@]} -gt 0 ]; then
  reason=$(why_no_gpu)
  [ -z "$reason" ] || fail "--device: ${build#"$top"/} cannot use the GPU: $reason"
fi

soak=$build/tests/soak/soak
mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:FILEPATH=//p' "$build/CMakeCache.txt")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder  # wisdom, kernels
mapfile -t known < <("$mpiexec" -n 1 "$soak" -soak_list)
for scenario in "${scenarios[@]}"; do
  [[ " ${known[*]} " == *" $scenario "* ]] || fail "'$scenario' is no scenario; choose from ${known[*]}"
done
[ ${#scenarios[@]} -gt 0 ] || scenarios=("${known[@]}")
seconds=$(awk "BEGIN { print $hours * 3600 / (3 * ${#scenarios[@]}) }")

printf '%-12s %5s %8s %15s %15s %15s %15s %7s %7s %17s\n' '' ranks rounds RSS malloc PetscMalloc device files comms ms
failed=
for scenario in "${scenarios[@]}"; do
  for ranks in 1 2 3; do
    for try in first second; do
      timeout "$(awk "BEGIN { print 300 + 10 * $seconds }")" "$mpiexec" -n "$ranks" "$soak" \
        -dll_append "$build/plugin/libpetsccompound.so" -soak "$scenario" -soak_seconds "$seconds" "${options[@]}" \
        >"$folder/log" 2>&1 && ended=well || ended=badly
      grep -m 1 "^$scenario .*\(steady\|grew\)" "$folder/log" || tail -20 "$folder/log"
      if [ $try = second ] || ! grep -q "^$scenario .* grew: time by [0-9.]* %$" "$folder/log"; then break; fi
    done
    if [ "$ended" = badly ]; then
      failed+=" $scenario.$ranks"
    elif [ $record = yes ]; then
      "${keep[@]}" "$folder/log"
    fi
  done
done
[ -z "$failed" ] || fail "what grew, or did not run:$failed"
