#!/usr/bin/env python3
"""Draw surfaces that spin_transformation wrote side by side: the first as it was, the others as they became of it.

python3 plot_surface.py before.obj after.obj picture.png [--view azimuth,elevation] [--checks n] [--titles before,after]

The first surface gets a pattern of squares by longitude and latitude, the others the same pattern on the same
triangles: where angles are kept, squares stay squares, larger or smaller. Colours show how much lengths grew. Needs
numpy, matplotlib and Pillow (which matplotlib brings).
"""
import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from PIL import Image


def read_obj(path):
    lines = [line.split() for line in open(path)]
    return (np.array([line[1:4] for line in lines if line[0] == "v"], dtype=float),
            np.array([line[1:4] for line in lines if line[0] == "f"], dtype=int) - 1)


def project(points, azimuth, elevation):
    """Coordinates on the picture (right, up) and towards the eye."""
    a, e = np.radians([azimuth, elevation])
    right = [-np.sin(a), np.cos(a), 0]
    up = [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)]
    eye = [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]
    return points @ np.array([right, up, eye]).T


def areas(points, faces):
    p = points[faces]
    return np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1) / 2


def pattern(points, faces, checks):
    """Squares by longitude and latitude about the middle of a surface: 0 or 1 for each triangle."""
    p = points[faces].mean(axis=1) - points.mean(axis=0)
    longitude = np.arctan2(p[:, 1], p[:, 0])
    # Mercator's: squares on a sphere
    height = np.arctanh(np.clip(p[:, 2] / np.linalg.norm(p, axis=1), -0.9999, 0.9999))
    return (np.floor(longitude * checks / np.pi) + np.floor(height * checks / np.pi)).astype(int) % 2


def draw(ax, points, faces, colours, view):
    corners = project(points, *view)[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    light = np.array([-0.35, 0.55, 0.76])
    shade = 0.5 + 0.5 * np.clip(normal @ light, 0, 1)
    seen = normal[:, 2] > 0
    order = np.flatnonzero(seen)[np.argsort(corners[seen][:, :, 2].mean(axis=1))]  # far ones first
    lit = colours * shade[:, None]
    ax.add_collection(PolyCollection(corners[order][:, :, :2], facecolors=lit[order], edgecolors=lit[order],
                                     linewidths=0.3))
    low, high = corners[:, :, :2].min(axis=(0, 1)), corners[:, :, :2].max(axis=(0, 1))
    half = 0.51 * (high - low).max()
    ax.set_xlim((low + high)[0] / 2 - half, (low + high)[0] / 2 + half)
    ax.set_ylim((low + high)[1] / 2 - half, (low + high)[1] / 2 + half)
    ax.set_aspect("equal")
    ax.axis("off")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("obj", nargs="+", help="two surfaces or more, of the same triangles")
    parser.add_argument("png")
    parser.add_argument("--view", default="60,30", help="azimuth,elevation in degrees (--view=-42,24)")
    parser.add_argument("--checks", type=int, default=10, help="squares half around the equator")
    parser.add_argument("--titles", default="", help="texts above the surfaces, with commas between")
    options = parser.parse_args()
    view = [float(v) for v in options.view.split(",")]
    surfaces = [read_obj(path) for path in options.obj]
    before, faces = surfaces[0]
    squares = pattern(before, faces, options.checks)
    scale = [np.log2(np.sqrt(areas(p, faces) / areas(before, faces))) for p, _ in surfaces]
    most = max(np.abs(s).max() for s in scale) or 1
    map_of = plt.get_cmap("coolwarm")
    titles = options.titles.split(",") + [""] * len(surfaces)
    fig = plt.figure(figsize=(4.6 * len(surfaces) + 0.9, 4.9))
    width = 4.6 / fig.get_figwidth()
    for i, (points, _) in enumerate(surfaces):
        ax = fig.add_axes([i * width, 0.01, width, 0.91])
        colours = map_of(0.5 + 0.5 * scale[i] / most)[:, :3] * np.where(squares, 1.0, 0.78)[:, None]
        draw(ax, points, faces, colours, view)
        ax.set_title(titles[i], fontsize=11)
    bar = fig.colorbar(plt.cm.ScalarMappable(plt.Normalize(-most, most), map_of),
                       cax=fig.add_axes([len(surfaces) * width + 0.01, 0.2, 0.018, 0.6]))
    ticks = np.arange(-np.floor(most), np.floor(most) + 1)
    bar.set_ticks(ticks, labels=[f"{2.0 ** t:g}" for t in ticks])
    bar.set_label("lengths are multiplied by")
    fig.savefig(options.png, dpi=120)
    Image.open(options.png).convert("RGB").quantize(256, kmeans=2).save(options.png, optimize=True)  # a smaller file


if __name__ == "__main__":
    main()
