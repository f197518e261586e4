#!/usr/bin/env python3
"""Every block of commands in docs/clients.md works as it stands: run in one shell, in order, with the installed plugin.

A comment above a block names it and says what it prints (a regular expression over all lines) and which client it
needs. Lines for a GPU, which are indented and end with GPU's options, repeat a command of the blocks: that one is run
here.
"""

import os
import re
import shutil

from support import Checks, Client, arguments, fresh_folder, skip

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "clients.md")
BLOCK = re.compile(r'^<!-- block (?P<name>[\w-]+): prints "(?P<prints>[^"\n]*)"(?:; needs (?P<needs>[\w-]+))? -->\n'
                   r"```sh\n(?P<code>.*?)^```$", re.M | re.S)
GPU = re.compile(r"^    (?P<command>.*) (?:-vec_type|-dm_vec_type) cuda -use_gpu_aware_mpi 0$", re.M)


def check_gpu_lines(text, blocks, checks):
    code = "\n".join(block["code"] for block in blocks).replace("\\\n", " ")
    commands = {" ".join(line.split()) for line in code.split("\n")}
    lines = [m["command"] for m in GPU.finditer(text)]
    ends = text.count("-use_gpu_aware_mpi 0\n")
    checks.true(len(lines) == ends, f"{ends} lines end with -use_gpu_aware_mpi 0, {len(lines)} of them are a command "
                "with a vector type")
    for command in lines:
        checks.true(command in commands, f"the line for a GPU '{command}' repeats no command of a block")


def is_here(client, needs):
    if needs == "tutorials":
        return os.path.isdir("/usr/share/petsc/3.18/share/petsc/examples/src/snes")
    if needs == "dealii":
        return os.path.isdir("/usr/share/doc/libdeal.ii-doc/examples/step-17") and os.path.isdir("/usr/include/deal.II")
    if needs == "dolfinx-scaling-test":
        return shutil.which(needs) is not None
    modules = {"slepc4py": "import slepc4py; slepc4py.init(); import slepc4py.SLEPc",
               "petsc4py": "import petsc4py; petsc4py.init(); import petsc4py.PETSc",
               "dolfinx": "import dolfinx.fem.petsc"}
    return client.try_run([client.args.python, "-c", modules[needs]], ranks=0)[0] == 0


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks()
    with open(DOCUMENT) as file:
        text = file.read()
    blocks = [m.groupdict() for m in BLOCK.finditer(text)]
    checks.true(len(blocks) == text.count("```sh"),
                f"{text.count('```sh')} blocks of commands, {len(blocks)} of them with the "
                'comment that the test reads: <!-- block NAME: prints "REGEX"; needs CLIENT --> directly above')
    check_gpu_lines(text, blocks, checks)
    debian = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real"
    if args.build != "3.18-real-32" or args.petsc_dir != debian:
        skip(f"the document is for Debian's PETSc in {debian}, this build for {args.build} in {args.petsc_dir}")
    home = fresh_folder(args.scratch, "home")
    os.symlink(args.prefix, f"{home}/compound")
    os.makedirs(f"{home}/bin")
    os.symlink(args.python, f"{home}/bin/python3")
    env = {"HOME": home, "PATH": f"{home}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": "", "PETSC_DIR": ""}
    start = blocks[0]["code"]
    missing = []
    for block in blocks:
        if block["needs"] and not is_here(client, block["needs"]):
            missing.append(block["needs"])
            print(f"block {block['name']}: not run, {block['needs']} is not here")
            continue
        code = start if block is blocks[0] else start + block["code"]
        code, output = client.try_run(["bash", "-eu", "-o", "pipefail", "-c", code], ranks=0, env=env, cwd=home)
        checks.true(code == 0, f"block {block['name']} ended with code {code}:\n{output[-4000:]}")
        checks.true(re.search(block["prints"], output, re.S),
                    f"block {block['name']} does not print '{block['prints']}':\n{output[-4000:]}")
        print(f"block {block['name']}: {'works' if code == 0 else 'fails'}")
    if missing and os.environ.get("COMPOUND_CLIENTS_REQUIRED"):
        checks.true(False, f"missing, and COMPOUND_CLIENTS_REQUIRED is set: {', '.join(missing)}")
    checks.finish()


main()
