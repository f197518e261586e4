"""Runs one program with one matrix type and says what came of it."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field

# Ranks share cores here: they wait by yielding, are bound to none, and need no networks. Open MPI refuses root unless
# told.
MPI_SETTINGS = {
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_pml": "ob1", "OMPI_MCA_odls_base_sigkill_timeout": "0", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Not every program reads both, of which PETSc would warn.
CUDA_VECTORS = ["-vec_type", "cuda", "-dm_vec_type", "cuda", "-options_left", "no"]
CUDA_PETSC = ["-use_gpu_aware_mpi", "0"]  # without it such a PETSc ends under an MPI that takes no device pointers


@dataclass
class Outcome:
    code: int
    output: str
    errors: str
    seconds: float
    types: dict = field(default_factory=dict)  # how often a matrix became of each type
    prefixes: set = field(default_factory=set)
    products: int = 0
    device_bytes: int = 0

    def complaint(self):
        """What PETSc said first, or how the program ended."""
        text = self.errors + "\n" + self.output
        start = re.search(r"- Error Message -|PETSC ERROR: Caught signal", text)  # what stands before are warnings
        said = [line.strip() for line in re.findall(r"PETSC ERROR: (.*)", text[start.start() if start else 0:])]
        said = [line for line in said if line and not line.startswith("---")]
        if said:
            return " ".join(said[:2])
        if self.code == TIMED_OUT:
            return f"no end after {self.seconds:.0f} s"
        last = [line for line in (self.errors + self.output).splitlines() if line.strip()][-1:]
        return f"ended with code {self.code}: {' '.join(last).strip()}"


TIMED_OUT = -1000


class Runner:
    def __init__(self, programs, plugin, mpiexec, library_folder, timeout, cuda_petsc):
        self.programs, self.plugin, self.mpiexec, self.timeout = programs, plugin, mpiexec, timeout
        self.always = CUDA_PETSC if cuda_petsc else []
        self.environment = dict(os.environ)
        self.environment.pop("PETSC_OPTIONS", None)
        for name, value in {**MPI_SETTINGS, **(AS_ROOT if os.getuid() == 0 else {})}.items():
            self.environment.setdefault(name, value)
        folders = [library_folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        self.environment["LD_LIBRARY_PATH"] = ":".join(folders)

    def run(self, source, ranks, options, mat_type, extra=()):
        """In a folder of its own, which goes afterwards. TYPE in the options is the matrix type, DATA the folder of
        PETSc's data files, INDEX how many bits an index has (in the names of these files)."""
        values = {"TYPE": mat_type, "DATA": self.programs.data, "INDEX": self.programs.petsc["index"]}
        words = [re.sub("|".join(values), lambda match: values[match.group()], word) for word in options]
        command = [self.programs.path(source), *words, *extra, *self.always, "-dll_append", self.plugin]
        if ranks > 1:
            command = [self.mpiexec, "-n", str(ranks), *command]
        folder = tempfile.mkdtemp(prefix="compound-petsc-")
        try:
            return self.run_in(folder, command)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run_in(self, folder, command):
        facts = os.path.join(folder, "probe")
        before = os.times().elapsed
        # Output to files, not pipes: what a rank leaves behind cannot keep us waiting.
        with open(os.path.join(folder, "stdout"), "wb+") as out, open(os.path.join(folder, "stderr"), "wb+") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                       start_new_session=True, env=dict(
                                           self.environment, COMPOUND_PROBE=facts, OMPI_MCA_orte_tmpdir_base=folder))
            try:
                code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                stop(process)
                code = TIMED_OUT
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(20_000_000).decode(errors="replace"))
        outcome = Outcome(code, *texts, os.times().elapsed - before)
        if os.path.exists(facts):
            with open(facts) as file:
                read_facts(file.read(), outcome)
        return outcome


def stop(process):
    """Ends it with its ranks: those are in groups of their own, and mpiexec ends them if it is asked to end itself."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def read_facts(text, outcome):
    """The lines of probe.c, of all ranks."""
    for line in text.splitlines():
        words = line.split()
        if words[0] == "type":
            outcome.types[words[1]] = outcome.types.get(words[1], 0) + int(words[2])
        elif words[0] == "prefix":
            outcome.prefixes.add((words[1], "" if words[2] == "-" else words[2]))
        elif words[0] == "products":
            outcome.products += int(words[1])
        elif words[0] == "device_bytes":
            outcome.device_bytes = max(outcome.device_bytes, int(words[1]))
