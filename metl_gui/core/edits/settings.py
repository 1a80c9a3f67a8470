"""Edits of settings, names and policies."""

from __future__ import annotations

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.edits.elements import block_name
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import MASK, setting_with
from metl_gui.core.project.time_zones import TIME_ZONE, check_time_zone
from metl_gui.core.project.warehouse_settled import SETTLED
from metl_gui.core.project.writer_schemas import FRAMINGS
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value

# The values a setting may have, its default first.
CHOICES: dict[str, tuple[str, ...]] = {
    "replica_identity": ("default", "full"),
    "ask": ("losses", "always", "new attributes too"),
    "meanwhile": ("hold", "map what is left"),
    "policy": ("newest", "parallel"),
    "framing": FRAMINGS,
}
SCHEMA_SETTINGS = (
    "key",
    "replica_identity",
    "version_field",
    "placeholder",
    "framing",
    TIME_ZONE,
    "ask",
    "meanwhile",
    MASK,
)
ENTITY_SETTINGS = ("policy", MASK, SETTLED)


class SetSettings(Value):
    """Change settings of a schema or entity; an empty value puts the default back, which is never kept itself.

    Switching an entity to policy 3 removes the blocks of all but its newest version.
    """

    side: Side
    schema_id: int
    values: tuple[tuple[str, str], ...]

    def title(self, document: Document) -> str:
        """Say what is set."""
        schema = document.tree(self.side).schema(self.schema_id)
        title = f"Set {', '.join(f'{key} = {value}' for key, value in self.values)} for {schema.name}"
        gone = ", ".join(self.removed(document))
        return f"{title}, removing {gone}" if gone else title

    def removed(self, document: Document) -> tuple[str, ...]:
        """Name every block that goes because only the newest version of its entity may have any."""
        if self.side is Side.EXTRACTION or dict(self.values).get("policy", "parallel") == "parallel":
            return ()
        older = document.cdm.schema(self.schema_id).version_ids[:-1]
        return tuple(block_name(document, key) for id_ in older for key in document.matrix.row_keys(id_))

    def apply(self, draft: Draft) -> None:
        """Set the values.

        Raises:
            EditError: an unknown setting or value, or the schema is gone.
        """
        known = SCHEMA_SETTINGS if self.side is Side.EXTRACTION else ENTITY_SETTINGS
        for name, value in self.values:
            check_setting(name, value, known)
        schema = draft.schema(self.side, self.schema_id)
        merged = {**dict(schema.settings), **dict(self.values)}
        settings = tuple(sorted((name, value) for name, value in merged.items() if value not in ("", _default(name))))
        draft.put_schema(self.side, schema.id, replace(schema, settings=settings))
        if self.side is Side.CDM and replace(schema, settings=settings).setting("policy", "newest") == "newest":
            for id_ in schema.version_ids[:-1]:
                draft.drop_blocks(draft.matrix.row_keys(id_))


class MaskAttribute(Value):
    """Hide the values of an attribute from people, in every version, or show them again."""

    side: Side
    version_id: int
    attribute_id: int
    is_hidden: bool = True

    def title(self, document: Document) -> str:
        """Name the attribute."""
        version = document.tree(self.side).version(self.version_id)
        attribute = version.attribute(self.attribute_id)
        name = document.tree(self.side).schema(version.schema_id).name
        return f"{'Mask' if self.is_hidden else 'Show'} {attribute.path if attribute else '?'} of {name}"

    def apply(self, draft: Draft) -> None:
        """Change the setting.

        Raises:
            EditError: the attribute is gone.
        """
        version = draft.version(self.side, self.version_id)
        attribute = version.attribute(self.attribute_id)
        if attribute is None:
            raise EditError("The attribute is not in the trees any more.", hint="Look at the newest state first.")
        schema = draft.schema(self.side, version.schema_id)
        value = setting_with(draft.tree(self.side), schema, attribute, self.is_hidden)
        SetSettings(self.side, schema.id, ((MASK, value),)).apply(draft)


class AddAlias(Value):
    """Let a schema answer to a further name ("this continues S")."""

    side: Side
    schema_id: int
    alias: str

    def title(self, document: Document) -> str:
        """Say what continues what."""
        return f"{self.alias} continues {document.tree(self.side).schema(self.schema_id).name}"

    def apply(self, draft: Draft) -> None:
        """Add the alias.

        Raises:
            EditError: another schema answers to the name, or this one is gone.
        """
        schema = draft.schema(self.side, self.schema_id)
        holder = draft.tree(self.side).named(self.alias)
        if holder is not None and holder.id != self.schema_id:
            raise EditError(f"{holder.name} answers to {self.alias} already.", hint="Choose another name.")
        if holder is None:
            draft.put_schema(self.side, schema.id, replace(schema, aliases=(*schema.aliases, self.alias)))


def _default(name: str) -> str:
    return CHOICES[name][0] if name in CHOICES else ""


def check_setting(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse an unknown setting or value.

    Raises:
        EditError: with near names or the choices.
    """
    if name not in known:
        raise EditError(f"There is no setting {name}.", near_names(name, known), f"Settings: {', '.join(known)}.")
    choices = CHOICES.get(name)
    if value and choices and value not in choices:
        raise EditError(f"{name} cannot be {value}.", hint=f"Choose one of: {', '.join(choices)}.")
    if name == TIME_ZONE and value:
        check_time_zone(value)
