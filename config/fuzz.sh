#!/usr/bin/env bash
# Fuzzes readers of texts and files:
#
#     bash config/fuzz.sh [--seconds N] [--target NAME]
#     bash config/fuzz.sh --target NAME --reproduce FILE
#
# Each target of tests/fuzz runs for N seconds (60) by libFuzzer with the address and undefined-behaviour sanitizers,
# from the corpus in tests/fuzz/corpus and what earlier runs have found (build/fuzz/NAME). It ends with the first
# finding, whose file is printed; --reproduce runs the target on such a file. Add a file of a mended finding to the
# corpus: the ordinary tests replay it. Needs clang and its fuzzer (Debian: clang, libclang-rt-14-dev).
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=60
targets=(plan device_table wisdom matrix_market)
reproduce=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --target) targets=("$2") ;;
    --reproduce) reproduce=$2 ;;
    *) fail "'$1' is no option; choose --seconds, --target, --reproduce" ;;
  esac
  shift 2
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "--seconds is '$seconds', and must be a whole number from 1"
[ -z "$reproduce" ] || [ ${#targets[@]} -eq 1 ] || fail "--reproduce needs --target NAME"

# The instrumented sources of each target; all else is as the core was built.
declare -A sources=([plan]="src/plan/*.cpp" [device_table]="src/planner/device_tables.cpp"
  [wisdom]="src/planner/wisdom.cpp" [matrix_market]="plugin/tools/bench/matrix_market.cpp")

folder="$top/build/fuzz"
mkdir -p "$folder"
command -v clang++ >/dev/null || fail "there is no clang++ here (Debian: clang, libclang-rt-14-dev)"
echo 'int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' >"$folder/probe.c"
clang -fsanitize=fuzzer "$folder/probe.c" -o "$folder/probe" 2>"$folder/probe.log" ||
  fail "clang has no fuzzer here (Debian: libclang-rt-14-dev): $(head -1 "$folder/probe.log")"

cmake_options=(-DCOMPOUND_DEVICE_CODE=OFF)
configure_and_build host OFF compound_core
libraries=("$build/src/libcompound_core.a" -ldl -lrt -lpthread)
! grep -q "^-- CUDA backend: built" "$top/build/configure.log" ||
  libraries+=("-L${CUDA_HOME:-/usr/local/cuda}/lib64" -lcudart_static -ldl -lrt -lpthread)

for target in "${targets[@]}"; do
  [ -n "${sources[$target]:-}" ] || fail "there is no target '$target'; choose ${!sources[*]}"
  say "building $target"
  # shellcheck disable=SC2086 # a list of files, by patterns
  (cd "$top" && clang++ -std=c++20 -O1 -g -w -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -Isrc -Iplugin/tools -Itests/fuzz "tests/fuzz/$target.cpp" ${sources[$target]} "${libraries[@]}" \
    -o "$folder/fuzz_$target")
  if [ -n "$reproduce" ]; then
    "$folder/fuzz_$target" "$reproduce"
    continue
  fi
  mkdir -p "$folder/$target"
  say "fuzzing $target for $seconds s"
  "$folder/fuzz_$target" "$folder/$target" "$top/tests/fuzz/corpus/$target" -dict="$top/tests/fuzz/words.dict" \
    -max_len=2000 -timeout=10 -rss_limit_mb=256 -max_total_time="$seconds" -artifact_prefix="$folder/finding-$target-" \
    >"$folder/$target.log" 2>&1 || {
    grep -E "does not hold|ERROR|SUMMARY|Test unit" "$folder/$target.log" || tail -5 "$folder/$target.log"
    fail "$target: the log is $folder/$target.log"
  }
  say "$target: $(sed -n 's/^Done //p' "$folder/$target.log"), nothing found"
done
