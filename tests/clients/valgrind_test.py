#!/usr/bin/env python3
"""valgrind finds nothing of ours in a small solve: no error and no lost block with a frame of the plugin in its stack.

MPI's and PETSc's own findings are left to them: what counts is our library in the stack. The run is repeated with a
layout that is packed, so that the packing is seen too.
"""

import os
import re
import shutil

from support import Checks, Client, arguments, missing, skip

RUNS = ["", "-mat_compound_layout sell", "-mat_compound_precision single -mat_compound_layout ellr"]


def records(log):
    """valgrind's messages: texts between lines that hold its number alone."""
    lines = [re.sub(r"^==\d+== ?", "", line) for line in log.split("\n") if re.match(r"^==\d+==", line)]
    return [r for r in "\n".join(lines).split("\n\n") if r.strip()]


def ours(log):
    return [r for r in records(log) if "libpetsccompound" in r and re.search(r"^ +(at|by) 0x", r, re.M)]


def main():
    args = arguments(__doc__)
    client, checks = Client(args), Checks()
    if not os.environ.get("COMPOUND_CLIENTS_REQUIRED"):
        skip("slow; config/test.sh --clients runs it, COMPOUND_CLIENTS_REQUIRED=1 ctest -R valgrind too")
    if not shutil.which("valgrind"):
        missing("no program valgrind; Debian: valgrind")
    program = client.compile_elasticity(f"{args.scratch}/elasticity", extra=["-g"])
    for options in RUNS:
        log = f"{args.scratch}/valgrind"
        for old in os.listdir(args.scratch):
            if old.startswith("valgrind."):
                os.remove(os.path.join(args.scratch, old))
        # Debug information is kept, or addresses of libraries that MPI unloaded would be taken for ours.
        check = ["valgrind", "--leak-check=full", "--keep-debuginfo=yes", "--num-callers=40", f"--log-file={log}.%p"]
        output = client.run([*check, program, "-box", "3,3,3", "-dll_append", client.plugin, "-mat_type",
                             "baijcompound",
                             "-mat_view", "::ascii_info", *options.split()], timeout=280)
        checks.compound(output, args.ranks, options)
        texts = []
        for name in os.listdir(args.scratch):
            if name.startswith("valgrind."):
                with open(os.path.join(args.scratch, name), errors="replace") as file:
                    texts.append(file.read())
        # A process that turned into another program (MPI's daemon) leaves a log without a summary.
        texts = [t for t in texts if "ERROR SUMMARY" in t]
        checks.true(len(texts) == args.ranks, f"'{options}': {len(texts)} complete logs of {args.ranks} processes")
        mine = [record for text in texts for record in ours(text)]
        checks.true(not mine, f"'{options}': valgrind reports {len(mine)} of ours, the "
                    f"first:\n{mine[0] if mine else ''}")
        print(f"'{options}': {len(mine)} of ours among {sum(len(records(t)) for t in texts)} messages of {len(texts)} "
              "processes")
    checks.finish()


main()
