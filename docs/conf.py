"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
import make_reference  # noqa: E402 - beside this file

make_reference.write(DOCS / "reference")

project = "marl-mapper"
copyright = "the marl-mapper authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "examples", "data"]
root_doc = "index"

# Markdown: links to headings, as in the pages on a repository's site
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# Notebooks run at each build, and an error in one ends the build
nb_execution_mode = "force"
nb_execution_timeout = 170
nb_execution_raise_on_error = True
nb_execution_excludepatterns = ["*.md"]
nb_execution_show_tb = True

# The interface reference is that of the `.pyi` files: what a package offers, from its docstrings
autodoc_default_options = {"members": True, "undoc-members": True, "show-inheritance": False}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
napoleon_use_ivar = True

html_theme = "furo"
html_title = "marl-mapper"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
