#!/usr/bin/env python3
"""config/release.sh in small repositories made for it: what it refuses, what a dry run leaves, what the tag says.

usage: release_test.py SCRATCH
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGES = ("# Changelog\n\n## 1.2.3 - 2026-01-02\n\n### Added\n\n- First [thing](docs/x.md) of `a`.\n\n"
           "## 1.2.2 - 2025-01-02\n\n- Old.\n")
FILES = {
    "CMakeLists.txt": "project(petsc-compound VERSION 1.2.3 LANGUAGES C)\n",
    "CITATION.cff": "version: 1.2.3\ndate-released: 2026-01-02\n",
    "pyproject.toml": '[project]\nversion = "1.2.3"  # as elsewhere\n',
    "CHANGELOG.md": CHANGES,
    "LICENSE": "", "include/petsccompound.h": "", "config/FindPetscByPkgConfig.cmake": "",
    "config/abi/1.2.3-3.18-real-32.abi": "",
    "config/packages/petsc/petsccompound.py": "    self.version = '1.2.3'\n",
    "config/packages/spack/package.py": '    version("1.2.3")\n',
    "config/packages/conda/recipe.yaml": 'context:\n  version: "1.2.3"\n',
    "config/check-text.sh": 'echo "checks of text"\n[ ! -f bad-text ]\n',
    "tests/documents/small_test.py": "print('small test of documents')\n",
    ".gitignore": "/build/\n",
}
failures = []


def true(ok, message):
    if not ok:
        failures.append(message)


def run(tree, *command):
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env.update(HOME=str(tree), GIT_CONFIG_NOSYSTEM="1")
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=env)
    return done.returncode, done.stdout + done.stderr


def git(tree, *words):
    code, output = run(tree, "git", *words)
    if code:
        sys.exit(f"git {' '.join(words)}: {output}")
    return output


def make_tree(folder, **changes):
    """A repository of one commit. Its `python -m build` is a script that packs these files."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in {**FILES, **changes}.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    for name in ("release.sh", "setup.sh", "versions.py"):
        shutil.copy(ROOT / "config" / name, folder / "config" / name)
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "Tester")
    git(folder, "config", "user.email", "tester@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "build/release/venv/bin").mkdir(parents=True)
    with tarfile.open(folder / "build/made.tar.gz", "w:gz") as archive:
        for name in FILES:
            if (folder / name).is_file() and name != "build":
                archive.add(folder / name, f"petsc_compound-1.2.3/{name}")
    python = folder / "build/release/venv/bin/python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\n[ ! -f no-package ] || exit 1\n'
                      "cp build/made.tar.gz build/release/petsc_compound-1.2.3.tar.gz\n")
    python.chmod(0o755)
    return folder


def release(tree, *words):
    return run(tree, "bash", "config/release.sh", *words)


def check_refused(scratch):
    """Each with the message that says what is wrong; no tag is left."""
    def dirty(tree):
        (tree / "LICENSE").write_text("changed")

    def tagged(tree):
        git(tree, "tag", "-a", "v1.2.3", "-m", "old")

    def untold(tree):
        git(tree, "config", "--unset", "user.name")
        git(tree, "config", "--unset", "user.email")
        git(tree, "config", "user.useConfigOnly", "true")

    cases = [
        ({}, dirty, "1 files differ from the last commit; commit or remove them (git status): LICENSE"),
        ({}, tagged, "the tag v1.2.3 is there already"),
        ({}, untold, "set user.name and user.email"),
        ({"CITATION.cff": "version: 1.2.4\n"}, None, "versions differ: CMakeLists.txt 1.2.3, CITATION.cff 1.2.4"),
        ({"pyproject.toml": None}, None, "pyproject.toml is not there"),
        ({"CHANGELOG.md": CHANGES.replace(" - 2026-01-02", "")}, None, "begins with '## 1.2.3', which has no date"),
        ({"config/abi/1.2.3-3.18-real-32.abi": None}, None, "config/abi does not describe 1.2.3"),
        ({"bad-text": ""}, None, "no release: the checks of text failed"),
        ({"tests/documents/small_test.py": "raise SystemExit(1)\n"}, None, "tests/documents/small_test.py failed"),
        ({"no-package": ""}, None, "the source package cannot be made"),
    ]
    for changes, spoil, wanted in cases:
        tree = make_tree(scratch / "refused", **changes)
        if spoil:
            spoil(tree)
        tags = git(tree, "tag")
        code, output = release(tree)
        true(code == 1 and wanted in output, f"wanted '{wanted}', found {code}:\n{output}")
        true(git(tree, "tag") == tags, f"{wanted}: a tag was left")
    for words in (("--dry",), ("--dry-run", "x")):
        code, output = release(tree, *words)
        true(code == 1 and "usage: bash config/release.sh [--dry-run]" in output, f"{words}: {output}")


def check_made(scratch):
    tree = make_tree(scratch / "made")
    code, output = release(tree, "--dry-run")
    true(code == 0 and "no tag was made" in output and "First thing of `a`." in output, f"dry run, {code}:\n{output}")
    true("checks of text" in output and "small test of documents" in output, f"tests:\n{output}")
    true(git(tree, "tag") == "" and git(tree, "status", "--porcelain") == "", "the dry run left something")
    true((tree / "build/release/petsc_compound-1.2.3.tar.gz").is_file(), "the dry run made no source package")
    code, output = release(tree)
    true(code == 0, f"release, {code}:\n{output}")
    said = git(tree, "tag", "-l", "--format=%(objecttype)|%(contents)", "v1.2.3").rstrip()
    wanted = "tag|petsc-compound 1.2.3 (2026-01-02)\n\n### Added\n\n- First thing of `a`."
    true(said == wanted, f"the tag says:\n{said}\nwanted:\n{wanted}")


def main():
    if not shutil.which("git"):
        print("skipped: git is not here")
        sys.exit(77)
    scratch = pathlib.Path(sys.argv[1]).resolve() / "release"
    check_refused(scratch)
    check_made(scratch)
    print("\n".join([f"{len(failures)} failures", *failures]))
    sys.exit(1 if failures else 0)


main()
