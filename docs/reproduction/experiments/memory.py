"""Sections of the page that need no device: patterns, bytes, fill."""

from experiments import matrices, printed
from experiments.records import figures, is_exact, kind_of_pattern, origin, picture, quartiles, ratio, table
from experiments.steps import HYBRID


def rows_of_matrices(source):
    rows = []
    for m in matrices.COMPOUND:
        if case := source.case("memory-2020", m.name):
            a = case["analysis"]
            rows.append([m.name, m.entry, f"{m.rows:,}", f"{m.entries:,}", kind_of_pattern(m, case),
                         f"{a['block_rows']:,}", f"{a['blocks']:,}",
                         quartiles(a["row_lengths"]), quartiles(a["row_bandwidths"])])
    return rows


def section_matrices(source):
    return [
        "## The 13 matrices of 2019 and 2020",
        "",
        "Table 1 and figures 3 and 4 of the paper (least, quartiles and most; the paper has its distributions as "
        "plots, without numbers). Values are random: neither bytes nor times of",
        "products depend on them. " + origin(source, "memory-2020")[0],
        "",
        *table(["matrix", "entry", "rows, paper", "entries, paper", "pattern here", "rows", "entries", "row lengths",
                "row bandwidths"], rows_of_matrices(source)),
        *picture("rows"),
    ]


def counted_bytes(case, place):
    """None where there is no such plan, or it does not fit."""
    return case["counted"][place].get("bytes") if place < len(case["counted"]) else None


def ratios(m, case):
    """(the paper's, ours) of ELL, Sl-16, Sl-32 and 4x4 blocks over CSR; ours as printed, None where there is none."""
    found = []
    for place, theirs in enumerate(printed.TABLE_9[m.name][2:], 1):
        ours = counted_bytes(case, place)
        if ours and case["counted"][place]["asked"].split()[1].startswith("sell"):
            ours -= 4 * case["analysis"]["block_rows"]
        found.append((theirs, ours and round(ours / counted_bytes(case, 0), 1)))
    return found


def rows_of_table_9(source):
    rows = []
    for m in matrices.COMPOUND:
        case = source.case("memory-2020", m.name)
        base, unit, *_ = printed.TABLE_9[m.name]
        words = {"complex": 2, "quaternion": 4, "dense": 9}[m.entry]
        of_sizes = 4 * (m.rows + 1) + m.entries * (4 + 8 * words)
        row = [m.name, f"{base} {'KiB' if unit == printed.KIB else 'MiB'}", f"{of_sizes / unit:.1f}"]
        if case is None:
            rows.append(row + ["-"] * 6)
            continue
        csr = counted_bytes(case, 0)
        row += [f"{csr / unit:.1f}", "exact" if is_exact(m, case) else "stand-in"]
        row += ["-" if theirs is None else f"{theirs} / {'-' if ours is None else ours}"
                for theirs, ours in ratios(m, case)]
        rows.append(row)
    return rows


def section_table_9(source):
    return [
        "## Memory of layouts (2020, table 9)",
        "",
        "Bytes of compressed rows, and what layouts take over them: the paper's / here, double precision, 32-bit "
        "integers. *By sizes*: 4 (rows + 1) + entries (4 + 8 scalars) from the",
        "paper's rows and entries, which is the paper's number for all 13 (tests/src/layout/memory_test.cpp). Our "
        "slices read a length of each row besides, 4 bytes, which the paper's do not: left out here.",
        origin(source, "memory-2020")[0],
        "",
        *table(["matrix", "CSR, paper", "by sizes", "CSR, here", "pattern", "ELL", "Sl-16", "Sl-32", "as 4x4 blocks"],
               rows_of_table_9(source)),
        "",
        "Where the pattern is the paper's, so are all ratios. Stand-ins of meshes are near; where one row is much "
        "longer than the rest (RFdevice, fem_filter, mono_500Hz, bunny2.4M) ELLPACK alone",
        "depends on that row: the four long rows of the stand-in for RFdevice were chosen by it, and the quadratic "
        "elements of the other two have none so long.",
    ]


def rows_of_table_5(source):
    rows = []
    for m in matrices.FORMATS:
        case = source.case("memory-2015", m.name)
        if case is None:
            continue
        five = ("dia", "hdia:32", "ellr", "sell:32", HYBRID)
        theirs = dict(zip(five, printed.TABLE_5[m.name]))
        ours = {c["asked"]: c.get("bytes") for c in case["counted"]}
        pairs = [f"{figures(theirs[f])} / {figures(None if ours.get(f) is None else ours[f] / 1e6)}"
                 for f in five]
        rows.append([m.name, kind_of_pattern(m, case), f"{m.rows:,} / {case['analysis']['block_rows']:,}",
                     f"{m.entries:,} / {case['analysis']['blocks']:,}",
                     *pairs, figures(ours["csr"] / 1e6)])
    return rows


