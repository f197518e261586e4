#!/usr/bin/env bash
# The cheap checks, in less than a minute:   bash config/checks.sh [NAME...] [-- FILE...]
#
#   format     clang-format 14.0.6 on C and C++
#   includes   which file may include which (tests/src/check_includes.py)
#   documents  links, paths, options and variables in documents exist (tests/check_documents.py); docs/reference is
#              what its script makes of the source, and numbers what the records give (config/figures.py)
#   words      old words are in no text that users read (tests/documents/words_test.py, its list old_words.txt)
#   spelling   codespell; correct words that it does not know are in config/spelling.txt
#   shell      shellcheck on shell scripts
#   python     ruff on Python, by config/ruff.toml
#   columns    no line of more than 120 columns
#   tidy       clang-tidy on C++ that differs from COMPOUND_CHECKS_BASE (a commit; by default where HEAD left
#              origin/main, else HEAD~1), the most changed first, for 30 s; COMPOUND_CHECKS_TIDY=all: until all are done
#
# All of them, or those named; on the whole tree, or on the files given. All run, even if one fails; exit status 1 if
# any did. config/check-text.sh runs all but tidy. The programs come from the Python package index into build/checks, in
# the versions of config/checks-requirements.txt; where that is out of reach those on PATH are taken. clang-tidy is the
# system's.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$top"
export LC_ALL=C.UTF-8  # columns are characters

names=(format includes documents words spelling shell python columns tidy)
tools=$top/build/checks

asked=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [[ " ${names[*]} " == *" $1 "* ]] || fail "there is no check '$1'; choose ${names[*]}"
  asked+=("$1")
  shift
