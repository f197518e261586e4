"""Sections about times beside cuSPARSE's on a device."""

from experiments import matrices, printed
from experiments.layouts import papers_plan
from experiments.records import figures, kind_of_pattern, origin, picture, ratio, spread_of, table
from experiments.steps import HYBRID


def fastest(found):
    return min(found, key=lambda c: c["median_s"], default=None)


def is_vendor(c):
    return c["kind"] == "cusparse"


def of_layout(name):
    return lambda c: c["kind"] in ("core", "layout") and (c["name"] == name or c["name"].startswith(name + " "))


def by_default(case):
    return fastest([c for c in case["candidates"] if c["kind"] == "core" and c["name"] == "auto"])


def micro(c):
    return "-" if c is None else f"{1e6 * c['median_s']:.1f}"


def quotient(above, below):
    return above["median_s"] / below["median_s"] if above and below else None


def over(vendor, ours):
    return ratio(quotient(vendor, ours))


def cases(source, step, rows):
    return [(m, case) for m in rows if (case := source.case(step, m.name))]


class BesideCusparse:
    """Of a matrix: the papers' 16 layouts by one schedule, and the plan that is taken by default."""

    def __init__(self, case):
        self.case = case
        self.vendor = fastest([c for c in case["candidates"] if is_vendor(c)])
        theirs = [(c, p[0]) for c in case["candidates"] if c["kind"] == "core" and c["name"] != "auto"
                  and (p := papers_plan(c["plan"]))]
        self.reference = next((c for c, layout in theirs if layout == "CSR-AoS-AoS"), None)
        self.best, self.layout = min(theirs, key=lambda x: x[0]["median_s"], default=(None, "-"))
        self.auto = by_default(case)
        self.hamilton = fastest([c for c in case["candidates"] if c["kind"] == "hamilton"])

    def gain(self):
        return quotient(self.reference, self.best)

    def speed(self):
        return quotient(self.vendor, self.auto)


def beside_cusparse(source, step):
    return [(m, BesideCusparse(case)) for m, case in cases(source, step, matrices.COMPOUND)]


def rows_of_cusparse(source, step):
    rows = []
    for m, b in beside_cusparse(source, step):
        layout, gain = printed.GP100[m.name][0:2] if step == "cusparse-single" else printed.GP100[m.name][2:4]
        rows.append([m.name, kind_of_pattern(m, b.case), b.vendor["name"] if b.vendor else "-", micro(b.vendor),
                     over(b.vendor, b.reference), b.layout, over(b.vendor, b.best),
                     f"{layout} {gain:.2f} / {ratio(b.gain())}", micro(b.auto), ratio(b.speed()),
                     over(b.vendor, b.hamilton)])
    return rows


def difference_of_cusparse(source, step):
    """In kind."""
    found = [b for _, b in beside_cusparse(source, step) if b.vendor and b.reference]
    if not found:
        return ""
    newer = [b for b in found if not b.vendor["name"].startswith(("bsrmv", "complex-csr"))]
    small = [b for b in found if b.reference["packed_bytes"] < source.device("cache")]
    return (
        " The paper's cuSPARSE is CUDA 9.2's: BSR, and what there is for complex numbers. Of CUDA 13's calls others "
        f"than bsrmv and complex CSR are the fastest for {len(newer)} of {len(found)}. {len(small)} of these matrices "
        f"lie in an {source.short_name()}'s second cache ({source.device('cache') / 1e6:.1f} MB) as compressed rows."
    )


