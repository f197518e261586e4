"""Writes docs/reproduction.md from the records of docs/reproduction/reproduce.py and the study of tuning. Every number
of ours is of one of these."""

import os
import re
import textwrap

from experiments import layouts, memory, schedules, summary, times, tuned
from experiments.records import COMMAND, RECORDS, Source, older_steps, younger_predictions

HEAD = [
    "# The papers' results, once more",
    "",
    "What five papers measured, and what petsc-compound does in the same experiments; [papers.md](papers.md) has what "
    "they describe. The page is written by `docs/reproduction/reproduce.py` from records of compound-bench and "
    "compound-tune that are kept in the repository, and a test compares the two. Steps without a GPU, with one, the "
    "page alone, its pictures:",
    "",
    f"    {COMMAND} --data DATA",
    f"    {COMMAND} --data DATA --device cuda --seconds 1500",
    "    python3 docs/reproduction/reproduce.py --page",
    "    python3 docs/reproduction/reproduce.py --pictures",
    "",
    "DATA is a folder of meshes and matrices, by the names in "
    "`docs/reproduction/experiments/matrices.py`; without them generated matrices stand in, and the tables say so. An "
    "interrupted run goes on where it ended. `--help` lists the steps with "
    "their seconds. Times of papers are of GPUs of 2008 to 2020 and of cuSPARSE's versions of that time, "
    "those here of an "
    "H100 with CUDA 13 (and some of an H200): ratios to the same baseline compare, times do not. Matrices of the "
    "SuiteSparse collection",
    "that are named as stand-ins cannot be had here.",
    "",
]


def is_prose(line):
    return line and not line.startswith(("|", "#", "!", "    "))


def filled(lines):
    """With paragraphs of at most 120 columns, an item of a list each by itself; code between `` stays in one line."""
    paragraph = []
    for line in [*lines, ""]:
        item = re.match(r"\d+\. ", line)
        if paragraph and (item or not is_prose(line)):
            words = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), " ".join(paragraph))
            indent = " " * len(re.match(r"(\d+\. )?", words)[0])
            yield from textwrap.fill(words, 120, subsequent_indent=indent, break_long_words=False,
                                     break_on_hyphens=False).replace("\0", " ").split("\n")
            paragraph = []
        if is_prose(line):
            paragraph.append(line)
        else:
            yield line


def text(source):
    parts = [
        memory.section_matrices(source),
        memory.section_table_9(source),
        layouts.section_layouts(source),
        schedules.section_schedules(source),
        schedules.section_separately(source),
        times.section_cusparse(source, "cusparse-double", "double"),
        schedules.section_tuned(source),
        times.section_cusparse(source, "cusparse-single", "single"),
        layouts.section_model(source),
        tuned.section_tuned(source),
        times.section_blocks(source),
        memory.section_fill(source),
        memory.section_table_5(source),
        times.section_formats(source),
        memory.section_memory_coo(source),
        times.section_coordinates(source),
        times.section_coded(source),
        times.section_bicgstab(source),
    ]
    lines = list(HEAD)
    for part in [summary.section_summary(source), summary.section_both(source), *parts]:
        lines += part + [""]
    return "\n".join(filled(lines)).rstrip("\n") + "\n"


def write(to):
    with open(to, "w", encoding="utf-8") as out:
        out.write(text(Source()))


def check(to):
    """0 if the page is what the records give, and these may be believed. Says what is older than the heuristic."""
    source = Source()
    for file, records in zip(RECORDS.values(), source.records.values()):
        if older := older_steps(records):
            print(f"{os.path.basename(file)}: run before the present default heuristic: {', '.join(older)}")
        for line in (younger := younger_predictions(records)):
            print(f"{file}: {line}; run the step again")
        if younger:
            return 1
    with open(to, encoding="utf-8") as file:
        there = file.read().split("\n")
    made = text(source).split("\n")
    for number, (a, b) in enumerate(zip(there + [""] * len(made), made + [""] * len(there)), 1):
        if a != b:
            print(f"{to}:{number}: is not what the records give; python3 docs/reproduction/reproduce.py --page\n"
                  f"  there: {a}\n  given: {b}")
            return 1
    return 0
