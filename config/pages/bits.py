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


def bits_of(top, where):
    if not (top / RECORD).exists():
        raise Missing("config/measure_bits.py")
    run = record_of(top, RECORD)
    if where not in run:
        raise Missing("config/measure_bits.py" + (" --device" if where == "device" else ""))
    of = run[where]
    name = max(of, key=lambda device: (of[device]["date"], device))
    run, others = of[name], [device for device in of if device != name and where == "device"]
    kept = [device for device in others if all("bits" in row for row in of[device]["rows"])]
    for device in kept:
        bits = {(row["plan"], row["operation"]): row["bits"] for row in of[device]["rows"]}
        for row in run["rows"]:
            row[device] = bits.get((row["plan"], row["operation"])) == row["bits"]
    same = {**({"second": "a second one"} if "second" in run["rows"][0] else {}), **{device: device for device in kept}}
    plans = list(dict.fromkeys(row["plan"] for row in run["rows"]))
    beside = ["host_eps"] * any("host_eps" in row for row in run["rows"]) + ["processes_eps"]
    names = {"host_eps": "host and device", "processes_eps": f"1 and {run['ranks']} processes"}
    lines = []
    for plan in plans:
        rows = [row for row in run["rows"] if row["plan"] == plan]
        lines.append([f"`{plan}`", yes(rows, "repeats", "restart"), yes(rows, "processes_repeat"),
                      *(yes(rows, key) for key in same),
                      *(most(rows, key, operations) for key in beside for operations in (PRODUCTS, SOLVES))])
    distances = [f"{names[key]}: {what}, eps" for key in beside for what in ("products", "solves")]
    unknown = [f" Not compared with {device}, whose bits were not kept." for device in others if device not in kept]
    return [*table(["plan", "repeats and restart", f"repeats on {run['ranks']} processes",
                    *(f"the bits of {what}" for what in same.values()), *distances], lines), "",
            *wrapped(f"*{name}, {run['date']}, commit {run['commit'][:7]}; {run['repeat']} repeats of A x, "
                     f"A^T x, z + A x, and ten iterations of {', '.join(SOLVES)}.{''.join(unknown)}*")]


@figure("bits-on-host")
def bits_on_host(top):
    return bits_of(top, "host")


@figure("bits-on-device")
def bits_on_device(top):
    return bits_of(top, "device")
