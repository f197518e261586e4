"""Blocks of code in documents, and their commands of our programs, made small enough to be run as a test."""

import os
import re

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
EXAMPLES = ("elasticity", "helmholtz", "spin_transformation", "custom_entry", "lattice_dirac")
TOOLS = ("compound-bench", "compound-tune")
STANDS_FOR = {"app": "elasticity", "program": "elasticity"}  # names for a user's own program
OF_DEVICES = re.compile(r"-mat_compound_plan.*(cusparse:|lanes=[2-9]|lanes=[13]\d|threads=)")
PLOT = re.compile(r"examples/plot_\w+\.py$")
DEVICE = re.compile(r" -(?:dm_)?vec_type cuda| -use_gpu_aware_mpi 0| -log_view_gpu_time| -mat_compound_entry_file \S+")
PLUGIN = re.compile(r"<path>/libpetsccompound\.so|<plugin>|\$plugin(?:_complex)?\b"
                    r"|\$\(pkg-config --variable=plugin [\w.-]+\)|build/[\w-]+/plugin/libpetsccompound\.so")

# What a document leaves open, or asks in a size that takes longer than a test may: (programs, pattern, replacement).
EXAMPLE, TOOL = r"^(?!compound-)", "^compound-"
SMALLER = [
    ("-pc_type gamg", r"-mat_type T\b", "-mat_type aijcompound"),
    ("", r"(-mat_type|-ksp_type|-pc_type) ([TKP])\b", lambda m: m[1] + " " + {"T": "baijcompound", "K": "cg",
                                                                             "P": "jacobi"}[m[2]]),
    ("", r"-ksp_compound_loop L\b", "-ksp_compound_loop auto"),
    ("", r"-ksp_cgcompound_reductions R\b", "-ksp_cgcompound_reductions 1"),
    ("", r"-grid (?:G\b|\$grid)", "-grid 7"),
    (TOOL, r"(-entry |entry=)E\b", r"\1dense"),
    ("", r"-block_size B\b", "-block_size 2"),
    ("", r"\bT/", "baijcompound/"),
    (EXAMPLE, r"-box \S+", "-box 3,3,3"),
    (EXAMPLE, r"-refine \d+", ""),
    (EXAMPLE, r"-cells \S+", ""),
    (EXAMPLE, r"-frequency \d+", ""),
    (EXAMPLE, r"^helmholtz", "helmholtz -cells 8,8,8 -frequency 100"),
    (EXAMPLE, r"-sphere \d+", "-sphere 2"),
    (EXAMPLE, r"-lattice \S+", "-lattice 2,2,2,2"),
    (EXAMPLE, r"-(?:repeat|set_up) \d+", "-repeat 1"),
    (EXAMPLE, r"-n \d+", "-n 6"),
    (EXAMPLE, r"docs/images/", ""),
    (EXAMPLE, r"-gauge \S+", "-lattice 2,2,2,2"),
    (EXAMPLE, r"-mass -\S+", "-mass 0.1"),
    (EXAMPLE, r" \|.*", ""),
    (TOOL, r"-n (\d+)x\d+x\d+", "-n 5x4x3"),
    (TOOL, r"-n (?:N|[\d,]+)(?= |$)", "-n 5"),
    (TOOL, r"-rows (?:N|[\d,]+)", "-rows 300"),
    (TOOL, r"-megabytes (?:M|[\d,]+)", "-megabytes 0.05"),
    (TOOL, r"-block_size (\w+,\w+),[\w,]+", r"-block_size \1"),
    (TOOL, r"-(?:rounds|min_time|seconds|samples) \S+", ""),
    (TOOL, r"-long_rows \S+", "-long_rows 2:3"),
    (TOOL, r"-shuffle \d+", "-shuffle 16"),
    (TOOL, r"-n \d+ -long_rows", "-n 12 -long_rows"),
    (TOOL, r"-entry=?FORMAT|entry=FORMAT", "entry=dense"),
    (TOOL, r';\.\.\.(?=")', ""),
    (TOOL, r"-(matrix|pattern) FILE(?:\.mtx)?(?= |$)", r"-\1 A.mtx"),
    (TOOL, r"-json FILE", "-json out.json"),
    (TOOL, r"-complex blocks", "-complex blocks -block_size 2"),
    (TOOL, r"-matrix A.mtx -complex", "-matrix complex.mtx -complex"),
    ("^compound-bench", "$", " -rounds 1 -min_time 0"),
    ("^compound-tune(?!.* -(?:list|merge|compare|bytes) )", "$", " -seconds 1 -samples 3 -products 300"),
]