def section_cusparse(source, step, words):
    return [
        f"## Beside cuSPARSE in {words} precision ({printed.figures_of(f'over cusparse, {words}')})",
        "",
        "Speed over the fastest call of cuSPARSE on the same matrix: of CSR-AoS-AoS (a schedule alone), of the "
        "fastest of the papers' 16 layouts (each in one static schedule of 128 threads and 8 blocks), and of the plan "
        "that is taken by default. The gain by layout is the quotient of the two; the paper's (a GP100) is of tuned "
        f"schedules. The paper has plots of speeds; it names up to {'4.7' if words == 'single' else '2.8'}x for",
        "3x3 blocks and quaternions, and below 1 for complex numbers on the GTX 980 and the GP100. Calls: "
        "cusparseSbsrmv/Dbsrmv by rows and columns, cusparseSpMV on BSR by rows and columns, CSR (ALG1, ALG2), sliced "
        "ELL and COO; complex CSR, sliced ELL and COO for complex numbers. "
        + origin(source, step, "cuda")[0] + difference_of_cusparse(source, step),
        "The default plans are those of the record; the default heuristic has been improved since by what the "
        "search of `joint-2020` "
        "found for these matrices ([tuning.md](tuning.md#the-study)).",
        *(["", *table(["matrix", "pattern", "cuSPARSE's fastest", "us", "CSR-AoS-AoS", "best layout", "its speed",
                       "gain by layout, paper / here", "default plan, us", "its speed", "as four real matrices"], rows)]
          if (rows := rows_of_cusparse(source, step)) else []),
        *picture(step),
    ]


def gflops(case, c):
    return None if c is None else 2e-9 * case["blocks"] / c["median_s"]


# As tables 5 to 8 have them.
FIVE = ("dia", "hdia:32", "ellr lanes=1", "sell:32 lanes=1", HYBRID)
NAMES_OF_FIVE = ("DIA", "HDIA", "ELL", "HLL", "HYB")
OF_LANES = ("ellr", "sell:32")
LANES = (1, 2, 4)


class Formats:
    """Of a matrix of 2015."""

    def __init__(self, m, case):
        self.m, self.case = m, case
        self.vendor = fastest([c for c in case["candidates"] if is_vendor(c)])

    def of(self, plan):
        return fastest([c for c in self.case["candidates"] + self.case.get("layouts", []) if of_layout(plan)(c)])

    def hdia_over_vendor(self):
        return quotient(self.vendor, self.of("hdia:32"))

    def five(self):
        return [gflops(self.case, self.of(plan)) for plan in FIVE]

    def of_vendor(self):
        return f"{figures(gflops(self.case, self.vendor))} ({self.vendor['name']})" if self.vendor else "-"

    def lanes(self, layout):
        return [self.of(f"{layout} lanes={n}") for n in LANES]

    def best_lanes(self, layout):
        """Threads a row that are fastest."""
        return min(((c["median_s"], n) for c, n in zip(self.lanes(layout), LANES) if c), default=(0, None))[1]


def formats(source, step="formats-2015"):
    return [Formats(m, case) for m, case in cases(source, step, matrices.FORMATS)]


def rows_of_formats(source):
    rows = []
    for f in formats(source):
        theirs = printed.TABLE_8[f.m.name]
        cells = [f"{figures(t)} / {figures(ours)}" for t, ours in zip(theirs, f.five())]
        rows.append([f.m.name, kind_of_pattern(f.m, f.case), *cells, f.of_vendor(),
                     f"{ratio(over_hyb(theirs)[1])} / {ratio(f.hdia_over_vendor())}"])
    return rows


def over_hyb(five):
    """Of speeds of the five formats, by that of HYB."""
    return [speed / five[-1] if speed and five[-1] else None for speed in five]


def rows_over_hyb(source):
    """HDIA, ELL and HLL: the paper's three devices, and ours in both precisions."""
    single = {f.m.name: over_hyb(f.five()) for f in formats(source, "formats-2015-single")}
    rows = []
    for f in formats(source):
        theirs = [over_hyb(of_table[f.m.name]) for of_table in (printed.TABLE_6, printed.TABLE_7, printed.TABLE_8)]
        ours = [over_hyb(f.five()), single.get(f.m.name, [None] * len(FIVE))]
        rows.append([f.m.name, *(", ".join(ratio(of[place]) for of in all_)
                                 for place in (1, 2, 3) for all_ in (theirs, ours))])
    return rows


def rows_of_single_formats(source):
    return [[f.m.name, kind_of_pattern(f.m, f.case), *(figures(value) for value in f.five()), f.of_vendor()]
            for f in formats(source, "formats-2015-single")]


