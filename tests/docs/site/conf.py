"""Sphinx's settings. The theme and its search need nothing from elsewhere when they are read."""

from odradek import __version__

project = "Odradek"
author = "The Odradek authors"
copyright = author
version = release = __version__
extensions = ["myst_parser"]
root_doc = "index"
highlight_language = "text"
# Fragments link to headings as they do where Markdown is shown.
myst_heading_anchors = 5
suppress_warnings = ["myst.header"]  # semantics: items below a title, without sections between
myst_enable_extensions = ["colon_fence"]
# The names of the Python reference, without their module in front.
add_module_names = False
toc_object_entries = False  # hundreds of methods, in the navigation of each page
html_theme = "furo"
html_title = f"Odradek {__version__}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
