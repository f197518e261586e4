"""What the tests of the programs share: runs of a command, expectations that are counted, and every test_ function of a
file in turn."""

import os
import subprocess
import tempfile

WHOLE = os.environ.get("COMPOUND_TIER") == "all"  # else what a change is to meet every time
failures = []
runs = 0


def expect(condition, message):
    if not condition:
        failures.append(message)


def is_without_device(code, stderr, command, program):
    """Whether a run on a device ended because there is none, or none for this program; says so, or that there has to
    be one."""
    if code == 0:
        return False
    expect(not os.environ.get("COMPOUND_DEVICE_REQUIRED"), f"{command}: {stderr}")
    print(f"skipped: {command}: {(stderr.strip().splitlines() or ['no output'])[-1]}")
    expect(any(why in stderr for why in ("-device cuda: this PETSc has no CUDA; use a",
                                         "-device cuda: no CUDA device can be used",
                                         f"-device cuda: this {program} was built without")), f"{command}: {stderr}")
    return True


def run(command, env=None):
    """Returns exit code, stdout, stderr and the command."""
    global runs
    runs += 1
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr, " ".join(command)


def run_tests(tests, args):
    """Runs what is named test_... of a module's globals with a folder of their own; the exit status."""
    with tempfile.TemporaryDirectory() as args.folder:
        for name, test in sorted(tests.items()):
            if name.startswith("test_"):
                test(args)
    print(f"{runs} runs, {len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures else 0