def rows_of_lanes(source):
    rows = []
    for f in formats(source):
        cells = []
        for layout, place in zip(OF_LANES, (0, 2)):
            theirs = printed.TABLE_10[f.m.name]
            cells += [f"{figures(theirs[place])}, {figures(theirs[place + 1])}",
                      ", ".join(figures(gflops(f.case, c)) for c in f.lanes(layout))]
        rows.append([f.m.name, *cells])
    return rows


def difference_of_formats(source):
    """In kind."""
    found = formats(source)
    pde = [gflops(f.case, c) / printed.TABLE_8[f.m.name][1] for f in found if f.m in matrices.PDE
           and (c := f.of("hdia:32"))]
    if not pde:
        return ""
    read = max(f.case["read_gbs"] for f in found)
    small = min(found, key=lambda f: f.case["blocks"])
    best = fastest([c for c in small.case["candidates"] if c["kind"] == "core"])

    def of_memory(m):
        return source.case("memory-2015", m.name)

    kkt = [next(c["bytes"] for c in case["counted"] if c["asked"] == "hdia:32") / 1e6 / printed.TABLE_5[f.m.name][1]
           for f in found if f.m.generated.startswith("-grid kkt") and (case := of_memory(f.m))]
    return (
        f" A GTX 660 has 144.2 GB/s, here {read:,.0f} are read, {read / 144.2:.0f} times as much: HDIA is "
        f"{spread_of(pde, '{:.0f}')} times as fast on pde50 to pde100. Small matrices are bound by launches and rows "
        f"rather than by bytes: {small.m.name}'s {small.case['block_rows']:,} rows take "
        f"{micro(best)} us at least, {figures(of_copy(small.case, best), 2)} % of the speed of a copy. Diagonals "
        f"depend on the order of unknowns: HDIA of nlpkkt takes {spread_of(kkt)} of the paper's bytes in "
        "the order here. Matrices here lack layouts of more than 4 slots an entry."
    )


def section_formats(source):
    rows = rows_of_formats(source)
    more = [
        "",
        *table(["matrix", "pattern", *NAMES_OF_FIVE, "best of cuSPARSE",
                "HDIA over HYB, paper / over cuSPARSE, here"], rows),
        "",
        "Speed over that of HYB: of the paper's GTX 285, M2070 and GTX 660 (tables 6 to 8), and here in double and in "
        "single precision:",
        "",
        *table(["matrix", *(f"{name}, {of}" for name in NAMES_OF_FIVE[1:4] for of in ("paper", "here"))],
               rows_over_hyb(source)),
        "",
        "GFLOPS in single precision, which the paper has not: " + origin(source, "formats-2015-single", "cuda")[0],
        *(["", *table(["matrix", "pattern", *NAMES_OF_FIVE, "best of cuSPARSE"], single)]
          if (single := rows_of_single_formats(source)) else []),
        "",
        "One, two (the paper, a Tesla M2070) and one, two, four threads a row (here), GFLOPS (tables 9 to 11):",
        "",
        *table(["matrix", "ELL, paper", "ELL, here", "HLL, paper", "HLL, here"], rows_of_lanes(source)),
    ]
    return [
        "## Three storage formats (2015, tables 6 to 11)",
        "",
        "GFLOPS in double precision, the paper's on a GTX 660 / here. HYB is gone from cuSPARSE: here it is "
        f"`{HYBRID}`, [cut](layouts.md#hyb-rows-that-are-cut) where Bell and Garland cut it, which the paper's "
        "cuSPARSE need not have done. Beside it is the fastest of cuSPARSE's CSR (default, ALG1, ALG2) and sliced ELL. "
        + origin(source, "formats-2015", "cuda")[0]
        + difference_of_formats(source),
        *(more if rows else []),
        *picture("formats"),
    ]


