"""How pictures of docs/reproduction/plot.py look: colours, dots and bars by matrix, legends above, descriptions for
readers who do not see them."""

import re
from xml.sax.saxutils import escape

from plot_cases import Unfit, family, labels

# Told apart with every kind of colour blindness (Okabe and Ito); grey is for products of the vendor's library.
COLOURS = {"csr": "#0072b2", "sell": "#d55e00", "ellr": "#009e73", "bellpack": "#cc79a7", "hdia": "#e69f00",
           "dia": "#7a5c00", "ccoo": "#56b4e9", "auto": "#000000", "cuSPARSE": "#808080"}
OTHER_COLOURS = ["#332288", "#44aa99", "#999933", "#882255", "#661100", "#117733"]
MARKERS = "os^DvPX*<>"
ROW = 0.27  # inches


class Style:
    """Of each name a colour and a marker of its own: names of one layout have the same colour."""

    def __init__(self):
        self.of, self.colours, self.members = {}, dict(COLOURS), {}

    def __call__(self, name):
        if name not in self.of:
            group = name.split()[0] if name.startswith("cuSPARSE") else family(name)
            if group not in self.colours:
                self.colours[group] = OTHER_COLOURS[(len(self.colours) - len(COLOURS)) % len(OTHER_COLOURS)]
            members = self.members.setdefault(group, [])
            members.append(name)
            self.of[name] = self.colours[group], MARKERS[(len(members) - 1) % len(MARKERS)]
        return self.of[name]


def legend_above(figure, axes, names, height=None):
    """The legend stands above the axes, never on what is drawn; they keep their height, or get another one."""
    handles, texts = axes.get_legend_handles_labels()
    chosen = dict(zip(texts, handles))
    names = [name for name in dict.fromkeys(names) if name in chosen]
    room = 11.5 * figure.get_figwidth()  # letters of this size, about
    columns = max(1, min(len(names), int(room / (6 + max(map(len, names), default=1)))))
    figure.legend([chosen[name] for name in names], names, loc="upper left", ncol=columns, fontsize=8, frameon=False,
                  handletextpad=0.4, columnspacing=1.2, borderaxespad=0.2)
    above = 0.1 + 0.18 * -(-len(names) // columns)
    height = (height or figure.get_figheight()) + above
    figure.set_figheight(height)
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - above / height))


def rows_of_axes(axes, names):
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def plain_log(axes, which="x"):
    """Logarithmic axes with numbers that are read at once, and no powers of ten."""
    from matplotlib import ticker

    for axis in (getattr(axes, name + "axis") for name in which):
        getattr(axes, f"set_{axis.axis_name}scale")("log")
        low, high = axis.get_view_interval()
        subs = (1.0, 2.0, 5.0) if high / low < 1000 else (1.0,)
        axis.set_major_locator(ticker.LogLocator(subs=subs if high / low > 4 else range(1, 10), numticks=20))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(ticker.NullFormatter())


def dots(plt, panels, title, log=False, paper=()):
    """A line for each row, a dot for each series. `panels`: (heading, [(name, {series: value})]), beside each other;
    `paper`: for each of them a value to compare with, and its name."""
    style = Style()
    names = list(dict.fromkeys(name for _, rows in panels for _, values in rows for name in values))
    tall = max(len(rows) for _, rows in panels)
    figure, all_axes = plt.subplots(1, len(panels), figsize=(9, 1), squeeze=False, layout="constrained", sharex=True)
    for axes, (heading, rows) in zip(all_axes[0], panels):
        for y in range(len(rows)):
            axes.axhline(y, color="#dddddd", linewidth=0.8, zorder=0)
        for name in names:
            colour, marker = style(name)
            at = [(values[name], y) for y, (_, values) in enumerate(rows) if name in values]
            axes.plot(*zip(*at or [(float("nan"), 0)]), marker, color=colour, markersize=6, label=name,
                      markeredgecolor="white", markeredgewidth=0.4)
        rows_of_axes(axes, [name for name, _ in rows])
        axes.set_xlabel(title if not heading else f"{title}, {heading}")
        if log:
            plain_log(axes)
        else:
            axes.set_xlim(left=0)
        axes.grid(True, axis="x", linewidth=0.3)
    for axes, (value, text) in zip(all_axes[0], paper):
        axes.axvline(value, color="black", linestyle="--", linewidth=1, label=text)
        names.append(text)
    legend_above(figure, all_axes[0][0], names, 0.65 + ROW * tall)
    return figure, all_axes[0]


def bars(plt, rows, title):
    """Bars of rows (name, {series: value}) from zero, a colour for each series."""
    names = list(dict.fromkeys(name for _, values in rows for name in values))
    figure, axes = plt.subplots(figsize=(9, 1), layout="constrained")
    tall = 0.8 / len(names)
    colours = list(COLOURS.values())
    for i, name in enumerate(names):
        at = [(y + i * tall - 0.4, values[name]) for y, (_, values) in enumerate(rows) if name in values]
        axes.barh(*zip(*at), height=tall, align="edge", label=name, color=colours[i % len(colours)])
    rows_of_axes(axes, [name for name, _ in rows])
    axes.set_xlabel(title)
    legend_above(figure, axes, names, 0.65 + max(ROW, 0.11 * len(names)) * len(rows))
    return figure, axes


def panels_of(cases, values_of):
    """Cases named after a precision stand in a panel of their own each, others in one."""
    named = [re.match(r"(float|double)-", case.get("description")) for case in cases]
    if not all(named):
        return [("", [(name, values_of(case)) for name, case in zip(labels(cases), cases)])]
    panels = {}
    for found, case in zip(named, cases):
        heading = {"float": "single precision", "double": "double precision"}[found[1]]
        panels.setdefault(heading, []).append((case.get("description")[found.end():], values_of(case)))
    return list(panels.items())


def paper_values(texts):
    """Of VALUE:NAME."""
    found = [re.fullmatch(r"([0-9.]+):(.+)", text) for text in texts]
    if not all(found):
        raise Unfit(f"--paper '{texts[found.index(None)]}' is not VALUE:NAME, such as 29.0:the paper's")
    return [(float(f[1]), f[2]) for f in found]


def described(svg, title, description):
    """The picture with a title and a description, which browsers and screen readers tell."""
    words = f'<title id="title">{escape(title)}</title>\n <desc id="desc">{escape(description)}</desc>\n'
    return re.sub(r"(<svg [^>]*)>\n", lambda m: f'{m[1]} role="img" aria-labelledby="title desc">\n {words}', svg,
                  count=1)