def documents():
    """Paths from the root of the tree of what users read, the parts that are made for the site left out."""
    found = ["README.md", "CONTRIBUTING.md"]
    for folder, _, files in os.walk(os.path.join(TOP, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), TOP) for name in files if name.endswith(".md")]
    return sorted(path for path in found if os.path.exists(os.path.join(TOP, path)))


def blocks(text):
    """(number of the first line, language, lines, the line above) of each fenced or indented block."""
    lines, at, above = text.split("\n"), 0, ""
    while at < len(lines):
        line, end = lines[at], at + 1
        if re.match(r" *```", line):
            while end < len(lines) and not re.match(r" *```\s*$", lines[end]):
                end += 1
            yield at + 1, line.strip().strip("`"), lines[at + 1:end], above
            end, above = end + 1, ""
        elif line.startswith("    ") and not above.strip():
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end]):
                end += 1
            while not lines[end - 1]:  # empty lines are of a block where more of it follows
                end -= 1
            yield at + 1, "", [text[4:] for text in lines[at:end]], above
            above = "x"
        else:
            above = line
        at = end


def commands(lines):
    """Lines of a block as a shell has them: joined after a backslash, without comments and empty ones."""
    joined = "\n".join(lines).replace("\\\n", " ")
    plain = [re.sub(r"(^|\s+)#\s.*$", "", line).strip() for line in joined.split("\n")]
    return [" ".join(line.split()) for line in plain if line]


def program_of(command):
    """(number of processes, program, its options) of a command of a program of ours, or None."""
    ranks, words = 1, command.split(" ")
    if words[0].startswith("-mat_compound_"):
        return 1, "elasticity", command + " -mat_type baijcompound"
    if words[0] == "python3" and PLOT.match(words[1]):
        return 1, "python3", " ".join(words[1:])
    if words[0] in ("mpirun", "mpiexec") and words[1:2] == ["-n"]:
        ranks, words = 2, words[3:]
    name = os.path.basename(words[0]) if words else ""
    name = STANDS_FOR.get(name, name)
    return (ranks, name, " ".join(words[1:])) if name in EXAMPLES + TOOLS else None


def needs_device(command):
    """A tool's command that has no meaning on the host; programs solve there what they would on a device."""
    return re.search(r"-device cuda|-cusparse |\bcusparse\b", command) is not None


def is_run(command):
    found = program_of(command)
    return found is not None and not (found[1] in TOOLS and needs_device(command)) and not OF_DEVICES.search(command)


def smaller(command, plugin):
    """(processes, program, options) as the test runs it."""
    ranks, name, options = program_of(command)
    line = f"{name} {options} "
    if name in EXAMPLES:
        line = DEVICE.sub("", line)
    line = PLUGIN.sub(plugin, line).replace("$examples/", "examples/")
    for programs, pattern, replacement in SMALLER:
        if re.search(programs, line):
            line = re.sub(pattern, replacement, line.strip() if pattern == "$" else line)
    options = line.split(" ", 1)[1]
    if name in EXAMPLES:
        if "-dll_append" not in options and name != "custom_entry":
            options += f" -dll_append {plugin}"
        if name == "elasticity" and "-box" not in options and "-mesh" not in options:
            options += " -box 3,3,3"
        options += " -options_left"
    return ranks, name, " ".join(options.split())
