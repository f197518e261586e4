#!/usr/bin/env python3
"""The files for other package managers, which cannot be run here, agree with the tree: syntax, keys, CMake options,
names of files and versions.

usage: package_files_test.py [ROOT]
"""

import ast
import json
import pathlib
import re
import subprocess
import sys
import types

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
PACKAGES = ROOT / "config" / "packages"
FILES = {"petsc": PACKAGES / "petsc/petsccompound.py", "patch": PACKAGES / "petsc/petsccompound.patch",
         "spack": PACKAGES / "spack/package.py", "conda": PACKAGES / "conda/recipe.yaml"}
NOT_RUN = ("spack", "conda")
# CMake's own and PETSc's, which no option() or set(... CACHE) of the tree names.
FOREIGN = {"PETSC_DIR", "PETSC_ARCH", "CUDAToolkit_ROOT", "CMAKE_INSTALL_PREFIX", "CMAKE_CXX_STANDARD"}
# What a recipe of rattler-build may have, by section.
KEYS = {
    "": {"schema_version", "context", "package", "source", "build", "requirements", "tests", "about", "extra"},
    "package": {"name", "version"},
    "source": {"path", "url", "sha256", "patches"},
    "build": {"number", "string", "skip", "script", "noarch", "dynamic_linking", "variant"},
    "requirements": {"build", "host", "run", "run_constraints", "run_exports", "ignore_run_exports"},
    "tests": {"script", "python", "requirements", "files", "package_contents"},
    "about": {"summary", "description", "license", "license_file", "homepage", "repository", "documentation"},
}
failures = []


def true(ok, message):
    if not ok:
        failures.append(message)
    return ok


def cmake_options():
    """Cache variables and options of the tree's CMake files."""
    text = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *(ROOT / "config").glob("*.cmake")])
    return set(re.findall(r"^\s*(?:option|set)\((COMPOUND_\w+)", text, re.M)) | FOREIGN


def check_common():
    version = subprocess.run([sys.executable, "-B", ROOT / "config/versions.py", ROOT], capture_output=True, text=True)
    true(version.returncode == 0, version.stderr)
    options = cmake_options()
    for name, path in FILES.items():
        text = path.read_text()
        for option in re.findall(r"-D([A-Za-z_]+)[:=]", text) + re.findall(r"define\w*\(\s*\"(\w+)\"", text):
            true(option in options, f"{path.name} of {name}: CMake option {option} is not in the tree's CMake files")
        if name in NOT_RUN:
            true("not run by us" in re.sub(r"\n#? *", " ", text).lower(), f"{path}: does not say 'not run by us'")
        for word in re.findall(r"(?<![\w./])((?:plugin|tests|config|docs)/[\w./]+\w)", text):
            if not word.startswith("config/BuildSystem"):  # of PETSc
                true((ROOT / word).exists(), f"{path.name} of {name}: {word} is not in the tree")


def tables_of(path):
    """The values that __init__ and setNames of PETSc's file give their attributes, where they are constants."""
    values = {}
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            try:
                values[node.targets[0].attr] = ast.literal_eval(node.value)
            except ValueError:
                pass
    return values


