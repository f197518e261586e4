#!/usr/bin/env bash
# Makes a release of this tree:   bash config/release.sh [--dry-run]
#
# - checks: nothing uncommitted, one version in all files, a dated heading in CHANGELOG.md, no such tag yet, a
#   description of its binary interface, the tests of documents
# - the source package, as `python -m build --sdist` makes it, in build/release
# - the annotated tag v<version>, with what CHANGELOG.md says as its text
#
# --dry-run does all but the tag, and says what the tag would be. Nothing is pushed or uploaded: the last lines say how.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$top"
python=${COMPOUND_RELEASE_PYTHON:-python3}

dry=no
case ${1:-} in
  '') ;;
  --dry-run) dry=yes ;;
  *) fail "unknown option '$1'; usage: bash config/release.sh [--dry-run]" ;;
esac
[ $# -le 1 ] || fail "one option at most, found $#: $*; usage: bash config/release.sh [--dry-run]"

# All problems are reported at once.
wrong=0
problem() { printf 'error: %s\n' "$*" >&2; wrong=$((wrong + 1)); }

git rev-parse --git-dir >/dev/null 2>&1 || fail "$top is no clone of a git repository: a release is a tag of one"
changed=$(git status --porcelain)
if [ -n "$changed" ]; then
  problem "$(wc -l <<<"$changed") files differ from the last commit; commit or remove them (git status):" \
    "$(head -5 <<<"$changed" | cut -c4- | paste -sd ' ')"
fi
version=$(python3 -B config/versions.py 2>&1) ||
  { printf '%s\n' "$version" >&2; wrong=$((wrong + 1)); version=; }
if [ -n "$version" ]; then
  tag=v$version
  if at=$(git rev-parse -q --verify "refs/tags/$tag^{commit}"); then
    problem "the tag $tag is there already (commit ${at:0:12}); raise the version, or remove it: git tag -d $tag"
  fi
  compgen -G "config/abi/$version-*.abi" >/dev/null ||
    problem "config/abi does not describe $version; build the preset host, then run" \
      "python3 tests/install/abi.py --write"
fi
git var GIT_COMMITTER_IDENT >/dev/null 2>&1 ||
  problem "git does not know whose tag this is; set user.name and user.email (git config user.name NAME)"
[ "$wrong" -eq 0 ] || fail "no release: $wrong of the checks above failed"
say "version $version, tree clean, no tag $tag yet"

say "tests of documents"
bash config/check-text.sh || fail "no release: the checks of text failed"
# Those that need no build: the others have the line `# release: no`.
for test in tests/documents/*_test.py; do
  [ -f "$test" ] || continue
  if grep -q '^# release: no$' "$test"; then
    say "$test: left out, it needs a build"
    continue
  fi
  python3 -B "$test" || [ $? -eq 77 ] || fail "no release: $test failed"
done

out=$top/build/release
tools=$out/venv
mkdir -p "$out"
if ! "$tools/bin/python" -c 'import build' 2>/dev/null; then
  say "installing the package 'build' into ${tools#"$top"/}"
  rm -rf "$tools"
  "$python" -m venv "$tools" >"$out/log" 2>&1 ||
    fail "$python -m venv failed (on Debian and Ubuntu it needs the package python3-venv): $(tail -1 "$out/log")"
  "$tools/bin/python" -m pip install -q build >"$out/log" 2>&1 ||
    fail "pip cannot install 'build' (the whole output is in $out/log): $(tail -1 "$out/log")"
fi
say "making the source package"
rm -f "$out"/*.tar.gz
"$tools/bin/python" -m build --sdist --outdir "$out" . >"$out/log" 2>&1 ||
  { tail -20 "$out/log" >&2; fail "the source package cannot be made; the whole output is in $out/log"; }
package=$(find "$out" -maxdepth 1 -name "*-$version.tar.gz")
[ -n "$package" ] || fail "no source package of version $version in $out: $(ls "$out")"
tar tzf "$package" >"$out/files"
for file in CMakeLists.txt LICENSE pyproject.toml config/FindPetscByPkgConfig.cmake include/petsccompound.h; do
  grep -q "^[^/]*/$file\$" "$out/files" || fail "$file is missing in $package"
done
say "source package: ${package#"$top"/}, $(du -k "$package" | cut -f1) KB, $(wc -l <"$out/files") files"

date=$(sed -n 's/^## [0-9.]* - //p' CHANGELOG.md | head -1)
{ printf 'petsc-compound %s (%s)\n\n' "$version" "$date"; python3 -B config/versions.py --notes; } >"$out/tag.txt"
if [ "$dry" = yes ]; then
  say "dry run: the tag $tag of $(git rev-parse --short HEAD) would say:"
  sed 's/^/    /' "$out/tag.txt"
  say "dry run: no tag was made"
  exit 0
fi
git tag -a "$tag" --cleanup=whitespace -F "$out/tag.txt"
say "tag $tag of $(git rev-parse --short HEAD) is made; the next steps are yours:"
printf '    git push origin %s\n    %s: attach it to the release\n' "$tag" "${package#"$top"/}"
