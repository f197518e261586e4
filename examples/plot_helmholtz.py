#!/usr/bin/env python3
"""Draw the field that helmholtz wrote with -vti: pressure, scattered part and amplitude in the plane z = middle.

    python3 plot_helmholtz.py field.vti field.png

Needs numpy, matplotlib and Pillow (which matplotlib brings).
"""
import argparse
import xml.etree.ElementTree as xml

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image


def read_vti(path):
    """Pressure and incident field as complex arrays [z, y, x], and the spacing, of a file as helmholtz writes it."""
    image = xml.parse(path).find("ImageData")
    cells = [int(n) for n in image.get("WholeExtent").split()][1::2]
    spacing = [float(h) for h in image.get("Spacing").split()]
    values = np.array(image.find(".//DataArray").text.split(), dtype=float).reshape(*(n + 1 for n in reversed(cells)),
                                                                                    4)
    return values[..., 0] + 1j * values[..., 1], values[..., 2] + 1j * values[..., 3], spacing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vti")
    parser.add_argument("png")
    options = parser.parse_args()
    pressure, incident, spacing = read_vti(options.vti)
    middle = pressure.shape[0] // 2
    p = pressure[middle]
    scattered = np.ma.masked_where(p == 0, p - incident[middle])  # a soft body's nodes carry exactly 0
    pictures = [("pressure, Re p", p.real, "RdBu_r"), ("scattered, Re (p - p_in)", scattered.real, "RdBu_r"),
                ("amplitude |p|", abs(p), "viridis")]
    extent = [0, (p.shape[1] - 1) * spacing[0], 0, (p.shape[0] - 1) * spacing[1]]
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.1), constrained_layout=True)
    for ax, (title, values, colours) in zip(axes, pictures):
        top = abs(values).max()
        ax.set_facecolor("0.6")
        shown = ax.imshow(values, origin="lower", extent=extent, cmap=colours, vmin=0 if colours == "viridis" else -top,
                          vmax=top,
                          interpolation="bicubic")
        ax.set_title(title)
        ax.set_xlabel("x in m")
        figure.colorbar(shown, ax=ax, shrink=0.85)
    axes[0].set_ylabel("y in m")
    figure.savefig(options.png, dpi=100)
    Image.open(options.png).convert("RGB").quantize(256, kmeans=2).save(options.png, optimize=True)  # a smaller file


if __name__ == "__main__":
    main()
