#!/usr/bin/env python3
"""What `cmake --install` leaves works for others: by CMake, by make and pkg-config, moved elsewhere, side by side.

One argument beside the common ones: which of the tests below to run. `install` makes the tree that the others use.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from support import Checks, Client, arguments, fresh_folder, printed, skip  # noqa: E402

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "project")
SOURCE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TOOLS = ["compound-bench", "compound-tune"]
HEADER = SOURCE + "/include/petsccompound.h"


def install(build_dir, prefix, env=None):
    done = subprocess.run(["cmake", "--install", build_dir, "--prefix", prefix], capture_output=True, text=True,
                          env=dict(os.environ, **(env or {})))
    if done.returncode:
        sys.exit(f"cmake --install {build_dir} --prefix {prefix} failed:\n{done.stdout}{done.stderr}")


def all_files(folder):
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def public_functions():
    return re.findall(r"^(?:PETSC_EXTERN|static inline) PetscErrorCode (\w+)\(", read(HEADER), re.M)


def type_names():
    """baijcompound, aijcompound, sbaijcompound and those that pin a layout."""
    return re.findall(r'^#define MAT\w+ +"(s?b?aijcompound\w*)"', read(HEADER), re.M)


def test_install(args, checks):
    """The files that the documentation promises, and not a word of the trees they came from."""
    shutil.rmtree(args.prefix, ignore_errors=True)
    install(args.build_dir, args.prefix)
    files = all_files(args.prefix)
    wanted = [f"petsccompound/{args.build}/libpetsccompound.so", f"pkgconfig/petsccompound-{args.build}.pc",
              f"cmake/petsccompound/builds/{args.build}.cmake", "cmake/petsccompound/petsccompoundConfig.cmake",
              "cmake/petsccompound/petsccompoundConfigVersion.cmake", "include/petsccompound.h",
              "include/petsccompound/entry.hpp", "include/petsccompound/register_entry.hpp",
              "include/petsccompound/device/entry/custom.hpp",
              "share/petsccompound/examples/custom_entry/symmetric.hpp",
              "share/petsccompound/examples/spin_transformation.c",
              "share/petsccompound/examples/elasticity.c", "share/petsccompound/examples/data/bracket.msh",
              "share/petsccompound/examples/common/volume_mesh.h", "share/petsccompound/examples/common/volume_mesh.c",
              "share/petsccompound/examples/helmholtz.c", "share/petsccompound/examples/lattice_dirac.c",
              "share/doc/petsc-compound/README.md", "share/doc/petsc-compound/LICENSE",
              "share/doc/petsc-compound/CITATION.cff",
              "share/doc/petsc-compound/docs/clients.md"]
    if os.path.exists(f"{args.build_dir}/plugin/tools/compound-bench"):
        for tool in TOOLS:
            wanted += [f"petsccompound/{args.build}/bin/{tool}", f"man/man1/{tool}.1"]
    wanted += [f"man/man3/{name}.3" for name in public_functions()] + [f"man/man7/{name}.7" for name in type_names()]
    for name in wanted:
        checks.true(any(f.endswith("/" + name) for f in files), f"not installed: {name}")
    for f in files:
        with open(f, "rb") as file:
            content = file.read()
        for tree in (SOURCE, os.path.realpath(args.build_dir), args.prefix):
            checks.true(tree.encode() not in content, f"{f} names the folder {tree}: a moved or shipped tree would "
                        "look there")


def check_programs(args, client, folder, checks):
    """solve (by -dll_append) and inspect (linked) agree with aij, on 1 and 2 ranks."""
    for ranks in (1, 2):
        aij = printed(client.run([f"{folder}/solve", "-mat_type", "aij"], ranks=ranks))
        runs = {"solve": [f"{folder}/solve", "-dll_append", client.plugin, "-mat_type", "baijcompound", "-mat_view",
                          "::ascii_info"],
                "inspect": [f"{folder}/inspect"]}
        for name, command in runs.items():
            output = client.run(command, ranks=ranks)
            own = printed(output)
            what = f"{name} on {ranks} ranks"
            checks.true(own["type"] == ("mpi" if ranks > 1 else "seq") + "baijcompound", f"{what}: type {own['type']}")
            checks.close(float(own["norm"]), float(aij["norm"]), 1e-10, what)
            checks.iterations(int(own["iterations"]), int(aij["iterations"]), what)
            if name == "inspect":
                checks.true("sell" in own["plan"] and int(own["products"]) > 0,
                            f"{what}: {own['plan']}, {own['products']}")


def configure(client, folder, prefix, words):
    return client.try_run(["cmake", "-S", PROJECT, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
                           f"-DCOMPOUND_WORDS={words}"], ranks=0)


def test_cmake(args, checks):
    """A project with find_package(petsccompound)."""
    client = Client(args)
    folder = fresh_folder(args.scratch, "outside")
    code, output = configure(client, folder, args.prefix, args.scalar)
    checks.true(code == 0 and f"plugin: {os.path.realpath(client.plugin)}" in output, output)
    if code == 0:
        client.run(["cmake", "--build", folder], ranks=0)
        check_programs(args, client, folder, checks)
    code, output = configure(client, fresh_folder(args.scratch, "wrong"), args.prefix, "quaternion")
    checks.true(code != 0 and "No installed build" in output and args.build in output,
                f"words that fit no build: {output}")


def test_make(args, checks):
    """A project with make and pkg-config, against a copy of the tree in another place."""
    moved = os.path.join(args.scratch, "moved")
    shutil.rmtree(moved, ignore_errors=True)
    shutil.copytree(args.prefix, moved)
    args.prefix = moved
    client = Client(args)
    checks.true(os.path.realpath(client.plugin).startswith(os.path.realpath(moved)),
                f"plugin={client.plugin} is not in {moved}")
    folder = os.path.join(args.scratch, "make")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PROJECT, folder)
    client.run(["make", f"CC={args.mpicc}", f"PETSC={client.petsc_pc}", f"COMPOUND=petsccompound-{args.build}"],
               ranks=0, cwd=folder)
    check_programs(args, client, folder, checks)
    tool = f"{client.pkgconfig('--variable=toolsdir', f'petsccompound-{args.build}')}/compound-bench"
    if os.path.exists(tool):
        output = client.run([tool, "-grid", "7", "-n", "4", "-block_size", "3", "-rounds", "1", "-types",
                             "baij,baijcompound"], ranks=0)
        checks.true("baijcompound" in output, f"compound-bench of the moved tree:\n{output}")
    for name, wanted in (("petsc_scalar", args.scalar), ("petsc_index", args.build.split("-")[2])):
        found = client.pkgconfig(f"--variable={name}", f"petsccompound-{args.build}")
        checks.true(found == wanted, f"pkg-config --variable={name}: {found}, wanted {wanted}")


def test_destdir(args, checks):
    """DESTDIR stages below a root that the files do not name; an absolute library folder works too."""
    root = fresh_folder(args.scratch, "root")
    install(args.build_dir, "/opt/compound", {"DESTDIR": root})
    checks.true(glob.glob(f"{root}/opt/compound/*/petsccompound/{args.build}/libpetsccompound.so"),
                f"nothing below {root}/opt/compound")
    checks.true(not os.path.exists("/opt/compound"), "/opt/compound was written in spite of DESTDIR")


def test_side_by_side(args, checks):
    """Builds for two scalar types in one prefix: each found by its words, both told when the words fit both."""
    if not os.path.exists(f"{args.other_build}/plugin/libpetsccompound.so"):
        skip(f"no second build in {args.other_build}; cmake --preset host-complex && cmake --build --preset "
             "host-complex makes it")
    prefix = fresh_folder(args.scratch, "both")
    for build_dir in (args.build_dir, args.other_build):
        install(build_dir, prefix)
    plugins = glob.glob(f"{prefix}/*/petsccompound/*/libpetsccompound.so")
    checks.true(len(plugins) == 2, f"wanted two plugins in {prefix}, found {plugins}")
    args.prefix = prefix
    client = Client(args)
    code, output = configure(client, fresh_folder(args.scratch, "ambiguous"), prefix, args.build.split("-")[0])
    checks.true(code != 0 and "Several builds" in output
                and all(os.path.basename(os.path.dirname(p)) in output for p in plugins),
                f"words that fit two builds: {output}")
    folder = fresh_folder(args.scratch, "chosen")
    words = args.build.replace("-", ";")
    code, output = configure(client, folder, prefix, words)
    checks.true(code == 0 and f"plugin: {os.path.realpath(client.plugin)}" in output, f"choosing {words}: {output}")
    client.run(["cmake", "--build", folder, "--target", "solve"], ranks=0)
    output = client.run([f"{folder}/solve", "-dll_append", client.plugin, "-mat_type", "baijcompound"], ranks=2)
    checks.true("mpibaijcompound" in output, output)
    other = next(p for p in plugins if os.path.realpath(p) != os.path.realpath(client.plugin))
    code, output = client.try_run([f"{folder}/solve", "-dll_append", other, "-mat_type", "baijcompound"], ranks=1)
    checks.true(code != 0 and ("does not fit this PETSc" in output),
                f"the other build's plugin was not refused with a reason: {output}")


def variables_read():
    """The environment variables that the sources read, but for those of tests and the system's own."""
    sources = "".join(read(f) for f in all_files(SOURCE + "/src") + all_files(SOURCE + "/plugin") if f.endswith("pp"))
    named = set(re.findall(r'(?:getenv|from_environment|library_names)\("(COMPOUND_\w+)"[),]', sources))
    return sorted(named - {"COMPOUND_CUDA_FAIL_ALLOCATION", "COMPOUND_VALUES_APART"})


