"""Sections about times beside cuSPARSE's on a device."""

from reproduction import matrices, printed
from reproduction.layouts import papers_plan
from reproduction.records import figures, kind_of_pattern, origin, picture, ratio, table


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


def over(vendor, ours):
    return ratio(vendor["median_s"] / ours["median_s"]) if vendor and ours else "-"


def rows_of_cusparse(source, step):
    rows = []
    for m in matrices.COMPOUND:
        if not (case := source.case(step, m.name)):
            continue
        vendor = fastest([c for c in case["candidates"] if is_vendor(c)])
        theirs = [(c, p) for c in case["candidates"] if c["kind"] == "core" and c["name"] != "auto" and (p := papers_plan(c["plan"]))]
        reference = next((c for c, p in theirs if p[0] == "CSR-AoS-AoS"), None)
        best = min(theirs, key=lambda x: x[0]["median_s"], default=(None, ("-",)))
        layout, gain = printed.GP100[m.name][0:2] if step == "cusparse-single" else printed.GP100[m.name][2:4]
        auto = by_default(case)
        hamilton = fastest([c for c in case["candidates"] if c["kind"] == "hamilton"])
        rows.append([m.name, kind_of_pattern(m, case), vendor["name"] if vendor else "-", micro(vendor), over(vendor, reference), best[1][0], over(vendor, best[0]), f"{layout} {gain:.2f} / {over(reference, best[0])}", micro(auto), over(vendor, auto),
                     over(vendor, hamilton)])
    return rows


def section_cusparse(source, step, words):
    return [
        f"## Beside cuSPARSE in {words} precision (2019, figure 5; 2020, figure {'5' if words == 'single' else '6'})",
        "",
        f"Speed over the fastest call of cuSPARSE on the same matrix: of CSR-AoS-AoS (a schedule alone), of the fastest of the papers' 16 layouts (each in one static schedule of 128 threads and 8 blocks), and of the plan that is taken by default. The gain by layout is the quotient of the two; the paper's (a GP100) is of tuned schedules. The paper has plots of speeds; it names up to {'4.7' if words == 'single' else '2.8'}x for",
        "3x3 blocks and quaternions, and below 1 for complex numbers on the GTX 980 and the GP100. Calls: cusparseSbsrmv/Dbsrmv by rows and columns, cusparseSpMV on BSR by rows and columns, CSR (ALG1, ALG2), sliced ELL and COO; complex CSR, sliced ELL and COO for complex numbers. "
        + origin(source, step, "cuda")[0],
        *(["", *table(["matrix", "pattern", "cuSPARSE's fastest", "us", "CSR-AoS-AoS", "best layout", "its speed", "gain by layout, paper / ours", "default plan, us", "its speed", "as four real matrices"], rows)] if (rows := rows_of_cusparse(source, step)) else []),
        *picture(step),
    ]


def gflops(case, c):
    return None if c is None else 2e-9 * case["blocks"] / c["median_s"]


def rows_of_formats(source):
    rows = []
    for m in matrices.FORMATS:
        if not (case := source.case("formats-2015", m.name)):
            continue
        vendor = fastest([c for c in case["candidates"] if is_vendor(c)])
        ours = [fastest([c for c in case["candidates"] + case.get("layouts", []) if of_layout(f)(c)]) for f in ("dia", "hdia:32", "ellr lanes=1", "sell:32 lanes=1")]
        theirs = printed.TABLE_8[m.name]
        cells = [f"{figures(t)} / {figures(gflops(case, c))}" for t, c in zip(theirs, ours)]
        rows.append([m.name, kind_of_pattern(m, case), *cells, f"{figures(theirs[4])} / {figures(gflops(case, vendor))} ({vendor['name']})" if vendor else "-",
                     f"{ratio(theirs[1] / theirs[4] if theirs[1] and theirs[4] else None)} / {over(vendor, ours[1])}"])
    return rows


def rows_of_lanes(source):
    rows = []
    for m in matrices.FORMATS:
        if not (case := source.case("formats-2015", m.name)):
            continue
        cells = []
        for layout, place in (("ellr", 0), ("sell:32", 2)):
            ours = [fastest([c for c in case["candidates"] if of_layout(f"{layout} lanes={n}")(c)]) for n in (1, 2, 4)]
            theirs = printed.TABLE_10[m.name]
            cells += [f"{figures(theirs[place])}, {figures(theirs[place + 1])}", ", ".join(figures(gflops(case, c)) for c in ours)]
        rows.append([m.name, *cells])
    return rows


def section_formats(source):
    rows = rows_of_formats(source)
    more = [
        "",
        *table(["matrix", "pattern", "DIA", "HDIA", "ELL", "HLL", "HYB / best of cuSPARSE", "HDIA over that"], rows),
        "",
        "One, two (theirs, a Tesla M2070) and one, two, four threads a row (ours), GFLOPS (tables 9 to 11):",
        "",
        *table(["matrix", "ELL, paper", "ELL, ours", "HLL, paper", "HLL, ours"], rows_of_lanes(source)),
    ]
    return [
        "## Three storage formats (2015, tables 6 to 11)",
        "",
        "GFLOPS in double precision, the paper's on a GTX 660 / ours. HYB is gone from cuSPARSE: in its place stands the fastest of its CSR (default, ALG1, ALG2) and sliced ELL. " + origin(source, "formats-2015", "cuda")[0],
        *(more if rows else []),
        *picture("formats"),
    ]


