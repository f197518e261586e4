"""What the tests of the examples share: run the program as a user does, read what it prints, compare, count."""

import argparse
import os
import re
import subprocess
import sys

WHOLE = os.environ.get("COMPOUND_TIER") == "all"  # else what a change is to meet every time
# What is tested on the host sees no device.
HOST_ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
DEVICE_OPTIONS = "-vec_type cuda -use_gpu_aware_mpi 0"


NO_DEVICE = ("Unknown vector type: cuda", "Cannot lazily initialize PetscDevice")


def skip_without_device(program, smallest):
    """Ends a test on the device where there is none; `smallest` are options of a problem that is solved at once.

    Any other failure of it is left to the test, which then fails.
    """
    done = subprocess.run([program, *f"{smallest} -mat_type aij {DEVICE_OPTIONS}".split()], capture_output=True,
                          text=True)
    lines = [line.split("ERROR: ")[1] for line in done.stderr.splitlines() if "ERROR: " in line and "---" not in line]
    if done.returncode and any(reason in line for line in lines for reason in NO_DEVICE):
        required = os.environ.get("COMPOUND_DEVICE_REQUIRED")
        print(("failed" if required else "skipped") + ": no CUDA vectors here: " + " ".join(lines[:2]))
        sys.exit(1 if required else 0)


def parse_arguments(description, *more):
    parser = argparse.ArgumentParser(description=description)
    for name in ("program", "plugin", *more):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--data", help="folder with published data (COMPOUND_DATA comes first)")
    parser.add_argument("--device", action="store_true", help="with vectors and products on the CUDA device")
    return parser.parse_args()


def numbers(text):
    """The numbers of what is printed after a name."""
    return [float(word) for word in text.split()]


class Checks:
    """Runs the program on a number of processes, counts what was checked, says what failed."""

    def __init__(self, args):
        self.args, self.count, self.failures = args, 0, []

    def run(self, options, ranks=None):
        ranks = ranks or self.args.ranks
        command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        command += [self.args.program, "-dll_append", self.args.plugin]
        environment = HOST_ENVIRONMENT
        if self.args.device:
            command += DEVICE_OPTIONS.split()  # before the others: the last of a kind counts
            environment = None
        command += options.split()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=1800, env=environment)
        except subprocess.TimeoutExpired:
            sys.exit(f"{' '.join(command)}\ndid not end within 1800 s")
        lines = (done.stdout + done.stderr).splitlines(keepends=True)
        output = "".join(line for line in lines if "Configure options" not in line)  # PETSc's own, a screen long
        return done.returncode, output, " ".join(command)

    def solve(self, options, ranks=None):
        """What the program prints as `name: value`."""
        code, output, command = self.run(options, ranks)
        if code != 0:
            sys.exit(f"{command}\nended with code {code}:\n{output[-3000:]}")
        self.output = output
        return dict(re.findall(r"^([A-Za-z][^:\n]*): (.*)$", output, re.M))

    def true(self, condition, message):
        self.count += 1
        if not condition:
            self.failures.append(message)

    def digits(self, values, wanted, what, digits=8):
        agree = (
            len(values) == len(wanted) and all(abs(v - w) <= 0.5 * 10.0**-digits * abs(w)
                                               for v, w in zip(values, wanted))
        )
        self.true(agree, f"{what}: {values}; expected {wanted}")

    def iterations(self, found, wanted, what):
        self.true(abs(found - wanted) <= max(2, 0.01 * wanted), f"{what}: {found} iterations, expected {wanted}")

    def errors(self, messages):
        """Of options. Starts of several processes take long: every sixth is enough to see that all end."""
        for i, (options, message) in enumerate(messages.items()):
            self.error(options, message, None if WHOLE or i % 6 == 0 else 1)

    def error(self, options, message, ranks=None):
        code, output, command = self.run(options, ranks)
        self.true(code != 0 and message in output,
                  f"{command}\n  expected an error with '{message}', got code {code}: {output[:800]}")

    def end(self):
        print(f"{self.count} checks on {self.args.ranks} processes, {len(self.failures)} failures")
        print("\n".join(self.failures))
        return 1 if self.failures else 0