def words_of_printed_hyb():
    """Against compressed rows of the paper's own rows and entries."""
    pairs = [(m.name, 1e6 * hyb / (4 * (m.rows + 1) + 12 * m.entries)) for m in matrices.FORMATS
             if (hyb := printed.TABLE_5[m.name][4])]
    others = [f"{name} {r:.2f} of them" for name, r in pairs if abs(r - 1) > 0.015]
    return (
        f"The paper's HYB has the bytes of compressed rows, 4 (rows + 1) + 12 entries, within 1.5 % for "
        f"{len(pairs) - len(others)} of {len(pairs)} matrices ({', '.join(others)}), so it has no padding there."
    )


def section_table_5(source):
    return [
        "## Memory of formats (2015, table 5)",
        "",
        "10^6 bytes, the paper's / here, double precision. HYB is gone from cuSPARSE: here it is "
        f"`{HYBRID}` ([cut rows](layouts.md#hyb-rows-that-are-cut)). "
        + origin(source, "memory-2015")[0],
        "",
        *table(["matrix", "pattern here", "rows", "entries", "DIA (`dia`)", "HDIA (`hdia:32`)", "ELL (`ellr`)",
                "HLL (`sell:32`)", "HYB", "CSR (`csr`)"], rows_of_table_5(source)),
        "",
        "Our diagonals have a bit a slot that says whether there is an entry: an eighth of a byte beside the eight of "
        "its value, without which pde100 takes the paper's 56.0. Diagonals depend on the order of unknowns, which for "
        "nlpkkt is not the paper's: DIA is impossible in both. A grid",
        "stands in badly for the diagonals of thermal problems on unstructured meshes: only ELL, HLL and CSR of these "
        "rows compare. " + words_of_printed_hyb(),
    ]


def rows_of_coordinates(source):
    rows = []
    for m in matrices.COORDINATES:
        case = source.case("memory-coo", m.name)
        if case is None:
            continue
        csr, *over = (counted_bytes(case, place) for place in range(5))
        if "stencil" not in m.generated:
            over[-1] = None  # nobody knows how many values the paper's has
        coo = case["analysis"]["blocks"] * 16
        rows.append([m.name, kind_of_pattern(m, case), f"{case['analysis']['block_rows']:,}",
                     f"{case['analysis']['blocks']:,}", f"{csr / 1e6:.1f}", ratio(coo / csr),
                     *[ratio(None if b is None else b / csr) for b in over]])
    return rows


def section_memory_coo(source):
    return [
        "## Memory of compressed coordinates (2020, figure 3)",
        "",
        "10^6 bytes of CSR, and over these: plain coordinates (16 bytes an entry), and chunks of 256 K of them with "
        "rows and columns in as few bytes as each allows; last the same with values by a table",
        "of 256, for matrices that have no more (values of a stencil). The paper's figure has no numbers beside its "
        "plots: below CSR for clustered or repeated columns, above plain coordinates for two of 60",
        "matrices. " + origin(source, "memory-coo")[0],
        "",
        *table(["matrix", "pattern here", "rows", "entries", "CSR", "COO", "`ccoo:256:1`", "`ccoo:256:2`",
                "`ccoo:256:4`", "`codes=scalars8`"], rows_of_coordinates(source)),
        *picture("coordinates-bytes"),
    ]


def rows_of_fills(source):
    rows = []
    cases = [(name, source.case("sampled-2010", name)) for name in matrices.SAMPLED]
    for name, case in cases:
        if case is None:
            continue
        sizes = {b["block"]: b for b in case["analysis"]["block_sizes"]}
        best = case["analysis"]["block_sizes"][0]
        cells = [f"{1 / sizes[b]['fill']:.2f}x" if b in sizes else "dropped"
                 for b in ("2x2", "3x3", "6x6", "7x7", "8x8")]
        rows.append([name, f"{case['analysis']['block_rows']:,}", f"{case['analysis']['blocks']:,}", best["block"],
                     ratio(best["bytes_of_given"]), *cells])
    return rows


def section_fill(source):
    return [
        "## Fill by a sample of the rows (2010, section 6.4)",
        "",
        "Stored over given scalars when a scalar matrix is cut into blocks, by a sample of its rows, and the block "
        "size of the least bytes with its bytes over those of scalars. The paper, for Protein: 1.13x in 3x3, 2.1x in "
        "7x7, 2.2x",
        "in 8x8; its 14 matrices are not to be had here, these four are of the same collection. "
        + origin(source, "sampled-2010")[0],
        "",
        *table(["matrix", "rows", "entries", "least bytes", "over scalars", "2x2", "3x3", "6x6", "7x7", "8x8"],
               rows_of_fills(source)),
    ]
