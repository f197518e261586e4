#!/usr/bin/env bash
# Checks of text, without a build:   bash config/check-text.sh [FILE...]
#
# clang-format, includes, documents, old words, codespell, shellcheck, ruff and the width of lines, on the whole tree or
# on the files given. config/checks.sh says what each does and where its program comes from; a commit runs the same
# (.pre-commit-config.yaml).
exec bash "$(dirname "${BASH_SOURCE[0]}")/checks.sh" \
  format includes documents words spelling shell python columns -- "$@"