class Coordinates:
    """Of a matrix of 2020: the fastest of ours, that with coded values, and of cuSPARSE's by format."""

    def __init__(self, m, case):
        self.m, self.case = m, case
        ours = [c for c in case["candidates"] if c["kind"] == "core" and c["name"].startswith("ccoo")]
        self.ours, self.coded = (fastest([c for c in ours if ("codes=" in c["name"]) == coded])
                                 for coded in (False, True))
        self.vendor = {kind: fastest([c for c in case["candidates"] if is_vendor(c) and c["name"].startswith(kind)])
                       for kind in ("csr", "coo", "sell")}

    def over(self, kind):
        return quotient(self.vendor[kind], self.ours)


def coordinates(source):
    return [Coordinates(m, case) for m, case in cases(source, "coordinates-2020", matrices.COORDINATES)]


def rows_of_coordinate_products(source):
    rows = []
    for c in coordinates(source):
        ours, *others = (figures(gflops(c.case, x)) for x in (c.ours, *c.vendor.values(), by_default(c.case)))
        rows.append([c.m.name, kind_of_pattern(c.m, c.case), c.ours["name"] if c.ours else "-", ours, *others[:-1],
                     ratio(c.over("csr")), ratio(c.over("coo")), over(c.vendor["csr"], c.coded), others[-1]])
    return rows


def of_read(case, c):
    """Bytes of the copy and of both vectors a second, per cent of what can be read."""
    return (c["packed_bytes"] + 16 * case["block_rows"]) / c["median_s"] / case["read_gbs"] / 1e7


def difference_of_coordinates(source):
    """In kind."""
    found = coordinates(source)
    if not found:
        return ""

    def share(of):
        return spread_of((of_read(c.case, of(c)) for c in found), "{:.0f}")

    return (
        " The paper's cuSPARSE is CUDA 11.0.167's, with its default CSR on 900 GB/s of a V100; here it is CUDA 13's, "
        "the fastest of three algorithms of CSR, which moves its bytes and the vectors', each once, at "
        f"{share(lambda c: c.vendor['csr'])} % of the {max(c.case['read_gbs'] for c in found):,.0f} GB/s that can be "
        f"read; coordinates move their fewer bytes at {share(lambda c: c.ours)} %. Values are in full, but in the "
        "column *coded*, by a table of 256 as the paper's where they repeat (- where they do not)"
        + ("." if any(c.coded for c in found) else ", of which this record has none yet "
           "([performance.md](performance-gpu.md#layouts-columns-and-codes-on-the-gpu) has such grids).")
    )


def section_coordinates(source):
    rows = rows_of_coordinate_products(source)
    return [
        "## Compressed coordinates (2020, figure 4)",
        "",
        "GFLOPS in double precision: the fastest of 1, 2 and 4 entries a thread in chunks of 256, with sums in order "
        "or atomic, beside the fastest of cuSPARSE's CSR, COO and sliced ELL. The paper: up to 170 on a V100 and 250 "
        "on an A100, at the median 1.4 and 1.25 to 1.3 times CSR's speed. "
        + origin(source, "coordinates-2020", "cuda")[0] + difference_of_coordinates(source),
        *(["", *table(["matrix", "pattern", "`ccoo`", "GFLOPS", "CSR", "COO", "sliced ELL", "over CSR", "over COO",
                       "coded over CSR", "default plan"], rows)] if rows else []),
        *picture("coordinates"),
    ]


class Coded:
    """Of a matrix: the fastest sizes of chunks with the paper's coding, in order and atomic, and what is beside it."""

    def __init__(self, m, case):
        self.m, self.case = m, case
        core = [c for c in case["candidates"] if c["kind"] == "core"]
        coded = [c for c in core if "codes=chunks8" in c["name"]]
        self.ordered = fastest([c for c in coded if "atomic" not in c["name"]])
        self.atomic = fastest([c for c in coded if "atomic" in c["name"]])
        self.uncoded = fastest([c for c in core if c["name"] == "ccoo:256:2"])
        self.csr = fastest([c for c in case["candidates"] if is_vendor(c) and c["name"].startswith("csr")])
        self.default = by_default(case)

    def repeats(self):
        return "stencil" in self.m.generated


def coded(source):
    return [Coded(m, case) for m, case in cases(source, "coded-2020", matrices.COORDINATES)]


