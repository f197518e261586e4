#!/usr/bin/env bash
# Makes the site from the documents:   bash config/docs.sh [--external]
#
# build/site/ has the pages (open build/site/index.html); nothing is loaded from elsewhere when a page is read, and
# search works without a server. docs/site/stage.py copies the documents to build/site-source, Sphinx reads them there.
# Warnings are errors. Its programs come from the Python package index into build/docs-tools, in the versions of
# docs/site/requirements.txt, for Python 3.11 or newer.
#
# At the end tests/documents/site_test.py looks for links that lead nowhere, for anything that a page would load from
# elsewhere, and for pages that are too large. --external also lists the links to other sites, and asks each whether it
# is there.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$top"
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

external=()
case ${1:-} in
  '') ;;
  --external) external=(--external) ;;
  *) fail "docs.sh takes --external alone, not '$1'" ;;
esac

command -v python3 >/dev/null || install_packages python3 python3-venv
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "$(python3 --version) is too old: Sphinx as docs/site/requirements.txt names it needs 3.11"

tools=$top/build/docs-tools
list=docs/site/requirements.txt
if ! cmp -s "$list" "$tools/made-of.txt" || ! "$tools/bin/sphinx-build" --version >/dev/null 2>&1; then
  rm -rf "$tools"
  python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  python3 -m venv "$tools"
  if ! "$tools/bin/pip" install -q --disable-pip-version-check -r "$list" >build/docs-tools.log 2>&1; then
    tail -5 build/docs-tools.log
    rm -rf "$tools"
    fail "pip cannot install what $list names (build/docs-tools.log)"
  fi
  cp "$list" "$tools/made-of.txt"
  part_ends "the programs, in build/docs-tools"
fi

begin=$SECONDS
python3 docs/reference/make_reference.py --check
rm -rf build/site
python3 docs/site/stage.py build/site-source
"$tools/bin/sphinx-build" -b html -q -W --keep-going -j "$cores" -E -d build/site-doctrees build/site-source \
  build/site ||
  fail "the site has mistakes: each line above names a file of build/site-source, which is the one of the repository"
rm -rf build/site/.buildinfo build/site/objects.inv build/site/_static/webpack-macros.html build/site/_static/*/*.map
python3 tests/documents/site_test.py --site build/site "${external[@]}"
python3 tests/documents/site_test.py --site build/site --browser || [ $? -eq 77 ]  # it says why
say "site: build/site/index.html, $(du -sm build/site | cut -f1) MB, $((SECONDS - begin)) s"