def check_petsc():
    values = tables_of(FILES["petsc"])
    for name, wanted in {"package": "petsc-compound", "downloadname": "petsc-compound", "builtafterpetsc": 1,
                         "linkedbypetsc": 0, "providesDocs": 1, "precisions": ["double"]}.items():
        true(values.get(name) == wanted, f"petsccompound.py: {name} is {values.get(name)}, wanted {wanted}")
    for folder in values.get("docsDirs", ["none"]):
        true((ROOT / folder).is_dir(), f"petsccompound.py: docsDirs names {folder}, which is not in the tree")
    for header in values["includes"]:
        true((ROOT / "include" / header).is_file(), f"petsccompound.py: no include/{header}")
    minimum = re.search(r"cmake_minimum_required\(VERSION (\d+)\.(\d+)", (ROOT / "CMakeLists.txt").read_text())
    true(values["minCmakeVersion"][:2] == tuple(map(int, minimum.groups())),
         f"petsccompound.py: minCmakeVersion {values['minCmakeVersion']}, CMakeLists.txt {minimum[0]}")
    project = re.search(r'^name = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)[1].replace("-", "_")
    for name in ("petsc", "spack"):
        true(f"{project}-" in FILES[name].read_text(), f"{FILES[name]}: the source package is {project}-VERSION.tar.gz")
    true(project in values["downloaddirnames"], f"petsccompound.py: downloaddirnames lack {project}")

    # The patch: a hunk of the size that it says, and the macro and the name that belong together.
    lines = FILES["patch"].read_text().splitlines()
    head = re.match(r"@@ -\d+,(\d+) \+\d+,(\d+) @@$", lines[2])
    if true(head, f"petsccompound.patch: third line '{lines[2]}'"):
        old, new = (sum(line[0] in signs for line in lines[3:]) for signs in (" -", " +"))
        true((old, new) == tuple(map(int, head.groups())), f"petsccompound.patch: {old} and {new} lines, {lines[2]}")
    added = [line[1:] for line in lines[3:] if line.startswith("+")]
    true(len(added) <= 10 and not any(line.startswith("-") for line in lines[3:]),
         f"petsccompound.patch: adds {len(added)} lines")
    macro = "HAVE_" + FILES["petsc"].stem.upper()
    true(macro in "".join(added), f"petsccompound.patch: no {macro}, which petsccompound.py defines")
    library = re.search(r'PetscLoadDynamicLibrary\("(\w+)"', "".join(added))
    true(library and "petsc" + library[1] == FILES["petsc"].stem, "petsccompound.patch: loads another library")


def check_spack():
    text = FILES["spack"].read_text()
    base = type("CudaPackage", (), {"cuda_arch_values": ("80", "90")})
    modules = {"spack_repo.builtin.build_systems.cmake": {"CMakePackage": type("CMakePackage", (), {})},
               "spack_repo.builtin.build_systems.cuda": {"CudaPackage": base}, "spack.package": {}}
    for name, content in modules.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(parts[end - 1]))
        sys.modules[name].__dict__.update(content)
    directives = ("license", "version", "variant", "depends_on", "extends", "conflicts", "run_after", "requires")
    calls = []

    def recorder(name):
        def directive(*args, **options):
            calls.append((name, args, options))
            return lambda function: function
        return directive
    spack = sys.modules["spack.package"]
    spack.__dict__.update({name: recorder(name) for name in directives})
    spack.__all__ = list(directives)
    scope = {"__name__": "package"}
    exec(compile(text, str(FILES["spack"]), "exec"), scope)
    package = scope.get("PetscCompound")
    true(package is not None, "package.py: no class PetscCompound, which the package petsc-compound has")
    variants = {args[0] for name, args, _ in calls if name == "variant"} | {"cuda"}  # of CudaPackage
    true({"python", "tools"} <= variants, f"package.py: variants {variants}")
    needs = [args[0] for name, args, _ in calls if name == "depends_on"]
    true(any(need.startswith("petsc@") and "+shared" in need for need in needs),
         f"package.py: no petsc+shared: {needs}")
    true("petsc+cuda cuda_arch=90" in needs, f"package.py: PETSc's cuda_arch is not the plugin's: {needs}")
    for name, _, options in calls:
        for variant in re.findall(r"[+~](\w+)", options.get("when", "")):
            true(variant in variants, f"package.py: {name} when {options['when']}: no variant {variant}")
    for _, variant in re.findall(r'define_from_variant\("(\w+)", "(\w+)"', text):
        true(variant in variants, f"package.py: define_from_variant: no variant {variant}")
    true([name for name in dir(package) if name.startswith("test_") and callable(getattr(package, name))],
         "package.py: no stand-alone test")
    # Files that it takes from the source or from what is installed.
    parts = re.findall(r"join_path\((?:self\.stage\.source_path|examples), ((?:\"[\w.*]+\"(?:, )?)+)\)", text)
    for words in parts:
        path = "/".join(re.findall(r'"([^"]+)"', words))
        true(list(ROOT.glob(path)) or list((ROOT / "examples").glob(path)), f"package.py: {path} is not in the tree")
    true(len(parts) >= 4, f"package.py: files {parts}")
    made = re.search(r'join_path\(self\.build_directory, "(\w+)", "([\w.]+)"', text)
    true(made and "/".join(made.groups()) in (ROOT / "config/CompoundPython.cmake").read_text(),
         f"package.py: CMake makes no {made and made[0]}")


