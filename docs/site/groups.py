"""The order of reading: groups of pages, by their paths in the repository.

A page that is not there yet is left out. A page that no group names stands at the end of the last one. `DECISIONS`
stands for docs/decisions in order of their numbers.
"""

TITLES = {"README.md": "Overview", "docs/reference/README.md": "How the reference is made"}  # in place of their own
DECISIONS = "docs/decisions/*.md"
GROUPS = [
    ("Start", "start", "The first solve, and how to install the plugin.", [
        "docs/start.md",
        "README.md",
        "docs/install.md",
        "docs/gallery.md",
        "docs/notebooks/elasticity.md",
    ]),
    ("Choosing", "choosing", "Which type, solver and preconditioner, and what is promised of them.", [
        "docs/choosing.md",
        "docs/promises.md",
        "docs/limits.md",
        "docs/entries.md",
        "docs/layouts.md",
    ]),
    ("Using", "using", "The plugin in your program, and what to do about messages.", [
        "docs/clients.md",
        "docs/python.md",
        "docs/gpu.md",
        "docs/solvers.md",
        "docs/multigrid.md",
        "docs/tuning.md",
        "docs/compound-tune.md",
        "docs/operations.md",
        "docs/petsc-programs.md",
        "docs/examples.md",
        "docs/troubleshooting.md",
    ]),
    ("Reference", "reference", "Made from the source: types, options, keywords, variables, functions.", [
        "docs/reference/types.md",
        "docs/reference/options.md",
        "docs/reference/plans.md",
        "docs/reference/environment.md",
        "docs/reference/logging.md",
        "docs/reference/c.md",
        "docs/reference/python.md",
        "docs/reference/compound-bench.md",
        "docs/reference/compound-tune.md",
        "docs/reference/README.md",
    ]),
    ("Performance", "performance", "How fast products and solvers are, on which machine, by which command.", [
        "docs/performance-explorer.md",
        "docs/performance.md",
        "docs/performance-host.md",
        "docs/performance-gpu.md",
        "docs/compound-bench.md",
        "docs/papers.md",
        "docs/reproduction.md",
    ]),
    ("Understanding", "understanding", "How the plugin is built, its words, and why it is built this way.", [
        "docs/glossary.md",
        "docs/architecture.md",
        DECISIONS,
    ]),
    ("Developing", "developing", "Changing the plugin, its tests, and what has changed.", [
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/mutants.md",
        "docs/trust.md",
        "docs/explorer/README.md",
    ]),
]
