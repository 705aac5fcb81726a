"""How Sphinx builds the site from the pages of this folder: `make site`. Nothing is loaded from other hosts."""

from __future__ import annotations

import re

import evercurrent

project = "evercurrent"
author = "the authors of evercurrent"
version = release = evercurrent.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nitpick_ignore_regex = [("py:.*", ".*")]  # annotations name inner types that have no page

default_role = "code"  # docstrings write `name` as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "evercurrent"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}


def setup(app):
    """Removes the empty line at the end of doctests, which only doctest needs."""
    app.connect("source-read", trim_doctests)


def trim_doctests(app, page, source):
    source[0] = re.sub(r"^(```python\n>>>.*?)\n\n```$", r"\1\n```", source[0], flags=re.MULTILINE | re.DOTALL)
