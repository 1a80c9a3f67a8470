"""Templates, styles and scripts of pages for people (``resources/pages``).

A page stands alone: colours of both themes are written into its style, and templates escape all that they are given.
"""

from __future__ import annotations

import re
import tomllib
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from metl_gui.core.counted import number_of
from metl_gui.packaged import resources
from metl_gui.workbench.exports.html_parts import text

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates() -> Environment:
    """Set up the templates; their library is loaded when a page is written."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        autoescape=True,
        finalize=lambda value: value if not isinstance(value, str) or hasattr(value, "__html__") else text(value),
        loader=FunctionLoader(_template),
        undefined=StrictUndefined,
    )
    made.filters.update(comma="{:,}".format, counted=number_of, px="{:g}".format, sha256=_digest)
    return made


def _template(file: str) -> str:
    """Read a template; its line ends and indentation are for those who read it, the page has none of them."""
    return re.sub(r"\s*\n\s*", "", page_resource(file))


def page_style(*files: str) -> str:
    """Return style sheets behind the colours of the themes as the variables that they use; paper is light."""
    light, dark = (_variables(kind) for kind in ("light", "dark"))
    by_system = f"@media (prefers-color-scheme: dark) {{ :root:not([data-look=light]) {{ {dark} }} }}"
    on_paper = f"@media print {{ :root, :root[data-look=dark], :root:not([data-look=light]) {{ {light} }} }}"
    colours = f":root {{ {light} }}\n{by_system}\n:root[data-look=dark] {{ {dark} }}\n{on_paper}\n"
    return colours + "".join(page_resource(file) for file in files)


def _variables(kind: str) -> str:
    values = tomllib.loads((resources() / "themes" / f"{kind}.toml").read_text("utf-8"))
    colours = " ".join(f"--{key}: {value};" for key, value in values.items() if str(value).startswith("#"))
    return f"color-scheme: {kind}; --ramp: {values['ramp_end']}; {colours}"


def page_resource(file: str) -> str:
    """Read a file of pages."""
    return (resources() / "pages" / file).read_text("utf-8")


def _digest(content: str) -> str:
    return b64encode(sha256(content.encode()).digest()).decode()