def rows_of_coordinate_products(source):
    rows = []
    for m in matrices.COORDINATES:
        if not (case := source.case("coordinates-2020", m.name)):
            continue
        ours = fastest([c for c in case["candidates"] if c["kind"] == "core" and c["name"].startswith("ccoo")])
        vendor = {kind: fastest([c for c in case["candidates"] if is_vendor(c) and c["name"].startswith(kind)]) for kind in ("csr", "coo", "sell")}
        auto = by_default(case)
        rows.append([m.name, kind_of_pattern(m, case), ours["name"] if ours else "-", figures(gflops(case, ours)), *[figures(gflops(case, v)) for v in vendor.values()],
                     *[over(vendor[k], ours) for k in ("csr", "coo")], figures(gflops(case, auto))])
    return rows


def section_coordinates(source):
    rows = rows_of_coordinate_products(source)
    return [
        "## Compressed coordinates (2020, figure 4)",
        "",
        "GFLOPS in double precision: the fastest of 1, 2 and 4 entries a thread in chunks of 256, with sums in order or atomic, beside the fastest of cuSPARSE's CSR, COO and sliced ELL. The paper: up to 170 on a V100 and 250 on an A100, at the median 1.4 and 1.25 to 1.3 times CSR's speed. "
        + origin(source, "coordinates-2020", "cuda")[0],
        *(["", *table(["matrix", "pattern", "ours", "GFLOPS", "CSR", "COO", "sliced ELL", "over CSR", "over COO", "default plan"], rows)] if rows else []),
        *picture("coordinates"),
    ]


def section_bicgstab(source):
    rows = []
    for m in matrices.COORDINATES:
        if case := source.case("bicgstab-2020", m.name):
            of = {(k["type"], k["ksp"]): k["iteration_median_s"] for k in case.get("ksp", [])}
            base = of.get(("aijcusparse", "bcgs"))
            cell = lambda t, k: f"{1e6 * of[t, k]:.1f} ({ratio(base / of[t, k])})" if base and (t, k) in of else "-"
            rows.append([m.name, f"{1e6 * base:.1f}" if base else "-", cell("baijcompoundccoo", "bcgs"), cell("baijcompoundcsr", "bcgs"), cell("baijcompound", "bcgs"), cell("baijcompound", "bcgscompound")])
    return [
        "## BiCGSTAB with it (2020, figure 5)",
        "",
        "Microseconds of an iteration (speed over aijcusparse, whose products are cuSPARSE's CSR), fixed numbers of iterations, no preconditioner. The paper: 1.2 times the speed of CSR at the median, on both GPUs. " + origin(source, "bicgstab-2020", "cuda")[0],
        *(["", *table(["matrix", "aijcusparse", "`ccoo`", "`csr`", "default plan", "default plan, `bcgscompound`"], rows)] if rows else []),
    ]


def share_of_copy(case, c):
    """Compulsory bytes a second: 2010, figure 5b."""
    return "-" if c is None or "compulsory_bytes" not in c else f"{c['compulsory_bytes'] / c['median_s'] / case['copy_gbs'] / 1e7:.0f}"


def packing(c):
    return "-" if c is None or "first_pack_s" not in c else f"{c['first_pack_s'] / c['median_s']:.0f}"


def section_blocks(source):
    lines = [
        "## Block rows and BELLPACK (2010, figures 2 and 5)",
        "",
        f"A dense matrix of 4 million scalars (theirs: 2,000 x 2,000) in the 11 block sizes and 4 slice heights R of the paper, a thread a block row and R threads a block: GFLOPS. *Block rows*: the faster of `csr rows lanes=32`, a warp a block row, and `csr components`, a thread for each of its rows. "
        "The paper on a Tesla C1060: BELLPACK up to 29.0 in single and 15.7 in double precision, 1.3 to 1.8 and 1.1 to 1.5 times the best of NVIDIA's formats; block rows rarely above half of what the bandwidth allows. cuSPARSE's fastest of CSR and sliced ELL stands for NVIDIA's. Converting took them up to 40 products (section 6.7). "
        + origin(source, "blocks-2010", "cuda")[0],
    ]
    for scalar, words in (("float", "single"), ("double", "double")):
        rows = []
        for block in matrices.DENSE_BLOCKS:
            if not (case := source.case("blocks-2010", f"{scalar}-{block}")):
                continue
            area = case["block_shape"][0] * case["block_shape"][1]
            flops = lambda c: None if c is None else 2e-9 * case["blocks"] * area / c["median_s"]
            vendor = fastest([c for c in case["candidates"] if is_vendor(c)])
            packs = [fastest([c for c in case["candidates"] if of_layout(f"bellpack:{r}")(c)]) for r in (32, 64, 128, 256)]
            best = fastest([c for c in packs if c])
            rows.append(["%dx%d" % tuple(case["block_shape"]), *[figures(flops(c)) for c in packs], figures(flops(fastest([c for c in case["candidates"] if of_layout("csr")(c)]))),
                         figures(flops(vendor)), over(vendor, best), share_of_copy(case, best), packing(best)])
        if rows:
            lines += ["", *table([f"block, {words}", "R = 32", "64", "128", "256", "block rows", "cuSPARSE", "BELLPACK over it", "its bytes, % of a copy's", "packing, in products"], rows)]
    return lines + picture("blocks")
