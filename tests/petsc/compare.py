"""Compares the outputs of one program with two matrix types, number by number."""

import math
import re
from dataclasses import dataclass

# What our type prints that its parent does not: lines of -mat_view ::ascii_info (plugin/view/view.cpp) are dropped,
# names of types become the parent's. This is the only place that knows. "block size is", "using I-node": parallel
# matrices of a DMDA print them with our type alone.
OWN_LINES = re.compile(r"^ *(compound (plan|plan origin|entry|hint|backend|memory|blocks): |block size is \d+$|(not "
                       r")?using I-node \(on process \d+\) routines)")
OWN_NAMES = re.compile(r"(b?aij)compound(csr|ellr|sell)?")
# With CUDA vectors on our side, views of vectors say so.
OWN_VECTORS = re.compile(r"\btype: (seq|mpi)cuda\b")

# What differs between two runs of the same program: addresses, and the numbers of objects without a name.
VARYING = [(re.compile(r"\b(\w+)_0x[0-9a-fA-F]+_\d+"), r"\1_unnamed"), (re.compile(r"0x[0-9a-fA-F]+"), "0x")]
# "1. - 2. i" is one sign and one number; "< 1.e-11" stands for a number that small.
SPELLING = [(re.compile(r"([-+]) (\d[^ ]*) ?i\b"), r"\1\2 i"), (re.compile(r"< ?(1\.?e-\d+)"), r"\1")]

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b)(?![\w])")
ITERATIONS = re.compile(r"\bits?\b|iteration|evaluations", re.I)
MONITOR = re.compile(r"^\d+ .*norm", re.I)


@dataclass
class Tolerance:
    """Numbers with a point or exponent are the same within `relative`, within `absolute` times the largest number of
    the lines that read the same (for residuals that fell far), or, of three digits or more, within one unit of the last
    place printed (numbers may be rounded apart)."""

    relative: float = 1e-6
    absolute: float = 1e-10


@dataclass
class Line:
    text: str  # with # in place of numbers
    words: list  # the numbers, as printed
    shown: str

    def is_monitor(self):
        return bool(MONITOR.match(self.shown))


def lines_of(output):
    lines = []
    for line in output.splitlines():
        if OWN_LINES.match(line):
            continue
        line = OWN_VECTORS.sub(r"type: \1", OWN_NAMES.sub(r"\1", line))
        for pattern, replacement in VARYING + SPELLING:
            line = pattern.sub(replacement, line)
        line = " ".join(line.split())
        if line:
            lines.append(Line(re.sub(r" ?# ?", "#", NUMBER.sub("#", line)), NUMBER.findall(line), line))
    return lines


def allowed_difference_of_counts(wanted):
    return max(2, 0.01 * abs(wanted))


def is_integer(word):
    return re.fullmatch(r"[-+]?\d+", word) is not None


def last_place(word):
    """One unit of the last digit of a printed number."""
    mantissa, _, exponent = word.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - digits)


def same_number(found, wanted, line, largest, tolerance):
    a, b = float(found), float(wanted)
    if is_integer(found) and is_integer(wanted):
        return abs(a - b) <= (allowed_difference_of_counts(b) if ITERATIONS.search(line) else 0)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return found.lower() == wanted.lower()
    size = max(abs(a), abs(b))
    near = max(tolerance.relative * size, tolerance.absolute * max(1.0, largest))
    place = min(last_place(found), last_place(wanted))  # "%g" leaves zeros out: the longer of the two tells
    if place <= 0.01 * size:
        near = max(near, place)
    return abs(a - b) <= near * (1 + 1e-9)


def shorter_monitors(found, wanted):
    """Runs of monitor lines that read the same may differ in length as counts of iterations may: cut to the shorter."""
    result = ([], [])
    i = j = 0
    while i < len(found) and j < len(wanted):
        a, b = found[i], wanted[j]
        if a.is_monitor() and a.text == b.text:
            runs = []
            for lines, start in ((found, i), (wanted, j)):
                end = start
                while end < len(lines) and lines[end].text == a.text and (end == start or lines[end].words[0] != "0"):
                    end += 1
                runs.append(lines[start:end])
            own, reference = runs
            if abs(len(own) - len(reference)) > allowed_difference_of_counts(len(reference)):
                return None, f"{len(own)} lines like '{b.shown}', with the base type {len(reference)}"
            shorter = min(len(own), len(reference))
            result[0].extend(own[:shorter])
            result[1].extend(reference[:shorter])
            i, j = i + len(own), j + len(reference)
        else:
            result[0].append(a)
            result[1].append(b)
            i, j = i + 1, j + 1
    result[0].extend(found[i:])
    result[1].extend(wanted[j:])
    return result, None


def largest_numbers(lines):
    largest = {}
    for line in lines:
        for word in line.words:
            value = abs(float(word))
            if not is_integer(word) and math.isfinite(value):
                largest[line.text] = max(largest.get(line.text, 0.0), value)
    return largest


def compare(found, wanted, tolerance=None, unordered=False):
    """(how many numbers were compared, the first difference in words or None)."""
    tolerance = tolerance or Tolerance()
    own, reference = lines_of(found), lines_of(wanted)
    if unordered:  # ranks print when they like
        own, reference = (sorted(lines, key=lambda line: line.shown) for lines in (own, reference))
    pair, difference = shorter_monitors(own, reference)
    if difference:
        return 0, difference
    own, reference = pair
    largest = largest_numbers(reference)
    count = 0
    for a, b in zip(own, reference):
        if a.text != b.text:
            return count, f"'{a.shown}', with the base type '{b.shown}'"
        for x, y in zip(a.words, b.words):
            count += 1
            if not same_number(x, y, b.shown, largest.get(b.text, 0.0), tolerance):
                return count, f"'{a.shown}', with the base type '{b.shown}'"
    if len(own) != len(reference):
        more, lines = ("more", own) if len(own) > len(reference) else ("fewer", reference)
        first = lines[min(len(own), len(reference))].shown
        return count, f"{abs(len(own) - len(reference))} lines {more} than with the base type, first '{first}'"
    return count, None
