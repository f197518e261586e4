"""Sphinx reads build/site-source, which stage.py fills from the repository; config/docs.sh runs both."""

project = "petsc-compound"
author = "petsc-compound developers"
copyright = f"{author}; 2-clause BSD licence"  # noqa: A001 - Sphinx' name
html_title = project

extensions = ["myst_parser", "sphinx_design"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"  # of indented blocks: commands beside what they print
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