def section_coded(source):
    rows = []
    for c in coded(source):
        name = c.ordered["name"].removesuffix(" codes=chunks8") if c.ordered else "-"
        rows.append([c.m.name, kind_of_pattern(c.m, c.case), "yes" if c.repeats() else "no", name,
                     figures(gflops(c.case, c.ordered)), figures(gflops(c.case, c.csr)), over(c.csr, c.ordered),
                     over(c.csr, c.atomic), over(c.csr, c.uncoded), over(c.csr, c.default)])
    return [
        "### With values coded as the paper codes them",
        "",
        "`codes=chunks8`: each chunk has a table of its values and a byte for each entry, if that takes less. The "
        "fastest of chunks of 64, 128, 256 and 512 entries with 1, 2, 4 and 8 a thread, sums in order (here) or by "
        "atomics (the paper; chunks of 256), over the fastest of cuSPARSE's CSR. The paper: 1.25 to 1.4 at the median. "
        + origin(source, "coded-2020", "cuda")[0],
        *(["", *table(["matrix", "pattern", "values repeat", "chunks", "GFLOPS", "CSR", "in order over CSR",
                       "atomic over CSR", "`ccoo:256:2`, uncoded", "default plan"], rows)] if rows else []),
    ]


BASE = ("aijcusparse", "bcgs")


def bicgstab(source, step="bicgstab-2020"):
    """(matrix, seconds of an iteration by type and solver)."""
    return [(m, {(k["type"], k["ksp"]): k["iteration_median_s"] for k in case.get("ksp", [])})
            for m, case in cases(source, step, matrices.COORDINATES)]


def over_aijcusparse(of, *solver):
    return of[BASE] / of[solver] if BASE in of and solver in of else None


def section_bicgstab(source):
    rows = []
    for m, of in bicgstab(source):
        cells = [f"{1e6 * of[solver]:.1f} ({ratio(over_aijcusparse(of, *solver))})" if solver in of else "-"
                 for solver in (("baijcompoundccoo", "bcgs"), ("baijcompoundcsr", "bcgs"), ("baijcompound", "bcgs"),
                                ("baijcompound", "bcgscompound"))]
        rows.append([m.name, f"{1e6 * of[BASE]:.1f}" if BASE in of else "-", *cells])
    return [
        "## BiCGSTAB with it (2020, figure 5)",
        "",
        "Microseconds of an iteration (speed over aijcusparse, whose products are cuSPARSE's CSR), fixed numbers of "
        "iterations, no preconditioner. The paper: 1.2 times the speed of CSR at the median, on both GPUs. "
        + origin(source, "bicgstab-2020", "cuda")[0]
        + " The paper has its own solver in CUDA; here it is PETSc's KSPBCGS, the same for all types but for the "
        "product, so that it dampens what products gain or lose; `bcgscompound` has the vectors' work fused with them, "
        "which the paper has not.",
        *(["", *table(["matrix", "aijcusparse", "`ccoo`", "`csr`", "default plan", "default plan, `bcgscompound`"],
                      rows)] if rows else []),
        "",
        *coded_bicgstab(source),
    ]


def coded_bicgstab(source):
    rows = [[m.name, "yes" if "stencil" in m.generated else "no", f"{1e6 * of[BASE]:.1f}",
             *(f"{1e6 * of[('baijcompound', k)]:.1f} ({ratio(over_aijcusparse(of, 'baijcompound', k))})"
               for k in ("bcgs", "bcgscompound"))]
            for m, of in bicgstab(source, "bicgstab-coded-2020")]
    return [
        "The same with coded values (`ccoo:128:4 codes=chunks8`). " + origin(source, "bicgstab-coded-2020", "cuda")[0],
        *(["", *table(["matrix", "values repeat", "aijcusparse", "coded", "coded, `bcgscompound`"], rows)]
          if rows else []),
    ]


def of_copy(case, c):
    """Compulsory bytes a second, per cent of a copy's: 2010, figure 5b."""
    return (
        None if c is None or "compulsory_bytes" not in c
        else c["compulsory_bytes"] / c["median_s"] / case["copy_gbs"] / 1e7
    )


