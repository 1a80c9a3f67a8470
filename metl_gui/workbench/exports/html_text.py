"""Any text as part of a page: what it says is shown and never read as markup, and what cannot be seen is made so."""

from __future__ import annotations

import re
from html import escape

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UNFIT = re.compile(r"[\x80-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def text(words: str) -> str:
    """Write a text into an element or a quoted attribute; control characters show as their pictures."""
    seen = _CONTROLS.sub(lambda found: "\u2421" if found[0] == "\x7f" else chr(0x2400 + ord(found[0])), words)
    return escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", seen), quote=True)


def name(words: str) -> str:
    """Write a name that somebody else chose; its direction of writing does not reach beyond it."""
    return f"<bdi>{text(words)}</bdi>"


def short(words: str, most: int) -> str:
    """Cut a name in its middle, unescaped."""
    if len(words) <= most:
        return words
    head = (most - 1) // 2
    return f"{words[:head]}…{words[len(words) - (most - 1 - head) :]}"
