"""Edits of elements in many blocks at once: what each of them would do by itself, refusals included."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from metl_gui.core.changes.draft import ChangeSet, Draft, EditContext, perform
from metl_gui.core.edits.attribute_pairs import Chosen, by_name, by_position, plan
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.helpers.histories import Steps, steps, world_of


def some_edits(document: Document, random: Random) -> tuple[SetElements, ...]:
    """Draw edits of any blocks, most of which can be done."""
    sources, targets = (list(document.tree(side).all_versions()) for side in Side)
    found = []
    for _ in range(random.randrange(1, 8) if sources and targets else 0):
        source, target = random.choice(sources), random.choice(targets)
        block = document.matrix.block(source.id, target.id) or Block(source.id, target.id)
        ps, qs = [a.id for a in source.attributes], [a.id for a in target.attributes]
        count = random.randrange(min(len(ps), len(qs)) + 1)
        ones = tuple(Element(q, p) for q, p in zip(random.sample(qs, count), random.sample(ps, count), strict=True))
        if random.random() < 0.05:
            ones += (Element(1, 10_000),)
        zeros = tuple(e for e in block.elements if random.random() < 0.7)
        status = random.choice((Status.CONFIRMED, Status.UNCONFIRMED))
        found.append(SetElements(block.key, ones, zeros, status, random.choice(("", "", "why"))))
    return tuple(found)


def outcome(work: Callable[[], ChangeSet]) -> ChangeSet | str:
    try:
        return work()
    except EditError as refusal:
        return str(refusal)


@given(steps, st.integers(0, 1 << 30))
def test_edits_of_many_blocks_do_what_each_does_by_itself(history: Steps, seed: int) -> None:
    document, stamp = world_of(history).document, EditContext("Ada", 9)
    edits = some_edits(document, Random(seed))

    def one_by_one() -> ChangeSet:
        draft = Draft(document, stamp)
        for edit in edits:
            edit.apply(draft)
        draft.unmark_mapped()
        return draft.finish("").change

    assert outcome(lambda: perform(document, CompositeEdit("", edits), stamp).change) == outcome(one_by_one)


@given(steps, st.integers(0, 1 << 30))
def test_a_block_that_waits_for_nothing_has_what_stood_and_what_is_set_without_what_is_cleared(
    history: Steps, seed: int
) -> None:
    document, stamp = world_of(history).document, EditContext("Ada", 9)
    for edit in some_edits(document, Random(seed)):
        before = document.matrix.block(*edit.key) or Block(*edit.key)
        if before.losses or before.waits or before.status is Status.NEEDS_REVIEW:
            continue
        elements = tuple(sorted({*(e for e in before.elements if e not in edit.zeros), *edit.ones}))
        wanted: Block | None = replace(
            before,
            elements=elements,
            status=edit.status,
            comment=edit.comment or before.comment,
            who="Ada",
            when_ms=9,
            retired=(),
            unconfirmed=False,
        )
        wanted = None if wanted is not None and wanted.is_null and wanted.is_plain else wanted
        try:
            after = perform(document, edit, stamp).after
        except EditError:
            continue
        assert after.matrix.block(*edit.key) == wanted
        assert after.matrix.ones == sum(len(block.elements) for block in after.matrix.blocks())
        assert after.matrix.block_count == sum(1 for _ in after.matrix.blocks())


@given(steps, st.booleans())
def test_a_null_block_is_paired_like_one_that_holds_nothing_of_what_is_chosen(history: Steps, is_by_name: bool) -> None:
    document, pairing = world_of(history).document, by_name if is_by_name else by_position
    for source in document.extraction.all_versions():
        for target in document.cdm.all_versions():
            block = document.matrix.block(source.id, target.id)
            if block is not None and not block.is_null:
                continue
            chosen = [Chosen(each.id, tuple(a.id for a in each.attributes)) for each in (source, target)]
            done = plan(document, chosen[:1], chosen[1:], pairing)
            left = [
                [a for a in each.attributes if a.lineage not in tree.schema(each.schema_id).ignored_lineages]
                if len(each.attributes) > 1
                else list(each.attributes)
                for tree, each in ((document.extraction, source), (document.cdm, target))
            ]
            wanted = tuple(sorted(Element(q.id, p.id) for p, q in pairing(*left)))
            assert tuple(edit.ones for edit in done.edits) == ((wanted,) if wanted else ())
            assert (done.mapped, done.already, done.taken) == (len(wanted), 0, 0)
            assert done.without_partner == len(left[0]) - len(wanted)
