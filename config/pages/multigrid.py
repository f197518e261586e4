"""Algebraic multigrid on a GPU and on the host."""

from .host import spread_of
from .records import Missing, figure, short, source, step_of, table

BODIES = {"gamg-41": "box, 41^3 nodes", "gamg-61": "box, 61^3 nodes", "gamg-91": "box, 91^3 nodes",
          "gamg-bracket": "bracket, refined twice"}
VARIANTS = {"aijcusparse": "`aijcusparse`, cg, by PETSc", "set-up on the host": "cg, by PETSc, set up on the host",
            "cg, by PETSc": "cg, by PETSc", "cg": "cg", "cgcompound": "cgcompound",
            "cgcompound, single": "cgcompound, single"}


def solve_ms(of):
    return of["iteration_us"]["median"] * of["iterations"]["median"] / 1000


def least_ms(of, key):
    """Without the round in which kernels are compiled."""
    return 1000 * of[key]["least"]


def bodies(top):
    """(what, run) of those that are measured."""
    found = []
    for step, name in BODIES.items():
        try:
            found.append((name, step_of(top, "device", step)))
        except Missing:
            if step != "gamg-91":
                raise
    return found


@figure("gamg-on-device")
def gamg_on_device(top):
    found = bodies(top)
    rows = []
    for name, run in found:
        of = run["variants"]
        unknowns = next(iter(of.values()))["unknowns"]["median"]
        first = f"{name}, {unknowns / 1e3:.0f}k" if unknowns < 1e6 else f"{name}, {unknowns / 1e6:.2f} million"
        for number, (variant, text) in enumerate((v, t) for v, t in VARIANTS.items()
                                                 if v in of or v in run["failed"]):
            row = ["" if number else first, text]
            if variant in run["failed"]:
                rows.append([*row, "fails", "", "", "", "", ""])
                continue
            solve, base = solve_ms(of[variant]), solve_ms(of["cg, by PETSc"])
            rows.append([*row, f"{of[variant]['iterations']['median']:.0f}", short(solve), f"{base / solve:.2f}",
                         *(short(least_ms(of[variant], key)) for key in ("first_set_up_s", "first_solve_s",
                                                                          "set_up_again_s"))])
    return [*table(["unknowns", "Krylov method, cycle", "iterations", "solve ms", "x `cg, by PETSc`", "first set-up ms",
                    "first solve with it ms", "set-up for new values ms"], rows), "",
            *source([run for _, run in found], max(spread_of(run, "iteration_us") for _, run in found),
                    before="Set-ups and first solves are the least of the rounds; "),
            "", *[line for _, run in found[1:] for line in (f"`{run['command_line']}`", "")][:-1]]


@figure("gamg-on-host")
def gamg_on_host(top):
    runs = [step_of(top, "host", f"gamg-{n}") for n in (1, 2)]
    rows = []
    for run in runs:
        base = run["variants"]["aij"]
        for name, of in run["variants"].items():
            rows.append([str(run["ranks"]), name, f"{of['iterations']['median']:.0f}", short(solve_ms(of)),
                         short(least_ms(of, "first_set_up_s")), f"{solve_ms(base) / solve_ms(of):.1f}",
                         f"{least_ms(base, 'first_set_up_s') / least_ms(of, 'first_set_up_s'):.1f}"])
    return [*table(["processes", "type", "iterations", "solve ms", "first set-up ms", "solve x aij", "set-up x aij"],
                   rows), "", *source(runs, max(spread_of(run, "iteration_us") for run in runs),
                                      before="Set-ups are the least of the rounds; ")]
