"""``json`` and ``dusb``: the whole matrix for programs, laid out so that Git shows it element by element.

The last line is a digest of all the others, so that a change by hand or by a merge of lines is found out.
Source: docs/guide/exports.md, "The documents `json` and `dusb`".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from metl_gui.core.matrix.canonical import Content, dusb_content, matrix_content
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.workbench.exports.format_spec import Choices, Export, Write

_INDENT = " "
_END = "\n}"
_SEAL = re.compile(r',\n "digest": "([0-9a-f]{64})"\n}\s*\Z')


def json_text(document: Document, include_unconfirmed: bool = False) -> str:
    """Return what ``json`` writes."""
    return laid_out(matrix_content(document, include_unconfirmed))


def dusb_text(document: Document, include_unconfirmed: bool = False) -> str:
    """Return what ``dusb`` writes."""
    return laid_out(dusb_content(document, include_unconfirmed))


def laid_out(content: Content) -> str:
    """Write what an export holds as its file has it: one element a line, then the digest of these lines."""
    lines = "".join(_laid_out(content, ""))
    return f'{lines[: -len(_END)]},\n{_INDENT}"digest": "{_digest(lines)}"{_END}\n'


def is_as_written(text: str) -> bool | None:
    """Whether the text of an export is the one that was written; ``None`` where it has no digest to tell by.

    Line ends of another system are none of its signs. Laid out anew it is not as it was written, whatever it says.

    Args:
        text: one JSON document.
    """
    written = text.replace("\r\n", "\n")
    found = _SEAL.search(written)
    if found is None:
        return False if "digest" in json.loads(text) else None
    return _digest(written[: found.start()] + _END) == found[1]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _laid_out(value: Any, indent: str) -> Iterator[str]:
    """Write JSON with one line for everything that holds only plain values: Git then shows elements line by line."""
    if not isinstance(value, dict | list) or _is_flat(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    inner = indent + _INDENT
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield opening
    members = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    for at, (name, each) in enumerate(members):
        yield f"{',' if at else ''}\n{inner}"
        if name is not None:
            yield f"{json.dumps(name, ensure_ascii=False)}: "
        yield from _laid_out(each, inner)
    yield f"\n{indent}{closing}"


def _is_flat(value: dict[str, Any] | list[Any]) -> bool:
    members = value.values() if isinstance(value, dict) else value
    return not any(isinstance(each, dict | list) and each for each in members)


def _writing(text_of: Callable[[Document, bool], str]) -> Write:
    """Make a function that writes a text about a document into a file."""

    def write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
        watch.step(f"Collecting state {document.state}")
        text = text_of(document, choices.include_unconfirmed)
        watch.step("Writing it down")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return ()

    return write


_LIMITS = ("Comments of blocks and who decided what are not carried; csv carries the comments.",)

JSON = Export(
    "json", "The whole matrix as JSON, for programs and for Git", ".json", _writing(json_text), limits=_LIMITS
)
DUSB = Export("dusb", "The compact set as JSON: only what differs", ".dusb", _writing(dusb_text), limits=_LIMITS)
