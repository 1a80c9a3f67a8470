"""Projects, states and exports to compare: what a person names, opened to read.

``fx.metl`` is the current state, ``fx.metl@12`` state 12, ``fx.metl@live`` the one that production uses,
``fx.metl@NAME`` one that somebody named; a file that is an export is known by its content, whatever it is called.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from metl_gui.core.differences.document_difference import Difference, compare, compare_by_names
from metl_gui.core.matrix.canonical import matrix_content
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.project_data import Naming, ProjectItem, entries, in_order, project_data_differences
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRenames
from metl_gui.errors import ProjectError, UserError, near_names
from metl_gui.registry.matrix_export import read_export
from metl_gui.store.sqlite.connection import is_database
from metl_gui.values import Value
from metl_gui.workbench.exports.matrix import laid_out
from metl_gui.workbench.history.difference_text import difference_json, difference_lines, difference_summary, entry_json
from metl_gui.workbench.publishing.publication import production_document
from metl_gui.workbench.session import Workbench

LIVE = "live"
_SIDES = "Name a project file, one of its states (fx.metl@12, fx.metl@live) or an export."


class ComparisonSide(Value, eq=False):
    """One side of a comparison.

    Args:
        title: what it is, for people.
        document: its trees and matrix.
        project: the project file that it is a state of, ``None`` for an export.
        things: what lies beside the states of a project that is meant as a whole; ``None`` for one of its states,
            which has no part in that, and for an export.
    """

    title: str
    document: Document
    project: Path | None
    things: tuple[ProjectItem, ...] | None = None


class Comparison(Value):
    """What differs between two sides.

    Args:
        before, after: what they are, for people.
        difference: what differs.
    """

    before: str
    after: str
    difference: Difference

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl diff``."""
        return difference_json(self.difference) | {"before": self.before, "after": self.after}

    def lines(self) -> Iterator[str]:
        """Say it to people."""
        yield f"{self.before} → {self.after}"
        yield from difference_lines(self.difference)
        yield difference_summary(self.difference)


def compared(before: str, after: str | None = None) -> Comparison:
    """Compare two projects, states or exports.

    Args:
        before: a project file, one of its states, or an export.
        after: the other one; without it, the state that is live of a project is compared with its current one.

    Raises:
        UserError: there is no such thing; with what to name instead.
    """
    if after is None:
        path, _ = _parted(before)
        if not is_project(path, _SIDES):
            raise UserError(f"{path} is no project, so it has no live state.", "", "Name two: metl diff BEFORE AFTER.")
        before, after = (f"{before}@{LIVE}", before) if path == Path(before) else (before, str(path))
    one, other = opened(before), opened(after)
    return Comparison(one.title, other.title, difference_of(one, other))


def difference_of(one: ComparisonSide, other: ComparisonSide) -> Difference:
    """Return what differs between two sides; where both are whole projects, also beside their states."""
    if one.project is not None and other.project is not None and one.project.samefile(other.project):
        return compare(one.document, other.document)
    found = compare_by_names(one.document, other.document)
    if one.things is None or other.things is None:
        return found
    before = entries(one.things, Naming.between(one.document, other.document))
    after = entries(other.things, Naming.of(other.document))
    return replace(found, beside=project_data_differences(before, after))


def opened(text: str) -> ComparisonSide:
    """Open what a person named.

    Raises:
        UserError: there is no such file or state, or it cannot be read.
    """
    path, state = _parted(text)
    if not is_project(path, _SIDES):
        if state:
            raise UserError(f"{path.name} is an export and has one state only.", hint=f"Name it without @{state}.")
        export = read_export(path)
        return ComparisonSide(f"{path.name} (an export of state {export.state})", export.document, None)
    with Workbench.open(path, for_editing=False) as workbench:
        document = _at(workbench, state)
        name = f", {state}" if state and not state.isdecimal() else ""
        things = None if state else workbench.kept.data.read()
        return ComparisonSide(f"{path.name} (state {document.state}{name})", document, path, things)


def newest_document(path: Path) -> tuple[Document, RefusedRenames]:
    """Return the newest state of a project with the renames refused in it, or what an export holds.

    Raises:
        UserError: it cannot be read.
    """
    if not is_project(path):
        return read_export(path).document, NO_RENAMES_REFUSED
    with Workbench.open(path, for_editing=False) as workbench:
        return workbench.document, workbench.kept.refused_renames.all()


def whole_text(path: Path) -> str:
    """Write a project with what lies beside its states, or an export, as text for tools: one element or thing a line.

    Raises:
        UserError: it cannot be read.
    """
    if not is_project(path):
        return laid_out(read_export(path).content())
    with Workbench.open(path, for_editing=False) as workbench:
        content = matrix_content(workbench.document, include_unconfirmed=True)
        beside = entries(workbench.kept.data.read(), Naming.of(workbench.document))
        return laid_out(content | {"beside": [entry_json(entry) for entry in in_order(beside)]})


def is_project(path: Path, hint: str = "Name a project file or an export.") -> bool:
    """Tell by its content whether a file is a project; Git hands files over under names of its own.

    Args:
        path: the file.
        hint: what else to name where it cannot be read.

    Raises:
        ProjectError: it cannot be read.
    """
    try:
        return is_database(path)
    except OSError as error:
        raise ProjectError(f"{path} cannot be read.", f"{error.strerror or error}.", hint) from error


def _parted(text: str) -> tuple[Path, str]:
    """Part a file from the state behind the last ``@``; a file of that very name goes first."""
    name, at, state = text.rpartition("@")
    if not at or not name or not state or os.path.exists(text):  # noqa: PTH110 - no file has too long a name
        return Path(text), ""
    return Path(name), state


def _at(workbench: Workbench, state: str) -> Document:
    if not state:
        return workbench.document
    if state == LIVE:
        return production_document(workbench)
    if state.isdecimal() and len(state) < 10:
        return workbench.at_state(int(state))
    named = {each.name: each.state for each in workbench.kept.states.named() if each.name}
    if state not in named:
        known = ", ".join(sorted(named)[:5])
        raise UserError(
            f"{workbench.path.name} has no state called {state!r}.",
            near_names(state, named),
            f"Its named states are {known}." if known else "Name a state by its number; metl history lists them.",
        )
    return workbench.at_state(named[state])