def check_pages(args, everything, checks):
    """Environment variables and the words of plans, as the program reads them; the tools' options, as they print
    them."""
    for name in variables_read():
        checks.true(name in everything["baijcompound.7"],
                    f"baijcompound(7) does not name the environment variable {name}")
    tool = f"{args.build_dir}/plugin/tools/compound-bench"
    if not os.path.exists(tool):
        return
    client = Client(args)
    _, said = client.try_run([tool, "-plans", "nonesuch", "-n", "2"], ranks=1)
    words = re.search(r"unknown plan keyword 'nonesuch'; choose a layout \((.*?)\), ([^\[\n]*)", said)
    checks.true(words, f"no list of keywords: {said}")
    told = " ".join(re.findall(r"^\.B (.*)$", everything["baijcompound.7"], re.M)).replace("\\-", "-")
    named = set(re.findall(r"\w+=?", told)) | set(re.findall(r"\w+:[\w-]+", told))
    for word in (words[1] + ", " + words[2].strip()).split(", ") if words else []:
        checks.true(word in named, f"baijcompound(7) does not name the plan keyword '{word}'")
    for tool in TOOLS:
        path = f"{args.build_dir}/plugin/tools/{tool}"
        options = re.findall(r"^  (-\w+) <", client.run([path, "-help", "intro"], ranks=1), re.M)
        checks.true(len(options) > 20, f"{tool} -help intro: options {options}")
        for option in options:
            checks.true(re.search(rf"^\.B {option}\b", everything[f"{tool}.1"], re.M),
                        f"{tool}(1) does not name {option}")


