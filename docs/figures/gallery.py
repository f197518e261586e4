#!/usr/bin/env python3
"""Draws the two pictures of docs/gallery.md that no example draws itself, as SVG on the standard output.

    lattice_dirac ... -source point | python3 docs/figures/gallery.py correlator >docs/images/lattice_dirac.svg
    python3 docs/figures/gallery.py symmetric >docs/images/custom_entry.svg

`correlator` reads the line `time slices:` that the example prints. Needs only Python.
"""

import argparse
import math
import sys

INK, GRID, LINE = "#222222", "#d5d5d5", "#1b6ca8"
COLOURS = ["#f6c9a8", "#fae49a", "#bfe3b4", "#aed4f0", "#d9c3ec", "#f2b8c6"]


def picture(width, height, title, description, body):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="14">',
        f"<title>{title}</title>", f"<desc>{description}</desc>",
        f'<rect width="{width}" height="{height}" fill="white"/>', *body, "</svg>", ""])


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}"{more}>{words}</text>'


def slices(lines):
    """The sums of abs(x)^2 over each time slice, as lattice_dirac prints them."""
    for line in lines:
        if line.startswith("time slices:"):
            return [float(number) for number in line.split(":")[1].split()]
    sys.exit("gallery.py: the input has no line 'time slices:'; run lattice_dirac with -source point")


def correlator(values):
    left, right, top, bottom = 90, 20, 20, 60
    width, height = 640, 400
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def at(t, value):
        return (left + (width - left - right) * t / (len(values) - 1),
                top + (height - top - bottom) * (high - math.log10(value)) / (high - low))
    body = []
    for power in range(low, high + 1):
        _, y = at(0, 10.0**power)
        body.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="{GRID}"/>')
        body.append(text(left - 10, y + 5, f'10<tspan dy="-6" font-size="10">{power}</tspan>', "end"))
    for t in range(0, len(values), 4):
        x, _ = at(t, values[0])
        body.append(text(x, height - bottom + 22, str(t)))
    points = [at(t, value) for t, value in enumerate(values)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    body.append(f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{LINE}"/>' for x, y in points]
    body.append(text((left + width - right) / 2, height - 14, "time slice"))
    body.append(text(24, (top + height - bottom) / 2, "sum of |x|² over the slice",
                     more=f' transform="rotate(-90 24 {(top + height - bottom) / 2})"'))
    return picture(width, height, "Decay of a pion's correlator over the time slices of a lattice",
                   "Logarithmic plot of the sums that the example lattice_dirac prints for a point source. They fall "
                   "from the source to the middle of the periodic lattice and rise again.", body)


def symmetric():
    size, gap, left, top = 54, 90, 20, 40
    body = [text(left + 1.5 * size, 25, "block of 3 x 3: 9 scalars")]
    numbers = {}
    for i in range(3):
        for j in range(i, 3):
            numbers[i, j] = len(numbers)
    for i in range(3):
        for j in range(3):
            number = numbers[min(i, j), max(i, j)]
            x, y = left + j * size, top + i * size
            body.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{COLOURS[number]}" '
                        f'stroke="{INK}"/>')
            body.append(text(x + size / 2, y + size / 2 + 5, "abcdef"[number]))
    begin = left + 3 * size + gap
    middle = top + 1.5 * size
    body.append(f'<path d="M {begin - gap + 15} {middle} h {gap - 42} m -9 -7 l 9 7 l -9 7" fill="none" '
                f'stroke="{INK}" stroke-width="2"/>')
    body.append(text(begin + 3 * size, middle - size / 2 - 15, "stored: 6 scalars"))
    for number in range(6):
        x, y = begin + number * size, middle - size / 2
        body.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{COLOURS[number]}" stroke="{INK}"/>')
        body.append(text(x + size / 2, y + size / 2 + 5, "abcdef"[number]))
    return picture(begin + 6 * size + 20, top + 3 * size + 20, "A symmetric block is stored as six scalars",
                   "Nine cells of a symmetric 3 x 3 block, equal ones in one colour, and the six cells that are kept.",
                   body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", choices=["correlator", "symmetric"])
    options = parser.parse_args()
    sys.stdout.write(correlator(slices(sys.stdin)) if options.picture == "correlator" else symmetric())


if __name__ == "__main__":
    main()
