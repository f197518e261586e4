#!/usr/bin/env bash
# Fuzzes readers of texts and files:
#
#     bash config/fuzz.sh [--seconds N] [--target NAME] [--record]
#     bash config/fuzz.sh --target NAME --reproduce FILE
#
# Each target of tests/fuzz runs for N seconds (60) by libFuzzer with the address and undefined-behaviour sanitizers,
# from the corpus in tests/fuzz/corpus and what earlier runs have found (build/fuzz/NAME). It ends with the first
# finding, whose file is printed; --reproduce runs the target on such a file. Add a file of a mended finding to the
# corpus: the ordinary tests replay it. Needs clang and its fuzzer (Debian: clang, libclang-rt-14-dev). What is not
# instrumented comes from build/host (COMPOUND_FUZZ_BUILD: another folder of a build), which is left as it was
# configured. --record adds the runs of a target without a finding to tests/fuzz/record.json; those before a finding no
# longer count.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=60
reproduce=
asked=
record=no
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --target) asked=$2; shift ;;
    --reproduce) reproduce=$2; shift ;;
    --record) record=yes ;;
    *) fail "'$1' is no option; choose --seconds, --target, --reproduce, --record" ;;
  esac
  shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "--seconds is '$seconds', and must be a whole number from 1"
[ -z "$reproduce" ] || [ -n "$asked" ] || fail "--reproduce needs --target NAME"

