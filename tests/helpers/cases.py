"""Cases written as YAML beside the expected attributes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from _pytest.mark import ParameterSet

from metl_gui.core.trees.declarations import AttributeDeclaration

FOLDER = Path(__file__).resolve().parents[1] / "cases"


def cases(folder: str) -> list[ParameterSet]:
    """Load all cases of a folder as parameters named by their sentences."""
    found: list[ParameterSet] = []
    for path in sorted((FOLDER / folder).glob("*.yml")):
        listed: list[dict[str, Any]] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        found.extend(pytest.param(case, id=case["case"]) for case in listed)
    return found


def lines(attributes: Iterable[AttributeDeclaration]) -> list[str]:
    """Write attributes as cases do: path, type, logical name, scale, and whether it is optional."""
    return [
        " ".join(
            part
            for part in (
                a.path,
                a.type,
                a.logical,
                "" if a.scale is None else str(a.scale),
                "optional" if a.optional else "",
            )
            if part
        )
        for a in attributes
    ]
