#!/usr/bin/env python3
"""Each way of docs/install.md to load the plugin without -dll_append on the command line works, and no other does.

One argument beside the common ones: --plugin, a plugin that is not in the prefix, for another PETSc than the prefix's.
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from support import TOP, Checks, Client, arguments, fresh_folder, skip  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = re.compile(r'^<!-- block (?P<name>[\w-]+): prints "(?P<prints>[^"\n]*)" -->\n```sh\n(?P<code>.*?)^```$',
                   re.M | re.S)
UNKNOWN = "Unknown Mat type given: baijcompound"
SECOND = "second library: loaded"


class PetscAlone(Client):
    """Of a PETSc for which no plugin is in the prefix."""

    def __init__(self, args):
        self.args, self.pkgconfig_path, self.plugin = args, args.petsc_pkgconfig, args.plugin
        self.petsc_pc = next((n for n in ("PETSc", "petsc") if self.has_pc(n)), "PETSc")


class Loading:
    """A program that knows nothing of the plugin, in a folder and a home of its own."""

    def __init__(self, args, client, checks):
        self.args, self.client, self.checks, self.count = args, client, checks, 0
        folder = fresh_folder(args.scratch, "programs")
        packages = [client.petsc_pc]
        self.solve = client.compile(f"{HERE}/project/solve.c", f"{folder}/solve", packages)
        self.second = client.compile(f"{HERE}/second.c", f"{folder}/libsecond.so", packages, extra=["-shared", "-fPIC"])

    def run(self, words=(), files=None, env=None, ranks=1):
        """Its exit code and output. files: {"home/.petscrc": text, ...}; it runs in `work`, HOME is `home`."""
        self.count += 1
        top = fresh_folder(self.args.scratch, f"run{self.count}")
        for place in ("home", "work"):
            os.makedirs(f"{top}/{place}")
        for name, text in (files or {}).items():
            with open(f"{top}/{name}", "w") as file:
                file.write(text)
        env = dict(env or {}, HOME=f"{top}/home")
        return self.client.try_run([self.solve, "-mat_type", "baijcompound", *words], ranks=ranks, env=env,
                                   cwd=f"{top}/work")

    def loads(self, what, *args, second=False, **how):
        code, output = self.run(*args, **how)
        wanted = ("mpi" if how.get("ranks", 1) > 1 else "seq") + "baijcompound"
        self.checks.true(code == 0 and f"type: {wanted}" in output, f"{what}: not loaded:\n{output[-2000:]}")
        self.checks.true((SECOND in output) == second,
                         f"{what}: the second library was {'not ' if second else ''}loaded:\n{output[-2000:]}")

    def does_not_load(self, what, *args, **how):
        code, output = self.run(*args, **how)
        self.checks.true(code != 0 and UNKNOWN in output, f"{what}: expected '{UNKNOWN}':\n{output[-2000:]}")


def check_options(loading, plugin):
    """PETSC_OPTIONS and the three files; which wins; one value."""
    line = f"-dll_append {plugin}\n"
    second = f"-dll_append {loading.second}\n"
    loading.does_not_load("no option")
    loading.loads("PETSC_OPTIONS", env={"PETSC_OPTIONS": line.strip()})
    loading.loads("PETSC_OPTIONS, 2 ranks", env={"PETSC_OPTIONS": line.strip()}, ranks=2)
    for name in ("home/.petscrc", "work/.petscrc", "work/petscrc"):
        loading.loads(name, files={name: line})
        loading.does_not_load(f"{name} with -skip_petscrc", ["-skip_petscrc"], files={name: line})
    loading.loads("PETSC_OPTIONS with -skip_petscrc", ["-skip_petscrc"], env={"PETSC_OPTIONS": line.strip()})
    # An option has one value: what is read later replaces it.
    files = {"home/.petscrc": line, "work/.petscrc": second}
    loading.does_not_load("the folder's file after the home's", files=files)
    loading.does_not_load("PETSC_OPTIONS after a file", files={"work/.petscrc": line},
                          env={"PETSC_OPTIONS": second.strip()})
    loading.loads("the command line after a file", ["-dll_append", plugin], files={"work/.petscrc": second})
    loading.does_not_load("another library on the command line", ["-dll_append", loading.second],
                          files={"work/.petscrc": line})
    loading.does_not_load("two lines in one file", files={"work/petscrc": line + second})
    loading.loads("a list with a comma", files={"work/petscrc": f"-dll_append {plugin},{loading.second}\n"},
                  second=True)
    loading.loads("the list in the other order", env={"PETSC_OPTIONS": f"-dll_append {loading.second},{plugin}"},
                  second=True)


def check_link(loading, plugin):
    """A link in PETSc's library folder (here a private one, which PETSC_LIB_DIR of the environment names): not found by
    itself, found by a path with ${PETSC_LIB_DIR}."""
    folder = fresh_folder(loading.args.scratch, "petsc-lib")
    os.symlink(plugin, f"{folder}/libpetsccompound.so")
    env = {"PETSC_LIB_DIR": folder}
    path = "${PETSC_LIB_DIR}/libpetsccompound"
    loading.does_not_load("a link without an option", env=env)
    loading.loads("a link by a path without suffix", ["-dll_append", path], env=env)
    loading.loads("a link by a path with suffix", ["-dll_append", path + ".so"], env=env)
    loading.loads("a link by a file", files={"home/.petscrc": f"-dll_append {path}\n"}, env=env)
    loading.loads("a link by PETSC_OPTIONS", env=dict(env, PETSC_OPTIONS=f"-dll_append {path}"))
    loading.loads("a link and a second library", files={"home/.petscrc": f"-dll_append {path},{loading.second}\n"},
                  env=env, second=True)


def check_linked(args, client, checks):
    """A program that is linked with the plugin and calls PetscCompoundInitialize()."""
    program = client.compile(f"{HERE}/project/inspect.c", f"{args.scratch}/programs/inspect",
                             [f"petsccompound-{args.build}", client.petsc_pc])
    for ranks in (1, 2):
        output = client.run([program], ranks=ranks)
        checks.true("baijcompound" in output and "plan: " in output, f"the linked program on {ranks} ranks:\n{output}")


def check_page(args, loading, checks):
    """The blocks of docs/install.md, each in a home and a working folder of its own, with ./app and $plugin."""
    with open(f"{TOP}/docs/install.md") as file:
        text = file.read()
    blocks = list(BLOCK.finditer(text))
    checks.true(len(blocks) == text.count("```sh") and len(blocks) >= 3,
                f"{text.count('```sh')} blocks of commands, {len(blocks)} with the comment that says what they print")
    for block in blocks:
        home = fresh_folder(args.scratch, "page", block["name"])
        os.symlink(args.prefix, f"{home}/compound")
        shutil.copy(loading.solve, f"{home}/app")
        code = block["code"].replace("petsccompound-3.18-real-32", f"petsccompound-{args.build}")
        code, output = loading.client.try_run(["bash", "-eu", "-c", code], ranks=0, cwd=home,
                                              env={"HOME": home, "plugin": loading.client.plugin})
        checks.true(code == 0 and re.search(block["prints"], output, re.S),
                    f"block {block['name']} of docs/install.md, {code}, does not print '{block['prints']}':\n{output}")


def make_link(args, prefix, folder, destdir=""):
    """config/make_link.cmake as `cmake --install` runs it; the exit code and what it says."""
    done = subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-Dfolder={folder}",
                           f"-Dplugin_dir=lib/petsccompound/{args.build}", "-P", f"{TOP}/config/make_link.cmake"],
                          capture_output=True, text=True, env=dict(os.environ, DESTDIR=destdir))
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def check_making_links(args, checks):
    """COMPOUND_INSTALL_LINK: where the link points to, what it says, what it refuses."""
    top = fresh_folder(args.scratch, "links")
    plugin = f"lib/petsccompound/{args.build}/libpetsccompound.so"
    for folder in (f"{top}/prefix/lib", f"{top}/petsc/lib"):
        os.makedirs(folder)
    for folder, wanted in ((f"{top}/prefix/lib", plugin[4:]), (f"{top}/petsc/lib", f"{top}/prefix/{plugin}")):
        link = f"{folder}/libpetsccompound.so"
        for _ in range(2):  # a second time replaces it
            code, said = make_link(args, f"{top}/prefix", folder)
            checks.true(code == 0 and os.readlink(link) == wanted, f"link in {folder}: {said}")
            checks.true(f"rm {link}" in said and "'${PETSC_LIB_DIR}/libpetsccompound'" in said, f"hints: {said}")
    code, said = make_link(args, f"{top}/other", f"{top}/petsc/lib")
    checks.true(code == 0 and f"pointed to {top}/prefix/{plugin}; it is replaced" in said, f"another target: {said}")
    code, said = make_link(args, f"{top}/prefix", f"{top}/none/lib")
    checks.true(code != 0 and "folder is not there" in said, f"no folder: {said}")
    code, said = make_link(args, "/opt/compound", f"{top}/none/lib", destdir=f"{top}/root")
    checks.true(code == 0 and os.readlink(f"{top}/root{top}/none/lib/libpetsccompound.so") == f"/opt/compound/{plugin}",
                f"DESTDIR: {said}")
    os.remove(f"{top}/petsc/lib/libpetsccompound.so")
    with open(f"{top}/petsc/lib/libpetsccompound.so", "w"):
        pass
    code, said = make_link(args, f"{top}/prefix", f"{top}/petsc/lib")
    checks.true(code != 0 and "is not a link: it is not replaced" in said, f"a file in its place: {said}")


def check_asking(args, checks):
    """`cmake --install` makes no link unasked; asked for when it installs, it makes one in this PETSc's folder."""
    for asked in (False, True):
        root = fresh_folder(args.scratch, f"root{asked}")
        words = ["-DCOMPOUND_INSTALL_LINK=ON"] if asked else []
        done = subprocess.run(["cmake", *words, "-DCMAKE_INSTALL_PREFIX=/opt/compound", "-P",
                               f"{args.build_dir}/cmake_install.cmake"], capture_output=True, text=True,
                              env=dict(os.environ, DESTDIR=root))
        links = [os.path.join(where, name) for where, _, names in os.walk(root) for name in names
                 if os.path.islink(os.path.join(where, name)) and name == "libpetsccompound.so"]
        checks.true(done.returncode == 0 and len(links) == asked,
                    f"COMPOUND_INSTALL_LINK {asked}: links {links}:\n{done.stdout[-1500:]}{done.stderr}")


def main():
    args = arguments(__doc__, build_dir={"default": ""}, plugin={"default": ""})
    if args.plugin and not (os.path.exists(args.plugin) and os.path.isdir(args.petsc_dir)):
        skip(f"{args.plugin} or {args.petsc_dir} is not there; config/test.sh makes them from the archives of PETSc")
    checks = Checks()
    client = PetscAlone(args) if args.plugin else Client(args)
    loading = Loading(args, client, checks)
    check_options(loading, client.plugin)
    check_link(loading, client.plugin)
    if not args.plugin:
        check_linked(args, client, checks)
        check_page(args, loading, checks)
        check_making_links(args, checks)
        check_asking(args, checks)
    checks.finish()


if __name__ == "__main__":
    main()
