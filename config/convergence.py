#!/usr/bin/env python3
"""Draws how the norms of conjugate gradients fall (needs matplotlib): preconditioned, natural and true residual.

python3 config/convergence.py --program build/host/examples/elasticity --plugin build/host/plugin/libpetsccompound.so \\
      -o docs/images/convergence.svg -- -mesh examples/data/bracket.msh -pc_type jacobi -ksp_rtol 1e-8
"""

import argparse
import functools
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs" / "reproduction"))
from plot_marks import described  # noqa: E402

TITLE = "Norms of conjugate gradients over iterations"
DESCRIPTION = ("Preconditioned, natural and true residual norms, each over its first value; drawn by "
               "config/convergence.py from what a program prints")
# The name of a curve, the options that print it, and the word before its numbers.
CURVES = [("preconditioned", ["-ksp_norm_type", "preconditioned", "-ksp_monitor_true_residual"],
           "preconditioned resid norm"),
          ("natural", ["-ksp_norm_type", "natural", "-ksp_monitor"], "Residual norm"),
          ("true", ["-ksp_norm_type", "preconditioned", "-ksp_monitor_true_residual"], "true resid norm")]


@functools.cache
def output(program, plugin, options):
    command = [program, "-dll_append", plugin, "-mat_type", "baijcompound", "-ksp_type", "cgcompound", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def norms(args, options, word):
    options = (*args.options, *options)
    found = [float(n) for n in re.findall(rf"KSP .*?{word} ([-+.e\d]+)", output(args.program, args.plugin, options))]
    if not found:
        sys.exit(f"{args.program} {' '.join(options)}\nprints no line with '{word}'")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("-o", "--output", required=True, help="svg, png or pdf")
    parser.add_argument("options", nargs="*", help="options of the program, after --")
    args = parser.parse_args()
    try:
        import matplotlib
    except ImportError:
        sys.exit("skipped: matplotlib is not installed (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "convergence"  # the same file each time
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6, 3.4))
    for name, options, word in CURVES:
        values = norms(args, options, word)
        axes.semilogy([v / values[0] for v in values], label=name, linewidth=1)
    axes.set_xlabel("iteration")
    axes.set_ylabel("norm, of the first")
    axes.grid(True, linewidth=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(args.output, metadata={"Date": None} if args.output.endswith(".svg") else None)
    if args.output.endswith(".svg"):
        picture = pathlib.Path(args.output)
        picture.write_text(described(picture.read_text(encoding="utf-8"), TITLE, DESCRIPTION), encoding="utf-8")


if __name__ == "__main__":
    main()
