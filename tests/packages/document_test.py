#!/usr/bin/env python3
"""Every block of docs/python.md works as it stands, in one folder and in their order.

A comment above a block names it and says what it prints (a regular expression over all lines), or which script runs it
instead. A block of Python is saved under its name and run; a block of commands is run by a shell.
"""

import os
import re

from support import TOP, Checks, arguments, need_petsc4py, package, record, run, skip

DOCUMENT = os.path.join(TOP, "docs", "python.md")
BLOCK = re.compile(r'^<!-- block (?P<name>[\w.-]+): (?:prints "(?P<prints>[^\n]*)"|run by (?P<by>[^\n]+)) -->\n'
                   r"```(?P<language>\w+)\n(?P<code>.*?)^```$", re.M | re.S)


def main():
    args, checks = arguments(__doc__), Checks()
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    blocks = [m.groupdict() for m in BLOCK.finditer(text)]
    fences = len(re.findall(r"^```\w", text, re.M))
    checks.true(len(blocks) == fences, f"{fences} blocks, {len(blocks)} of them with the comment that the test reads "
                '(<!-- block NAME: prints "REGEX" -->, or: run by SCRIPT) directly above')
    for block in blocks:
        if block["by"]:
            script = os.path.join(TOP, block["by"].split()[0])
            checks.true(os.path.exists(script), f"block {block['name']}: there is no {script}")
    if record(args.build)["petsc"]["scalar"] != "real":
        skip("the document's programs are run with real scalars")
    env = need_petsc4py(args)
    env["PYTHONPATH"] = env["site"] = package(args.build, f"{args.scratch}/site")
    env["XDG_CACHE_HOME"], env["tree"] = f"{args.scratch}/cache", TOP
    home = f"{args.scratch}/home"
    os.makedirs(f"{home}/bin")
    os.symlink(args.python, f"{home}/bin/python3")
    env["PATH"] = f"{home}/bin:{env['PATH']}"
    if record(args.build)["petsc"]["cuda"]:
        env["PETSC_OPTIONS"] = "-use_gpu_aware_mpi 0"
    for block in blocks:
        name, code = block["name"], block["code"]
        if block["by"]:
            print(f"block {name}: run by {block['by']}")
            continue
        if block["language"] == "python":
            with open(os.path.join(home, name), "w", encoding="utf-8") as file:
                file.write(code)
            command = ["python3", name]
        else:
            command = ["bash", "-eu", "-o", "pipefail", "-c", code]
        status, output, errors = run(command, env, cwd=home)
        checks.true(status == 0, f"block {name} ended with status {status}:\n{output}{errors}")
        checks.true(re.search(block["prints"], output, re.S),
                    f"block {name} does not print '{block['prints']}':\n{output}{errors}")
        print(f"block {name}: {'works' if status == 0 else 'fails'}")
    checks.finish()


main()
