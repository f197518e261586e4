"""Whether results have the same bits."""

from .records import Missing, figure, record_of, table, wrapped

RECORD = "docs/data/figures/bits.json.xz"
PRODUCTS = {"mult": "A x", "transpose": "A^T x", "add": "z + A x"}
SOLVES = ["cg", "cgcompound", "bcgs", "bcgscompound"]


def yes(rows, *keys):
    """For which of them all repeats had the same bits."""
    other = [PRODUCTS.get(row["operation"], row["operation"]) for row in rows if not all(row[key] for key in keys)]
    return "no: " + ", ".join(other) if other else "yes"


def most(rows, key, operations):
    values = [row[key] for row in rows if row["operation"] in operations and key in row]
    return f"{max(values):.1f}" if values else ""


def beside_others(devices, name):
    """Rows of a device, with whether each result has the bits of another one; the others by whether theirs are kept."""
    rows = [dict(row) for row in devices[name]["rows"]]
    kept, unknown = [], []
    for other in devices:
        if other == name:
            continue
        bits = {(row["plan"], row["operation"]): row.get("bits") for row in devices[other]["rows"]}
        (kept if all(bits.values()) else unknown).append(other)
        for row in rows:
            row[other] = bits.get((row["plan"], row["operation"])) == row.get("bits")
    return rows, kept, unknown


def bits_of(top, where):
    if not (top / RECORD).exists():
        raise Missing("config/measure_bits.py")
    run = record_of(top, RECORD)
    if where not in run:
        raise Missing("config/measure_bits.py" + (" --device" if where == "device" else ""))
    devices = run[where]
    name = max(devices, key=lambda device: (devices[device]["date"], device))
    run = devices[name]
    every, kept, unknown = beside_others(devices if where == "device" else {name: run}, name)
    same = {"second": "a second one"} if "second" in every[0] else {}
    same.update({device: device for device in kept})
    plans = list(dict.fromkeys(row["plan"] for row in every))
    beside = ["host_eps"] * any("host_eps" in row for row in every) + ["processes_eps"]
    names = {"host_eps": "host and device", "processes_eps": f"1 and {run['ranks']} processes"}
    lines = []
    for plan in plans:
        rows = [row for row in every if row["plan"] == plan]
        lines.append([f"`{plan}`", yes(rows, "repeats", "restart"), yes(rows, "processes_repeat"),
                      *(yes(rows, key) for key in same),
                      *(most(rows, key, operations) for key in beside for operations in (PRODUCTS, SOLVES))])
    distances = [f"{names[key]}: {what}, eps" for key in beside for what in ("products", "solves")]
    missing = "".join(f" Not compared with {device}, whose bits were not kept." for device in unknown)
    return [*table(["plan", "repeats and restart", f"repeats on {run['ranks']} processes",
                    *(f"the bits of {what}" for what in same.values()), *distances], lines), "",
            *wrapped(f"*{name}, {run['date']}, commit {run['commit'][:7]}; {run['repeat']} repeats of A x, "
                     f"A^T x, z + A x, and ten iterations of {', '.join(SOLVES)}.{missing}*")]


@figure("bits-on-host")
def bits_on_host(top):
    return bits_of(top, "host")


@figure("bits-on-device")
def bits_on_device(top):
    return bits_of(top, "device")
