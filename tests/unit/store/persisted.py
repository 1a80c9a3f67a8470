"""What the columns of a project file hold as JSON, by the names of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metl_gui.core.changes.draft import ChangeSet
from metl_gui.core.matrix.blocks import Element, Loss
from metl_gui.core.project.sample_profiles import AttributeProfile
from metl_gui.core.project.version_tasks import ValueProfile, Waiting
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.warehouse_model import Model

COLUMNS: Mapping[str, Any] = {
    "a change of the log": ChangeSet,
    "lost elements of a block": tuple[Loss, ...],
    "versions that a block waits for": tuple[int, ...],
    "elements of a retired block": tuple[Element, ...],
    "versions of an import that has not ended": tuple[VersionDeclaration, ...],
    "the version of a task": VersionDeclaration,
    "what the values of a task look like": tuple[ValueProfile, ...],
    "where the records of a task wait": tuple[Waiting, ...],
    "what the values of a schema look like": tuple[AttributeProfile, ...],
    "aliases, labels and keys": tuple[str, ...],
    "settings of a schema": tuple[tuple[str, str], ...],
    "lineages that took over": tuple[tuple[int, int], ...],
    "a warehouse model": Model,
}