def test_versions(args, checks):
    """One version and one date, in every file that writes them (config/versions.py); each disagreement is found."""
    versions = SOURCE + "/config/versions.py"
    done = subprocess.run([sys.executable, "-B", versions], capture_output=True, text=True)
    checks.true(done.returncode == 0 and re.fullmatch(r"\d+\.\d+\.\d+\n", done.stdout), done.stdout + done.stderr)
    version = done.stdout.strip()
    notes = subprocess.run([sys.executable, "-B", versions, "--notes"], capture_output=True, text=True).stdout
    checks.true(notes.startswith("- ") and "\n## " not in notes, f"--notes: {notes}")
    root = fresh_folder(args.scratch, "versions")
    places = re.findall(r'^    \("([^"]+)", r"', read(versions), re.M)
    checks.true(len(places) >= 7, f"files that write the version: {places}")
    for name in places:
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        shutil.copy(f"{SOURCE}/{name}", f"{root}/{name}")
    for name in places:
        text = read(f"{root}/{name}")
        for changed, wanted in ((text.replace(version, "9.8.7"), f"{name} 9.8.7"), (None, f"{name} is not there")):
            os.remove(f"{root}/{name}")
            if changed is not None:
                with open(f"{root}/{name}", "w") as file:
                    file.write(changed)
            done = subprocess.run([sys.executable, "-B", versions, root], capture_output=True, text=True)
            checks.true(done.returncode == 1 and wanted in done.stderr, f"{wanted}: {done.stderr}")
            with open(f"{root}/{name}", "w") as file:
                file.write(text)
    for name, pattern, change, wanted in (
            ("CHANGELOG.md", r" - \d{4}-\d\d-\d\d$", " (unreleased)", "which has no date"),
            ("CITATION.cff", r"(?<=date-released: ).*$", "1999-01-01", "date-released 1999-01-01, CHANGELOG.md")):
        text = read(f"{root}/{name}")
        with open(f"{root}/{name}", "w") as file:
            file.write(re.sub(pattern, change, text, flags=re.M))
        done = subprocess.run([sys.executable, "-B", versions, root], capture_output=True, text=True)
        checks.true(done.returncode == 1 and wanted in done.stderr, f"{wanted}: {done.stderr}")
        with open(f"{root}/{name}", "w") as file:
            file.write(text)


def test_man(args, checks):
    """Functions, options, plan words and environment variables are in man pages, and man finds nothing to complain
    of."""
    pages = [f for f in all_files(args.prefix) if re.search(r"/man\d/", f)]
    texts = {os.path.basename(p): read(p).replace("\\-", "-") for p in pages}
    everything = "".join(texts.values())
    options = read(SOURCE + "/docs/reference/options.md")
    check_pages(args, texts, checks)
    for name in type_names():
        checks.true(re.search(rf"\b{name}\b", texts["baijcompound.7"]),
                    f"baijcompound(7) does not name the type {name}")
    for name in public_functions() + re.findall(r"^\| `(-\w+)` \|", options, re.M):
        checks.true(name in everything, f"no man page names {name}")
    if not shutil.which("man"):
        print("no program `man` here: the pages' markup is not checked")
        return
    folder = next(p for p in pages if p.endswith("baijcompound.7")).rsplit("/", 2)[0]
    for page in pages:
        name, section = os.path.basename(page).rsplit(".", 1)
        done = subprocess.run(["man", "-M", folder, "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", section, name],
                              capture_output=True, text=True, env=dict(os.environ, LC_ALL="C.UTF-8", MANROFFSEQ=""))
        checks.true(done.returncode == 0 and not done.stderr, f"man {section} {name}: {done.stderr}")


def main():
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    args = arguments(__doc__, build_dir={"required": True}, other_build={"default": ""},
                     test={"required": True, "choices": sorted(tests)})
    checks = Checks()
    tests[args.test](args, checks)
    checks.finish()


if __name__ == "__main__":
    main()