def yaml_tree(text):
    try:
        import yaml
    except ImportError:
        return None
    return yaml.safe_load(text)


def check_conda():
    text = FILES["conda"].read_text()
    tree = yaml_tree(text)
    if tree is None:
        print("PyYAML is not here (python3-yaml): only the names of the top keys are checked")
        tree = {key: {} for key in re.findall(r"^(\w+):", text, re.M)}
    true(set(tree) <= KEYS[""], f"recipe.yaml: keys {set(tree) - KEYS['']}")
    true({"schema_version", "package", "source", "build", "requirements", "tests", "about"} <= set(tree),
         f"recipe.yaml: has only {set(tree)}")
    for section, keys in KEYS.items():
        found = tree.get(section, {}) if section else {}
        for part in found if isinstance(found, list) else [found]:
            true(set(part) <= keys, f"recipe.yaml: {section} has {set(part) - keys}; allowed: {sorted(keys)}")
    context = set(re.findall(r"^  (\w+):", text[text.index("context:"):text.index("package:")], re.M))
    known = context | {"hash", "compiler", "stdlib"}
    for word in re.findall(r"\$\{\{ *(\w+)", text[text.index("package:"):]):
        true(word in known, f"recipe.yaml: {word} is not in its context")
    for word in re.findall(r"conda-build/([\w/.]+)", text):
        true(word in (ROOT / "config/CompoundPython.cmake").read_text(), f"recipe.yaml: CMake makes no {word}")
    true((FILES["conda"].parent / "../../..").resolve() == ROOT.resolve() and "path: ../../..\n" in text,
         "recipe.yaml: source is not this tree")
    for program in ("cmake", "ninja", "pkg-config"):
        true(re.search(rf"^    - {program}\b", text, re.M), f"recipe.yaml: build requirements lack {program}")
    check_rendered()


def check_rendered():
    """What rattler-build's own library makes of it, where that is installed."""
    try:
        import rattler_build
    except ImportError:
        print("py-rattler-build is not here: recipe.yaml is not rendered by rattler-build itself")
        return
    try:
        recipe = rattler_build.Stage0Recipe.from_file(str(FILES["conda"]))
    except Exception as error:
        true(False, f"recipe.yaml: rattler-build says: {error}")
        return
    system = {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "target_platform": ["linux-64"]}
    for variant, build in (({}, "real_h"), ({"scalar": ["complex"], "cuda_compiler_version": ["12.9"]},
                                            "cuda12_complex_h")):
        for output in recipe.render(rattler_build.VariantConfig({**system, **variant})):
            made = output.recipe.to_dict()
            true(made["build"]["string"].startswith(build), f"recipe.yaml rendered: {json.dumps(made)[:500]}")
            true(f"petsc * {build[:-2]}_*" in made["requirements"]["host"], f"PETSc of {build}: {made['requirements']}")


for check in (check_common, check_petsc, check_spack, check_conda):
    check()
print("\n".join([f"{len(failures)} failures", *failures]))
sys.exit(1 if failures else 0)
