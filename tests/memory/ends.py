#!/usr/bin/env python3
"""No memory on one process of several, at allocations of the plugin and of PETSc: what a scenario calls ends well on
all processes, or the program ends with PETSC_ERR_MEM. It never hangs, crashes or goes on with a wrong matrix.

usage: ends.py [--sites N] [--scenario NAME] COMMAND...    mpiexec -n 3 memory -dll_append libpetsccompound.so

Where a program ends its next site is tried by a new one.
"""

import argparse
import re
import subprocess
import sys

ENDED = 55  # PETSC_ERR_MEM, by MPI_Abort()
MOST_LOST = 3  # programs of one site whose lines Open MPI loses as they end


def run(command, *arguments):
    return subprocess.run([*command, *arguments], capture_output=True, text=True, errors="replace")


def meet(command, name, sites):
    """How many sites were tried, how many programs ended, and what is wrong."""
    tried = ended = lost = 0
    wrong = []
    while True:
        said = run(command, "-memory_scenario", name, "-memory_ends", "-memory_sites", str(sites), "-memory_from",
                   str(tried))
        tries = re.findall(r"^try (\d+): (.*)", said.stdout, re.M)
        before, tried = tried, int(tries[-1][0]) if tries else tried
        wrong += re.findall(rf"^  ({re.escape(name)}, process.*)", said.stdout, re.M)
        if said.returncode == 0 or wrong:
            return tried, ended, wrong
        if said.returncode == ENDED and "ends" in said.stdout.splitlines():
            ended += tried > before
            if tried == sites:
                return tried, ended, wrong
        elif tries:
            wrong.append(f"{tries[-1][1]}: status {said.returncode}\n{said.stdout[-1500:]}{said.stderr[-1500:]}")
        lost = lost + 1 if tried == before else 0
        if lost and (said.returncode != ENDED or lost == MOST_LOST):
            wrong.append(f"{name}: no site was tried, status {said.returncode}\n{said.stdout}{said.stderr}")
            return tried, ended, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=6, help="of each scenario, over all processes (%(default)s)")
    parser.add_argument("--scenario", help="this one alone")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    a = parser.parse_args()
    names = [a.scenario] if a.scenario else run(a.command, "-memory_list").stdout.splitlines()
    if not names:
        sys.exit(f"{' '.join(a.command)} names no scenario")
    print(f"{'scenario':28} {'tried':>6} {'ended':>6} {'wrong':>6}")
    faults = 0
    for name in dict.fromkeys(names):
        tried, ended, wrong = meet(a.command, name, a.sites)
        print(f"{name:28} {tried:6} {ended:6} {len(wrong):6}", *[f"  {text}" for text in wrong], sep="\n", flush=True)
        faults += len(wrong)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
