"""The rows of table.txt."""

import os
import re
import shlex
from dataclasses import dataclass

from compare import Tolerance

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.txt")
FLAGS = {
    "quick": "also in the quick list", "quick=": "the same with this parent; with both in the tier all",
    "real": "real scalars alone", "complex": "complex scalars alone",
    "since=": "the first release that has the case", "until=": "the last one",
    "tol=": "relative tolerance of numbers, where the case itself solves no better",
    "unordered": "ranks print when they like",
    "host": "not with CUDA vectors",
    "aij": "of aijcompound alone", "baij": "of baijcompound alone", "sbaij": "of sbaijcompound, too",
    "baij-fails": "ends in an error with baij too", "baij-fails-since=": "the same, from a release on",
    "baij-fails-until=": "up to a release",
    "aij-fails": "the same of aij", "aij-fails-since=": "", "aij-fails-until=": "",
    "sbaij-fails-since=": "the same of sbaij",
}


class BadTable(Exception):
    pass


def version(text):
    return [int(part) for part in text.split(".")[:2]]


@dataclass
class Case:
    program: str
    ranks: int
    flags: dict
    options: list
    remark: str

    def __str__(self):
        return f"{self.program} np{self.ranks} {shlex.join(self.options)}".strip()

    def is_of(self, parent):
        """Whether the case is for our type above this one of PETSc's."""
        if parent == "sbaij":
            return "sbaij" in self.flags
        other = {"baij": "aij", "aij": "baij"}[parent]
        return other not in self.flags

    def is_quick(self, parent):
        both = os.environ.get("COMPOUND_TIER") == "all"
        return "quick" in self.flags and (both or self.flags["quick"] in ("", parent) or parent == "sbaij")

    def why_not(self, petsc, cuda):
        """Why this case is not for the PETSc in use; None if it is."""
        for scalar in ("real", "complex"):
            if scalar in self.flags and petsc["scalar"] != scalar:
                return f"for {scalar} scalars: {self.remark}" if self.remark else f"for {scalar} scalars"
        if "since" in self.flags and version(petsc["release"]) < version(self.flags["since"]):
            return f"since PETSc {self.flags['since']}"
        if "until" in self.flags and version(petsc["release"]) > version(self.flags["until"]):
            return f"until PETSc {self.flags['until']}"
        if cuda and "host" in self.flags:
            return f"not with CUDA vectors: {self.remark}"
        return None

    def parent_fails(self, parent, release):
        """Whether the table says that this release's baij, or aij, ends in an error here."""
        since, until = (self.flags.get(f"{parent}-fails-{end}") for end in ("since", "until"))
        return (f"{parent}-fails" in self.flags or (since is not None and version(release) >= version(since))
                or (until is not None and version(release) <= version(until)))

    def tolerance(self):
        return Tolerance(relative=float(self.flags["tol"])) if "tol" in self.flags else Tolerance()

    def data_files(self, petsc):
        return [word[len("DATA/"):].replace("INDEX", petsc["index"]) for word in self.options
                if word.startswith("DATA/")]


def parse_flags(text, where):
    flags = {}
    for flag in [] if text == "-" else text.split(","):
        name, equals, value = flag.partition("=")
        if name + equals not in FLAGS:
            raise BadTable(f"{where}: unknown flag '{flag}'; choose from {', '.join(FLAGS)}")
        flags[name] = value
    return flags


def parse_row(line, where):
    row, _, remark = line.partition(" # ")
    fields = row.split(None, 3)
    if len(fields) < 3 or not fields[1].isdigit() or not 1 <= int(fields[1]) <= 4:
        raise BadTable(f"{where}: wanted 'program ranks(1 to 4) flags options', found '{line}'")
    options = shlex.split(fields[3]) if len(fields) > 3 else []
    if not any("TYPE" in option for option in options):
        raise BadTable(f"{where}: no TYPE in the options of {fields[0]}; the matrix type goes there")
    return Case(fields[0], int(fields[1]), parse_flags(fields[2], where), options, remark.strip())


def read(path=TABLE):
    cases, seen = [], {}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            where = f"{os.path.basename(path)}:{number}"
            case = parse_row(line.rstrip(), where)
            key = (case.program, case.ranks, re.sub(r"\s+", " ", " ".join(case.options)))
            if key in seen:
                raise BadTable(f"{where}: the same case as in line {seen[key]}")
            seen[key] = number
            cases.append(case)
    return cases
