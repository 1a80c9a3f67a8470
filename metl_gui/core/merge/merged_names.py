"""Merge what schemas and entities are called and how they are set: names, aliases, settings."""

from __future__ import annotations

from dataclasses import replace

from metl_gui.core.draft import Draft
from metl_gui.core.masks import MASK
from metl_gui.core.merge.merged_nodes import MergedNodes
from metl_gui.core.merge.sides import ConflictKind, Trio, settled, settled_set
from metl_gui.core.nodes import Schema


class NameMerger:
    """Puts schemas and entities into a draft of ours, without their versions."""

    def __init__(self, draft: Draft, nodes: MergedNodes) -> None:
        self._draft = draft
        self._nodes = nodes
        self._side = nodes.side
        self._names: list[tuple[int, list[str]]] = []
        self._added: list[int] = []

    def put_new(self, result: int, theirs: Schema) -> None:
        """Put a schema or entity that only theirs has."""
        self._nodes.touched.add(result)
        self._added.append(result)
        self._names.append((result, list(theirs.aliases)))
        self._draft.put_schema(self._side, result, replace(theirs, id=result, version_ids=(), aliases=(), succeeds=()))

    def put_facts(self, trio: Trio[Schema], has_base: bool) -> None:
        """Merge what is told of a schema or entity that both have."""
        base, ours, theirs = trio
        name, is_other = settled(Trio(base.name, ours.name, theirs.name)) if has_base else (ours.name, False)
        if is_other:
            reason = f"Ours calls it {ours.name}, theirs {theirs.name}; it answers to both."
            self._nodes.tell(ours.id, None, ConflictKind.NAME, ours.name, reason)
        wanted = settled_set(Trio(base.aliases, ours.aliases, theirs.aliases))
        wanted += [each for each in (ours.name, theirs.name) if not has_base or each != base.name]
        aliases = tuple(each for each in wanted if each in ours.aliases and each != name)
        self._names.append((ours.id, [each for each in wanted if each not in ours.aliases and each != name]))
        merged = replace(ours, name=name, aliases=aliases, settings=tuple(sorted(self._settings(trio).items())))
        if merged != ours:
            self._nodes.touched.add(ours.id)
            self._draft.put_schema(self._side, ours.id, merged)

    def give_names(self) -> None:
        """Let schemas answer to the further names that theirs gave them, once all that goes has gone."""
        for result, names in self._names:
            schema = self._draft.tree(self._side).find_schema(result)
            if schema is not None and names:
                self._give_names(schema, names)
        if self._added:
            self._part_names()

    def _give_names(self, schema: Schema, names: list[str]) -> None:
        tree = self._draft.tree(self._side)
        free = [each for each in names if tree.named(each) is None]
        for each in names:
            holder = tree.named(each)
            if holder is not None and holder.id != schema.id:
                reason = f"Theirs lets {schema.name} answer to {each}, which is {holder.name} in ours; it stays so."
                self._nodes.tell(schema.id, None, ConflictKind.NAME, schema.name, reason)
        if free:
            self._nodes.touched.add(schema.id)
            self._draft.put_schema(self._side, schema.id, replace(schema, aliases=(*schema.aliases, *free)))

    def _part_names(self) -> None:
        """Take further names away from schemas where theirs added one of that very name."""
        tree = self._draft.tree(self._side)
        added = {schema.name: schema.id for id_ in self._added if (schema := tree.find_schema(id_)) is not None}
        for id_ in self._nodes.places.ours.schemas.values():
            schema = tree.find_schema(id_)
            taken = [each for each in schema.aliases if added.get(each, id_) != id_] if schema else []
            if schema is None or not taken:
                continue
            aliases = tuple(each for each in schema.aliases if each not in taken)
            self._draft.put_schema(self._side, id_, replace(schema, aliases=aliases))
            reason = f"Ours lets {schema.name} answer to {', '.join(taken)}, which theirs added; it is that one now."
            self._nodes.tell(id_, None, ConflictKind.NAME, schema.name, reason)

    def _settings(self, trio: Trio[Schema]) -> dict[str, str]:
        base, ours, theirs = (dict(schema.settings) for schema in trio)
        found: dict[str, str] = {}
        for name in base.keys() | ours.keys() | theirs.keys():
            values = Trio(base.get(name, ""), ours.get(name, ""), theirs.get(name, ""))
            if name == MASK:
                paths = settled_set(Trio(*(value.split(",") for value in values)))
                found[name] = ",".join(sorted(path for path in paths if path))
                continue
            found[name], is_other = settled(values)
            if is_other:
                words = [value or "the default" for value in values]
                reason = f"Ours sets {name} to {words[1]}, theirs to {words[2]}; ours is kept."
                self._nodes.tell(trio.ours.id, None, ConflictKind.SETTING, f"{trio.ours.name}, {name}", reason)
        return {name: value for name, value in found.items() if value}