# target NAME PARTS SOURCE...: the instrumented sources of a target, and the parts of the build that it links beside the
# core; all else is as it was built. `cuda` is the core's backend.
declare -A parts_of sources
targets=()
target() {
  targets+=("$1")
  parts_of[$1]=$2
  sources[$1]="${*:3}"
}
cd "$top"
target plan core src/plan/*.cpp
target device_table core src/planner/device_tables.cpp
target wisdom core src/planner/wisdom.cpp
target matrix_market core plugin/tools/bench/matrix_market.cpp
target coo plugin plugin/coo/*.cpp
target load plugin plugin/mat/load.cpp
target options plugin plugin/options/*.cpp plugin/ksp/cg.cpp plugin/spmv/choices.cpp
target cubin cuda src/cuda/cubin_cache.cpp src/cuda/private_folder.cpp
target entry_text cuda src/cuda/entry_file.cpp src/entry/registry.cpp
target gmsh "plugin examples" examples/common/gmsh_file.c examples/common/volume_mesh_gmsh.c
target surface "plugin examples" examples/common/{surface_*,grey_image,gauge_file}.c
target dat "plugin tools" plugin/tools/bench/{parent_matrix,matrix_market,block_rows}.cpp plugin/mat/load.cpp
target planted core
unset 'targets[-1]'  # it has a fault, which must be found: where it is asked for alone
if [ -n "$asked" ]; then
  [ -n "${parts_of[$asked]:-}" ] || fail "there is no target '$asked'; choose ${targets[*]}"
  targets=("$asked")
fi

folder="$top/build/fuzz"
mkdir -p "$folder"
# skip REASON: as tests that are skipped end.
skip() { echo "skipped: $1" >&2; exit 77; }
command -v clang++ >/dev/null || skip "there is no clang++ here (Debian: clang, libclang-rt-14-dev)"
echo 'int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' >"$folder/probe.c"
clang -fsanitize=fuzzer "$folder/probe.c" -o "$folder/probe" 2>"$folder/probe.log" ||
  skip "clang has no fuzzer here (Debian: libclang-rt-14-dev): $(head -1 "$folder/probe.log")"

# What CMake builds of each part, and its folder of objects: archives are made of these, of which the linker takes
# nothing that a target brings instrumented.
declare -A made_by=([core]=compound_core [cuda]=compound_core [plugin]=petsccompound [tools]=compound_bench_parts
  [examples]=examples_common)
made=(compound_core)
for name in "${targets[@]}"; do
  for part in ${parts_of[$name]}; do made+=("${made_by[$part]}"); done
done
build=${COMPOUND_FUZZ_BUILD:-$top/build/host}
if [ -f "$build/CMakeCache.txt" ]; then
  say "building what is not instrumented in $build"
  cmake --build "$build" --target "${made[@]}" >"$folder/build.log" 2>&1 ||
    { tail -60 "$folder/build.log"; fail "building failed"; }
else
  cmake_options=(-DCOMPOUND_DEVICE_CODE=OFF)
  configure_and_build host OFF "${made[@]}"
fi
archives=()
for part in plugin tools examples; do
  objects=$(find "$build" -path "*/${made_by[$part]}.dir/*.o")
  rm -f "$folder/$part.a"
  # shellcheck disable=SC2086 # a list of files
  [ -z "$objects" ] || { ar rc "$folder/$part.a" $objects; archives+=("$folder/$part.a"); }
done
sanitize=("-fsanitize=fuzzer,address,undefined" -fno-sanitize-recover=undefined)
# Include folders, definitions and libraries are the plugin's, which has those of PETSc, MPI and CUDA.
read -ra flags < <(sed -n '/"command".*plugin.register.cpp"/{s/\\"/"/g; p}' "$build/compile_commands.json" |
  grep -oE -- '-(I|D|isystem )[^ ]+' | paste -sd ' ')
flags+=("-I$top/plugin/tools" "-I$top/plugin/tools/bench" "-I$top/examples/common" "-I$top/tests/fuzz"
  -DOMPI_SKIP_MPICXX -U_FORTIFY_SOURCE -O1 -gline-tables-only -w "${sanitize[@]}")
read -ra libraries < <(sed -n '/^build plugin\/libpetsccompound.so/,/^$/s/ *LINK_LIBRARIES = //p' "$build/build.ninja")
has_cuda=$(printf '%s\n' "${flags[@]}" | grep -cx -- -DCOMPOUND_HAVE_CUDA || true)

# compile SOURCE OBJECT
compile() {
  case $1 in
    *.c) clang -std=gnu11 "${flags[@]}" -c "$1" -o "$2" ;;
    *) clang++ -std=c++20 "${flags[@]}" -c "$1" -o "$2" ;;
  esac
}

# Sanitizers keep freed memory for a while; this much of the 256 MB. What PETSc and MPI keep until the end is no leak.
export ASAN_OPTIONS=quarantine_size_mb=16:leak_check_at_exit=0:detect_odr_violation=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
# Of a process: what PETSc's functions hold when they end with an error adds up in it.
most_seconds=120

for name in "${targets[@]}"; do
  if [ "${parts_of[$name]}" = cuda ] && [ "$has_cuda" = 0 ]; then
    say "skipped: $name needs CUDA's headers, which $build was built without"
    continue
  fi
  say "building $name"
  # Those of a language together: half the time.
  objects=()
  for suffix in c cpp; do
    # shellcheck disable=SC2086 # a list of files
    together=$(printf '%s\n' ${sources[$name]} "tests/fuzz/$name.cpp" | grep "\.$suffix$") || continue
    while read -r source; do printf '#include "%s"\n' "$top/$source"; done <<<"$together" >"$folder/$name.$suffix"
    objects+=("$folder/$name-$suffix.o")
    compile "$folder/$name.$suffix" "${objects[-1]}"
  done
  # What is compiled together there brings what is instrumented here, too: the first one counts.
  (cd "$build" && clang++ "${sanitize[@]}" "${objects[@]}" -Wl,-z,muldefs \
    -Wl,--as-needed,--start-group "${archives[@]}" "${libraries[@]}" -Wl,--end-group -lm -o "$folder/fuzz_$name")
  if [ -n "$reproduce" ]; then
    "$folder/fuzz_$name" "$reproduce"
    continue
  fi
  mkdir -p "$folder/$name"
  corpus=("$folder/$name" "$top/tests/fuzz/corpus/$name")
  [ -d "${corpus[1]}" ] || corpus=("${corpus[0]}")
  say "fuzzing $name for $seconds s"
  : >"$folder/$name.log"
  for ((left = seconds; left > 0; left -= most_seconds)); do
    "$folder/fuzz_$name" "${corpus[@]}" -dict="$top/tests/fuzz/words.dict" -max_len=2000 -timeout=10 \
      -rss_limit_mb=256 -max_total_time=$((left < most_seconds ? left : most_seconds)) -close_fd_mask=1 \
      -artifact_prefix="$folder/finding-$name-" >>"$folder/$name.log" 2>&1 || {
      grep -E "does not hold|ERROR|SUMMARY|Test unit" "$folder/$name.log" || tail -5 "$folder/$name.log"
      [ $record = no ] || python3 tests/fuzz/record.py --found "$name"
      fail "$name: the log is $folder/$name.log"
    }
  done
  done_in=$(awk '/^Done /{ runs += $2; s += $5 } END { print runs " runs in " s " s" }' "$folder/$name.log")
  say "$name: $done_in, nothing found"
  [ $record = no ] || python3 tests/fuzz/record.py "$name" "$folder/$name.log"
done
