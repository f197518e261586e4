#!/usr/bin/env python3
"""Draw the deformed body that elasticity wrote with -vtu, coloured by displacement.

    python3 plot_elasticity.py bracket.vtu bracket.png [--scale s] [--view azimuth,elevation]

Needs numpy, matplotlib and Pillow (which matplotlib brings). Without --scale the largest displacement is drawn as 8 %
of the body's size.
"""
import argparse
import xml.etree.ElementTree as xml

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from PIL import Image

# the faces of a cell by its number of vertices, as seen from outside
FACES = {4: [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)],
         8: [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (3, 7, 6, 2), (0, 4, 7, 3), (1, 2, 6, 5)]}

COLOURS = LinearSegmentedColormap.from_list("turbo_bright", plt.get_cmap("turbo")(np.linspace(0.1, 0.93, 256)))


def read_vtu(path):
    """Points, cells and displacement of a VTU file as elasticity writes it: text, one kind of cell."""
    arrays = {a.get("Name"): a for a in xml.parse(path).iter("DataArray")}
    numbers = {name: np.array(a.text.split(), dtype=float) for name, a in arrays.items()}
    vertices = int(numbers["offsets"][0])
    return (numbers["Points"].reshape(-1, 3), numbers["connectivity"].astype(int).reshape(-1, vertices),
            numbers["displacement"].reshape(-1, 3))


def surface(cells):
    """Faces that belong to one cell only, each with its vertices in order."""
    faces = np.vstack([cells[:, f] for f in FACES[cells.shape[1]]])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]


def project(points, azimuth, elevation):
    """Coordinates on the picture (right, up) and towards the eye."""
    a, e = np.radians([azimuth, elevation])
    right = [-np.sin(a), np.cos(a), 0]
    up = [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)]
    eye = [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]
    return points @ np.array([right, up, eye]).T


def draw(ax, points, faces, value, view):
    p = project(points, *view)[faces]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, -1] - p[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    light = np.array([-0.35, 0.55, 0.76])
    shade = 0.62 + 0.38 * np.clip(normal @ light, 0, 1)
    seen = normal[:, 2] > 0
    order = np.flatnonzero(seen)[np.argsort(p[seen][:, :, 2].mean(axis=1))]  # far ones first
    colour = COLOURS(value[faces].mean(axis=1) / value.max())
    colour[:, :3] *= shade[:, None]
    ax.add_collection(PolyCollection(p[order][:, :, :2], facecolors=colour[order], edgecolors=(0, 0, 0, 0.15),
                                     linewidths=0.2))


def outline(points, faces, view, angle=35):
    """Sharp edges of the surface, as segments on the picture."""
    p = points[faces]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, -1] - p[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    k = faces.shape[1]
    edges = np.sort(np.vstack([faces[:, [i, (i + 1) % k]] for i in range(k)]), axis=1)
    owner = np.tile(np.arange(len(faces)), k)
    order = np.lexsort(edges.T)
    edges, owner = edges[order], owner[order]
    pair = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
    cosine = (normal[owner[pair]] * normal[owner[pair + 1]]).sum(axis=1)
    return project(points, *view)[edges[pair[cosine < np.cos(np.radians(angle))]]][:, :, :2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vtu")
    parser.add_argument("png")
    parser.add_argument("--scale", type=float, help="factor on the displacement")
    parser.add_argument("--view", default="-42,24", help="azimuth,elevation in degrees (--view=-42,24)")
    options = parser.parse_args()
    points, cells, displacement = read_vtu(options.vtu)
    size = np.ptp(points, axis=0).max()
    length = np.linalg.norm(displacement, axis=1)
    scale = options.scale if options.scale is not None else 0.08 * size / length.max()
    view = [float(v) for v in options.view.split(",")]
    faces = surface(cells)
    fig = plt.figure(figsize=(10, 7.5))
    ax = fig.add_axes([0.01, 0.02, 0.86, 0.92])
    draw(ax, points + scale * displacement, faces, length, view)
    for segment in outline(points, faces, view):
        ax.plot(*segment.T, color="0.55", linewidth=0.8, zorder=0)
    ax.set_aspect("equal")
    ax.autoscale_view()
    ax.margins(0.03)
    ax.axis("off")
    bar = fig.colorbar(plt.cm.ScalarMappable(plt.Normalize(0, length.max()), COLOURS),
                       cax=fig.add_axes([0.89, 0.2, 0.022, 0.6]))
    bar.set_label("displacement")
    fig.text(0.5, 0.965, ha="center", fontsize=11,
             s=f"{len(points):,} nodes, {len(cells):,} elements; displacement drawn {scale:.3g} times; grey: at rest")
    fig.savefig(options.png, dpi=120)
    Image.open(options.png).convert("RGB").quantize(256, kmeans=2).save(options.png, optimize=True)  # a smaller file


if __name__ == "__main__":
    main()