done
[ ${#asked[@]} -gt 0 ] || asked=("${names[@]}")
given=("${@:2}")
git rev-parse --git-dir >/dev/null || fail "the checks ask git for the files of the tree: run them in a clone"

# files PATHSPEC...: those of the tree, or of those given, that match; each ends with a zero byte.
files() {
  local file
  git ls-files -z -- "$@" | while IFS= read -r -d '' file; do
    if [ -f "$file" ] && { [ ${#given[@]} -eq 0 ] || [[ " ${given[*]} " == *" $file "* ]]; }; then
      printf '%s\0' "$file"
    fi
  done
}
text=(':!*.svg' ':!*.png' ':!*.xz' ':!*.msh' ':!*.ipynb' ':!tests/fuzz/corpus')

# The programs' environment, made once, and again when the versions change or it has been moved. Sets no_tools to the
# reason if it cannot be.
no_tools=
make_tools() {
  local list=config/checks-requirements.txt
  if cmp -s "$list" "$tools/made-of.txt" && "$tools/bin/codespell" --version >/dev/null 2>&1; then
    return
  fi
  rm -rf "$tools"
  if ! python3 -m venv "$tools" >build/checks.log 2>&1; then
    no_tools="python3 -m venv failed (on Debian and Ubuntu it needs the package python3-venv)"
  elif ! "$tools/bin/pip" install -q --disable-pip-version-check -r "$list" >>build/checks.log 2>&1; then
    no_tools="pip cannot install what $list names (build/checks.log says why)"
  else
    cp "$list" "$tools/made-of.txt"
    return
  fi
  rm -rf "$tools"
}

# tool PROGRAM: sets $program to the pinned one, else to the one on PATH, whose version it prints.
tool() {
  program=$tools/bin/$1
  if [ -n "$no_tools" ]; then
    program=$(command -v "$1") ||
      { echo "$1 is missing: $no_tools, and $1 is not on PATH. Mend that, or install $1."; return 1; }
    echo "$1 is the one on PATH, $("$program" --version | grep -o '[0-9][0-9.]*' | head -1): $no_tools"
  fi
}

check_format() {
  tool clang-format && files '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0r "$program" --dry-run -Werror
}

check_includes() {
  python3 -B tests/src/check_includes.py --self-test && python3 -B tests/src/check_includes.py
}

check_documents() {
  python3 -B tests/check_documents.py --self-test && python3 -B tests/check_documents.py &&
    python3 -B docs/reference/make_reference.py --check &&
    python3 -B config/figures.py --check && python3 -B tests/documents/typed_numbers_test.py
}

check_words() {
  python3 -B tests/documents/words_test.py --self-test && python3 -B tests/documents/words_test.py
}

check_spelling() {
  tool codespell && files "${text[@]}" | xargs -0r "$program" --ignore-words config/spelling.txt
}

check_shell() {
  tool shellcheck && files '*.sh' .ci/run | xargs -0r "$program" --external-sources --source-path=SCRIPTDIR
}

check_python() {
  tool ruff && files '*.py' |
    xargs -0r "$program" check --quiet --no-cache --output-format concise --config config/ruff.toml
}

# Left out are files that are generated or recorded, and lines that cannot be broken: in Markdown rows of tables, blocks
# of code, which show commands and what programs print, and comments that tests read; anywhere one long word, as an
# address.
recorded=(':!*.json' ':!*.patch' ':!*.abi' ':!src/planner/device_tables.inc' ':!tests/petsc/table.txt'
  ':!tests/examples/helmholtz_reference.txt' ':!docs/reproduction/tuning-study.txt')
unbreakable='^[^:]*\.md:[0-9]+:( *\||    |<!--)|^[^:]*:[0-9]+:[^[:alnum:]]*[^ ]{100,}$'

check_columns() {
  local found
  found=$(files "${text[@]}" "${recorded[@]}" | xargs -0r grep -HnE '^.{121,}' | grep -vE "$unbreakable") || return 0
  printf '%s\n' "$found" | sed -E 's/^([^:]*:[0-9]+):(.{50}).*/\1: more than 120 columns: \2.../'
  return 1
}

# changed: C++ that differs from the base, the most changed first.
changed() {
  local base=${COMPOUND_CHECKS_BASE:-}
  [ -n "$base" ] || base=$(git merge-base origin/main HEAD 2>/dev/null) || true
  if [ -z "$base" ] || { [ -z "${COMPOUND_CHECKS_BASE:-}" ] && [ "$base" = "$(git rev-parse HEAD)" ]; }; then
    base=$(git rev-parse --verify -q HEAD~1) || return 0
  fi
  git diff --numstat --no-renames "$base" -- '*.cpp' '*.hpp' | sort -rn | cut -f3
}

# A header stands for the source of its name.
check_tidy() {
  local tidy all file sources=() until=$((EPOCHSECONDS + 30))
  [ "${COMPOUND_CHECKS_TIDY:-}" != all ] || until=$((EPOCHSECONDS + 86400))
  tidy=$(command -v clang-tidy) || { echo "left out: clang-tidy is not installed"; return 0; }
  mapfile -t all < <(if [ ${#given[@]} -gt 0 ]; then printf '%s\n' "${given[@]}"; else changed; fi |
    sed 's/\.hpp$/.cpp/' | awk '!seen[$0]++')
  [ ${#all[@]} -gt 0 ] || { echo "left out: no C++ has changed"; return 0; }
  cmake --preset tidy -DCOMPOUND_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    >build/tidy.log 2>&1 ||
    { tail -20 build/tidy.log; echo "configuring the preset tidy failed"; return 1; }
  for file in "${all[@]}"; do
    ! grep -qF "\"file\": \"$top/$file\"" build/tidy/compile_commands.json || sources+=("$file")
  done
  [ ${#sources[@]} -gt 0 ] || { echo "left out: this machine compiles none of what has changed"; return 0; }
  # shellcheck disable=SC2016 # the inner shell expands these
  printf '%s\n' "${sources[@]}" | xargs -P "$cores" -I {} bash -c '
    [ "$EPOCHSECONDS" -lt "$1" ] || { echo "left out for time: $3"; exit; }
    found=$("$2" -p build/tidy --quiet --warnings-as-errors="*" "$3" 2>&1) && exit
    unread=$(grep -m 1 clang-diagnostic-error <<<"$found") &&
      { echo "left out, clang-tidy cannot read it: $unread"; exit; }
    printf "%s\n" "$found"
    exit 1' _ "$until" "$tidy" {}
}

mkdir -p build
if [[ " ${asked[*]} " =~ \ (format|spelling|shell|python)\  ]]; then
  make_tools
fi
failed=()
for name in "${asked[@]}"; do
  begin=$SECONDS
  if "check_$name"; then
    say "checks: $name ok in $((SECONDS - begin)) s"
  else
    say "checks: $name FAILED in $((SECONDS - begin)) s"
    failed+=("$name")
  fi
done
[ ${#failed[@]} -eq 0 ] || fail "checks failed: ${failed[*]}"