def packing(c):
    return "-" if c is None or "first_pack_s" not in c else f"{c['first_pack_s'] / c['median_s']:.0f}"


THREADS = 2048  # of a multiprocessor, at once
HEIGHTS = (32, 64, 128, 256)


class DenseBlock:
    """A block size and a precision of 2010."""

    def __init__(self, block, scalar, case):
        self.block, self.scalar, self.case = block, scalar, case
        self.vendor = fastest([c for c in case["candidates"] if is_vendor(c)])

    def of(self, plan):
        return fastest([c for c in self.case["candidates"] if of_layout(plan)(c)])

    def bellpack(self):
        return fastest([c for r in HEIGHTS if (c := self.of(f"bellpack:{r}"))])

    def block_rows(self):
        return self.of("csr")

    def speed(self, c):
        """Over cuSPARSE."""
        return quotient(self.vendor, c)

    def gflops(self, c):
        rows, cols = self.case["block_shape"]
        return figures(None if c is None else rows * cols * gflops(self.case, c))


def dense_blocks(source):
    return [DenseBlock(block, scalar, case) for scalar in ("float", "double") for block in matrices.DENSE_BLOCKS
            if (case := source.case("blocks-2010", f"{scalar}-{block}"))]


def most_threads(source):
    return source.device("multiprocessors") * THREADS


def difference_of_blocks(source):
    """In kind."""
    found = dense_blocks(source)
    rows = [b.case["block_rows"] for b in found]
    cached = [b for b in found if b.block_rows()["packed_bytes"] < source.device("cache")]
    return (
        " Of the matrices behind those numbers only the dense one is here; their GPU copied 72 GB/s, this one "
        f"{max(b.case['copy_gbs'] for b in found):,.0f}. {spread_of(rows, '{:,}')} block rows, a thread each, leave "
        f"most of an {source.short_name()} idle, "
        f"which runs {source.device('multiprocessors')} x {THREADS:,} = {most_threads(source):,} threads at once: "
        f"BELLPACK's bytes go at {spread_of((of_copy(b.case, b.bellpack()) for b in found), '{:.0f}')} % of the speed "
        f"of a copy. A warp a block row makes 32 times as many. {len(cached)} of {len(found)} matrices lie in its "
        f"second cache ({source.device('cache') / 1e6:.1f} MB)."
    ) if found else ""


def section_blocks(source):
    lines = [
        "## Block rows and BELLPACK (2010, figures 2 and 5)",
        "",
        "A dense matrix of 4 million scalars (the paper: 2,000 x 2,000) in the 11 block sizes and 4 slice heights R of "
        "the paper, a thread a block row and R threads a block: GFLOPS. *Block rows*: the faster of `csr rows "
        "lanes=32`, a warp a block row, and `csr components`, a thread for each of its rows. "
        "The paper on a Tesla C1060: BELLPACK up to 29.0 in single and 15.7 in double precision, 1.3 to 1.8 and 1.1 to "
        "1.5 times the best of NVIDIA's formats; block rows rarely above half of what the bandwidth allows. cuSPARSE's "
        "fastest of CSR and sliced ELL stands for NVIDIA's. Converting took them up to 40 products (section 6.7). "
        + origin(source, "blocks-2010", "cuda")[0] + difference_of_blocks(source),
    ]
    for scalar, words in (("float", "single"), ("double", "double")):
        rows = [
            ["{}x{}".format(*b.case["block_shape"]), *[b.gflops(b.of(f"bellpack:{r}")) for r in HEIGHTS],
             b.gflops(b.block_rows()), b.gflops(b.vendor), ratio(b.speed(b.bellpack())), ratio(b.speed(b.block_rows())),
             figures(of_copy(b.case, b.bellpack()), 1), packing(b.bellpack())]
            for b in dense_blocks(source) if b.scalar == scalar
        ]
        if rows:
            lines += ["", *table([f"block, {words}", "R = 32", "64", "128", "256", "block rows", "cuSPARSE",
                                  "BELLPACK over it", "block rows over it", "BELLPACK's bytes, % of a copy's",
                                  "its packing, in products"], rows)]
    return lines + picture("blocks")
