"""Settings by names: of the whole project, of schemas and of entities; and the two deletions.

Settings of the project are no part of a state, so they are not undone. Source: docs/reference/settings.md;
docs/reference/commands.md, "metl remove".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import MASK
from metl_gui.core.project.warehouse_settled import SETTLED
from metl_gui.core.project.writer_schemas import FRAMINGS
from metl_gui.core.review.items import review_items
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.errors import EditError, near_names
from metl_gui.workbench.addresses import find_schema, find_version
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.session import DEFAULT_KEPT_RUNS, KEPT_RUNS, SECOND_PERSON_CONFIRMS, EditOrigin, Workbench

YES, NO = "yes", "no"
MOST_KEPT_RUNS = 10_000
FRAMING = "framing"
KNOWN: dict[str, tuple[str, ...]] = {
    SECOND_PERSON_CONFIRMS: (NO, YES),
    KEPT_RUNS: (str(DEFAULT_KEPT_RUNS),),
    FRAMING: FRAMINGS,
}
"""The settings by name, with their values, the default first; how many runs are kept is any number."""


class ProjectSettings(JsonResult):
    """The settings of a project.

    Args:
        state: the current state, which they are no part of.
        settings: value by name, defaults included.
    """

    state: int
    settings: dict[str, str]

    @property
    def second_person_confirms(self) -> bool:
        """Whether what a person sets stays unconfirmed until somebody else confirms it."""
        return self.settings[SECOND_PERSON_CONFIRMS] == YES


def project_settings(workbench: Workbench) -> ProjectSettings:
    """Read the settings of the project."""
    kept = workbench.kept.settings.all()
    return ProjectSettings(
        workbench.document.state, {name: kept.get(name, values[0]) for name, values in KNOWN.items()}
    )


def set_project_settings(workbench: Workbench, assignments: Sequence[str]) -> ProjectSettings:
    """Change settings of the project, each written ``NAME=VALUE``; an empty value puts the default back.

    Raises:
        EditError: a setting or value is not known; then nothing was set.
        ProjectLockedError: the project is open read only.
    """
    values = dict(_assignment(text) for text in assignments)
    if values:
        workbench.kept.settings.put(values)
    return project_settings(workbench)


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not name:
        raise EditError(
            f"{text!r} is no setting.", hint="Write it as NAME=VALUE; an empty value puts the default back."
        )
    if name not in KNOWN:
        hint = near_names(name, KNOWN) or "Settings of a schema or an entity need --schema or --entity."
        raise EditError(f"A project has no setting {name!r}.", f"It has {', '.join(KNOWN)}.", hint)
    if name == KEPT_RUNS and value:
        return name, _kept_runs(value)
    if value and value not in KNOWN[name]:
        *others, last = KNOWN[name]
        raise EditError(f"{name} cannot be {value!r}.", hint=f"Values are {', '.join(others)} and {last}.")
    return name, "" if value == KNOWN[name][0] else value


def _kept_runs(value: str) -> str:
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= MOST_KEPT_RUNS):
        raise EditError(f"{KEPT_RUNS} cannot be {value!r}.", hint=f"Give a number from 1 to {MOST_KEPT_RUNS:,}.")
    return "" if int(value) == DEFAULT_KEPT_RUNS else str(int(value))


_PATH_SETTINGS = ("version_field",)


class SettingsResult(JsonResult):
    """The settings of a schema or entity after a change, those at their default left out.

    Args:
        state: the state afterwards.
        name: the schema or entity.
        settings: by name.
        removed: names of the blocks that went, as an entity with the policy ``newest`` keeps those of its newest
            version only.
    """

    state: int
    name: str
    settings: dict[str, str]
    removed: tuple[str, ...] = ()


class Removal(JsonResult):
    """What went with a version.

    Args:
        state: the state afterwards.
        title: what was removed.
        blocks: how many blocks are gone.
        elements: how many elements are gone, those carried to another version not counted.
        needs_review: decisions that wait afterwards.
    """

    state: int
    title: str
    blocks: int
    elements: int
    needs_review: int


def set_settings(
    workbench: Workbench,
    name: str,
    assignments: Sequence[str],
    side: Side = Side.EXTRACTION,
    door: EditOrigin = EditOrigin.COMMAND,
) -> SettingsResult:
    """Change settings of a schema or entity, each written ``NAME=VALUE``; an empty value puts the default back.

    ``key`` takes attribute paths separated by commas, in key order; ``mask`` takes those whose values are hidden.

    Raises:
        EditError: the schema, a setting, a value or a key attribute is not known; then nothing was set.
    """
    document = workbench.document
    schema = find_schema(document, side, name)
    values = tuple(_schema_assignment(document, side, schema, text) for text in assignments)
    if not values:
        return settings_of(workbench.document, schema.name, side)
    edit = SetSettings(side, schema.id, values)
    before = workbench.do(edit, door=door).before
    return replace(settings_of(workbench.document, schema.name, side), removed=edit.removed(before))


def settings_of(document: Document, name: str, side: Side = Side.EXTRACTION) -> SettingsResult:
    """Read the settings of a schema or entity.

    Raises:
        EditError: there is none of that name.
    """
    schema = find_schema(document, side, name)
    return SettingsResult(document.state, schema.name, dict(schema.settings))


def remove_version(
    workbench: Workbench, side: Side, name: str, label: str, door: EditOrigin = EditOrigin.COMMAND
) -> Removal:
    """Remove a version with its blocks; the last version takes its schema or entity with it.

    Raises:
        EditError: there is no such version.
    """
    before = workbench.document
    version = find_version(before, side, find_schema(before, side, name), label)
    transition = workbench.do(RemoveVersion(side, version.id), door=door)
    after = transition.after
    return Removal(
        after.state,
        transition.title,
        before.matrix.block_count - after.matrix.block_count,
        before.matrix.ones - after.matrix.ones,
        len(review_items(after)),
    )


def _schema_assignment(document: Document, side: Side, schema: Schema, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not sign or not name:
        raise EditError(
            f"{text!r} is no setting.", hint="Write it as NAME=VALUE; an empty value puts the default back."
        )
    if name == "key" and side is Side.EXTRACTION:
        value = paths.join_list(_known_paths(document, side, schema, value))
    if name in (MASK, SETTLED):
        value = paths.join_list(sorted(set(_known_paths(document, side, schema, value))))
    if name in _PATH_SETTINGS and value:
        _check_path(value)
    return name, value


def _known_paths(document: Document, side: Side, schema: Schema, value: str) -> list[str]:
    wanted = [path.strip() for path in paths.split_list(value) if path.strip()]
    known = {a.path for version in document.tree(side).versions(schema.id) for a in version.attributes}
    for path in wanted:
        if path not in known:
            hint = near_names(path, known) or "Name attributes by their dotted paths, with commas between."
            if value in known and "," in value:
                hint = f"Write a comma within a name as \\,: {paths.join_list((value,))}"
            raise EditError(f"No version of {schema.name} has an attribute {path!r}.", hint=hint)
    return wanted


def _check_path(value: str) -> None:
    try:
        paths.split(value)
    except ValueError as error:
        raise EditError(f"{value!r} is not a path.", f"{error}.", "Escape a literal dot with a backslash.") from error
