"""What a dry run found, as the sheet shows it: rows and words; plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from metl_gui.ui.naming import number_of
from metl_gui.ui.pill import VERDICT_KINDS
from metl_gui.ui.two_lines import TwoLines
from metl_gui.workbench.trying import LostSource, Trial, TriedBlock

Finding: TypeAlias = "LostSource | TriedBlock"
_NAMED = 3


def heading_of(trial: Trial) -> str:
    """Say in one sentence what would happen."""
    if trial.is_all_refused:
        return "Nothing could be tried"
    if not trial.added:
        return "The project has all of these versions already"
    if not trial.blocks:
        return "Nothing would be lost"
    required = sum(lost.required for lost in trial.sources_lost)
    words = f"{number_of(len(trial.blocks), 'block')} would need a decision"
    if required:
        return f"{words}, {number_of(required, 'required attribute')} would stay empty"
    return words


def sentence_of(trial: Trial) -> str:
    """Say what was tried."""
    known = (
        f", {len(trial.unchanged):,} {'are' if len(trial.unchanged) != 1 else 'is'} known" if trial.unchanged else ""
    )
    refused = f", {number_of(len(trial.refused), 'source')} refused" if trial.refused else ""
    tried = f"{number_of(len(trial.added), 'new version')} tried against state {trial.state:,}{known}{refused}"
    return f"{tried}. Nothing was changed."


def rows_of(trial: Trial) -> tuple[tuple[TwoLines, Finding], ...]:
    """List what would be lost: sources first, required ones before the others, then blocks."""
    return (
        *((_source_row(each), each) for each in trial.sources_lost),
        *((_block_row(each), each) for each in trial.blocks),
    )


def details_of(found: Finding) -> str:
    """Say all of one finding."""
    if isinstance(found, LostSource):
        need = "is required and" if found.required else "is optional and"
        feeds = "feed it" if len(found.fed_by) != 1 else "feeds it"
        return (
            f"{found.attribute} of {found.entity} {found.entity_version} {need} would have no source any more.\n"
            f"{', '.join(found.fed_by)} {feeds} today, with its newest version."
        )
    return "\n".join(_block_details(found))


def text_of(trial: Trial) -> str:
    """Write everything as text, to be sent to somebody."""
    lines = [heading_of(trial), sentence_of(trial)]
    lines += [f"{each.name} {each.version}: new, {number_of(each.attributes, 'attribute')}" for each in trial.added]
    lines += [f"{each.source}: refused. {each.reason}" for each in trial.refused]
    for _, found in rows_of(trial):
        lines += ["", details_of(found)]
    return "\n".join(lines) + "\n"


def _source_row(lost: LostSource) -> TwoLines:
    title = f"{lost.entity} {lost.entity_version} · {lost.attribute}"
    facts = f"would lose its last source, {', '.join(lost.fed_by[:_NAMED])}"
    return TwoLines(title, facts, "required" if lost.required else "optional", "bad" if lost.required else "review")


def _block_row(tried: TriedBlock) -> TwoLines:
    item, name = tried.entry, tried.entry.block
    title = f"{name.schema} {name.version} → {name.entity} {name.entity_version}"
    lost = [each.element.to_path for each in item.lost]
    parts = [f"would lose {', '.join(lost[:_NAMED])}"] if lost else []
    parts[-1:] = [f"{parts[-1]} and {len(lost) - _NAMED} more"] if len(lost) > _NAMED else parts
    changes = sum(not change.is_compatible for change in item.type_changes)
    parts += [number_of(changes, "type change")] if changes else []
    parts += [] if tried.was_confirmed else ["not confirmed today"]
    return TwoLines(title, " · ".join(parts), item.verdict, VERDICT_KINDS.get(item.verdict, "plain"))


def _block_details(tried: TriedBlock) -> Iterator[str]:
    item = tried.entry
    yield f"{item.block}: {item.verdict}"
    yield f"{number_of(len(item.kept), 'element')} would stay."
    for lost in item.lost:
        yield f"{lost.element.from_path} → {lost.element.to_path} would be lost: {lost.reason}."
    for change in item.type_changes:
        tail = "" if change.is_compatible else ", which is not read the same way"
        yield f"{change.path} would change from {change.before} to {change.after}{tail}."
    best = {proposal.lost: proposal for proposal in reversed(item.proposals)}
    for proposal in best.values():
        yield f"Perhaps {proposal.lost} is called {proposal.candidate} there: {proposal.reason}."
    if item.new_attributes:
        yield f"New: {', '.join(item.new_attributes)}."
