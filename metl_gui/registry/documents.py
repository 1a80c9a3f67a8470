"""Text of schema files to plain values, within limits: JSON strictly, YAML as the JSON-like core of version 1.2.

Hostile input ends in a ``SchemaError`` with a sentence: too large, not UTF-8, nested too deeply, a name twice in one
object, aliases that multiply.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NoReturn

from metl_gui.errors import SchemaError

MAX_BYTES = 16 * 2**20
MAX_NESTING = 256

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_bytes(path: Path, limit_bytes: int = MAX_BYTES) -> bytes:
    """Read a whole file that must not be larger than a limit.

    Raises:
        SchemaError: the file is missing, unreadable, no regular file, or too large.
    """
    try:
        if not path.is_file():
            raise SchemaError(f"{path} is not a file.", "", "Name a file, a folder or a pattern that matches some.")
        with path.open("rb") as file:
            raw = file.read(limit_bytes + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(raw) > limit_bytes:
        raise SchemaError(
            f"{path.name} is too large for a schema.",
            f"Schema files are read up to {limit_bytes // 2**20} MiB.",
            "Split it, or name the format if these are messages.",
        )
    return raw


def unreadable(path: Path, error: OSError) -> SchemaError:
    """Return the error that the operating system does not hand over a file or folder."""
    return SchemaError(f"{path} cannot be read.", f"{error.strerror or error}.", "Check the path and its permissions.")


def decode(raw: bytes) -> str:
    """Decode UTF-8 with or without a byte order mark.

    Raises:
        SchemaError: the bytes are not UTF-8 or hold a NUL.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaError(
            "The file is not UTF-8.", f"Byte {error.start} cannot be decoded.", "Save it as UTF-8."
        ) from error
    if "\0" in text:
        raise SchemaError("The file holds NUL characters.", "So it is no text.", "Save it as UTF-8.")
    return text


def parse_json(text: str) -> Any:
    """Parse one JSON document.

    Raises:
        SchemaError: it is not one valid document, is nested too deeply, or has a name twice in one object.
    """
    _check_nesting(text)
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise SchemaError(
            "The file is not valid JSON.",
            f"{error.msg} at line {error.lineno}, column {error.colno}.",
            "Mend it there.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise SchemaError("The file is not usable JSON.", f"{error}.", "Mend it there.") from error
    if _SURROGATE_ESCAPE.search(text):
        _check_surrogates(value)
    return value


def parse_yaml(text: str) -> Any:
    """Parse one YAML document; names stay text, dates and words such as ``no`` too.

    Raises:
        SchemaError: it is not one valid document or goes beyond the limits.
    """
    from metl_gui.registry.yaml_values import build_yaml  # few projects hold YAML, and every window waits for imports

    return build_yaml(text, MAX_NESTING)


def _check_nesting(text: str) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in ("{", "["):
            depth += 1
            if depth > MAX_NESTING:
                raise SchemaError(
                    "The file is nested too deeply.",
                    f"More than {MAX_NESTING} levels begin at character {match.start()}.",
                    "Flatten it; a schema is not nested like this.",
                )
        elif bracket in ("}", "]"):
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"The name {name!r} stands twice in one object")
            seen.add(name)
    return built


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _check_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise SchemaError(
            "The file holds half a character.", "A surrogate escape stands alone.", "Write the character itself."
        ) from error
