"""Configuration of the documentation site: ``sphinx-build -W docs build/docs``."""

project = "Highwater"
author = "The Highwater contributors"
copyright = "the Highwater contributors, Apache License 2.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["**/README.md"]
myst_heading_anchors = 4
"""Headings down to this level can be linked to, as on GitHub."""
highlight_language = "none"
"""Blocks without a language are commands and grammars."""
html_theme = "furo"
html_title = "Highwater"
html_copy_source = False
html_show_sphinx = False
