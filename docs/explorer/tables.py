"""The records as tables: the same rows for the Markdown page and for browsers without JavaScript."""

from html import escape

from records import PATTERNS

HOW = {
    True: "% copy: GB/s over what copying 1 GiB on the device reaches in the same rounds.",
    False: "% read: GB/s over a plain sum of the matrix's own arrays in the same rounds.",
}


def rate_name(about):
    return "copy" if about["on_device"] else "read"


def rounded(gbs):
    return f"{gbs:.1f}" if gbs < 100 else f"{gbs:.0f}"


def cells(row):
    """GB/s, share of the rate and times the reference, as the page shows them."""
    return [rounded(row["gbs"]), f"{100 * row['share']:.0f}", f"{row['times']:.2f}"] if row else ["-"] * 3


def head_and_lines(about, rows):
    """The heads of the columns, and a line of texts for each block size."""
    reference = about["reference"]
    others = [name for name in dict.fromkeys(row["type"] for row in rows) if name not in (reference, "baijcompound")]
    heads = ["block size", *(f"{name} GB/s" for name in (reference, *others))]
    for name in ("baijcompound", "single precision:"):
        heads += [f"{name} GB/s", f"% {rate_name(about)}", f"times {reference}"]
    lines = []
    for block in sorted({row["block"] for row in rows}):
        here = {(row["type"], row["precision"]): row for row in rows if row["block"] == block}
        line = [str(block)]
        line += [cells(here.get((name, "double")))[0] for name in (reference, *others)]
        line += cells(here.get(("baijcompound", "double"))) + cells(here.get(("baijcompound", "single")))
        lines.append(line)
    return heads, lines


def facts(about):
    """How the record was measured: (name, text)."""
    return [("device", about["device"]), ("date", about["date"][:10]), ("commit", about["commit"][:10]),
            ("software", f"PETSc {about['petsc']}, {about['compiler']}"), ("command", about["command"])]


def devices_of(records):
    return list(dict.fromkeys(about["device"] for about, _ in records))


def markdown(records):
    parts = []
    for device in devices_of(records):
        of_device = [(about, rows) for about, rows in records if about["device"] == device]
        parts += [f"## {device}", HOW[of_device[0][0]["on_device"]]]
        for about, rows in of_device:
            heads, lines = head_and_lines(about, rows)
            table = [heads, ["---"] * len(heads), *lines]
            known = dict(facts(about))
            parts += [f"### {device}: {PATTERNS[about['pattern']]}",
                      "\n".join("| " + " | ".join(line) + " |" for line in table),
                      f"{known['date']}, commit {known['commit']}, {known['software']}:",
                      "    " + known["command"]]
    return "\n\n".join(parts) + "\n"


def html(records):
    parts = []
    for about, rows in records:
        heads, lines = head_and_lines(about, rows)
        known = dict(facts(about))
        title = f"{about['device']}: {PATTERNS[about['pattern']]}"
        parts.append(f"<h3>{escape(title)}</h3>")
        parts.append('<div class="explorer-scroll" tabindex="0" role="region" '
                     f'aria-label="{escape(title)}"><table><thead><tr>')
        parts += [f'<th scope="col">{escape(head)}</th>' for head in heads]
        parts.append("</tr></thead><tbody>")
        for first, *rest in lines:
            parts.append(f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{text}</td>" for text in rest) + "</tr>")
        parts.append("</tbody></table></div>")
        parts.append(f"<p>{escape(known['date'])}, commit {escape(known['commit'])}, {escape(known['software'])}: "
                     f"<code>{escape(known['command'])}</code><br>{escape(HOW[about['on_device']])}</p>")
    return "\n".join(parts)
