"""Which shapes are one version, what joins them, and how tasks of several runs become one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.project.sample_profiles import pattern_of
from metl_gui.core.project.version_tasks import (
    VersionTask,
    Waiting,
    attribute_words,
    collect,
    groups_of,
    is_known,
    joined,
    profile_of,
    seen_of,
    similar_schema,
)
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from tests.helpers.world import World


def shape(letters: str, type_: str = "string") -> tuple[AttributeDeclaration, ...]:
    return tuple(AttributeDeclaration(letter, type_, optional=False) for letter in letters)


def task(
    letters: str, schema: str = "s", run: str = "r1", source: str = "in", records: int = 1, mode: str = "test"
) -> VersionTask:
    declaration = VersionDeclaration(schema, shape(letters), inferred=True)
    wait = Waiting(f"errors of {run}", run, mode, source, records)
    return VersionTask(0, schema, seen_of(declaration), declaration, (), (wait,))


@pytest.mark.parametrize(
    ("shapes", "versions"),
    [
        (["ab", "abx", "abxy"], 1),  # members missing
        (["abx", "aby"], 2),  # a rename: never seen together
        (["abx", "aby", "abxy"], 1),  # two optional members
        (["ax", "ay", "az", "axy", "ayz", "axz", "axyz", "a"], 1),
        (["abc", "dbc", "de"], 3),
        (["".join(chr(97 + at) for at in range(20) if number >> at & 1) for number in range(1, 1 << 6)], 1),
    ],
)
def test_shapes_that_one_version_explains_are_one_version(shapes: list[str], versions: int) -> None:
    groups = groups_of([shape(letters) for letters in shapes])
    assert len(groups) == versions
    assert sorted(at for group in groups for at in group) == list(range(len(shapes)))


def test_a_joined_version_has_all_members_and_requires_those_that_are_always_there() -> None:
    found = joined([shape("abc"), shape("ab"), shape("bd")])
    assert [(one.path, one.optional) for one in found] == [("a", True), ("b", False), ("c", True), ("d", True)]


def test_types_that_differ_between_rows_become_one_that_has_both() -> None:
    whole, real, text, nothing = (shape("a", name) for name in ("integer", "number", "string", "unknown"))
    assert [joined([whole, other])[0].type for other in (real, text, nothing)] == ["number", "union", "integer"]


def test_a_null_in_one_row_and_an_object_in_another_are_one_member() -> None:
    leaf = (AttributeDeclaration("a", "unknown"), *shape("b"))
    below = (AttributeDeclaration("a.x", "string"), *shape("b"))
    assert len(groups_of([leaf, below])) == 1
    assert [one.path for one in joined([leaf, below])] == ["b", "a.x"]


@pytest.mark.parametrize(
    ("text", "form"),
    [("2024-01-31", "9999-99-99"), ("EUR", "AAA"), ("Mira Ferrari", "Aaaa Aa+"), ("DE893704", "AA9+"), ("", "")],
)
def test_a_pattern_tells_the_form_and_no_character_of_the_value(text: str, form: str) -> None:
    assert pattern_of(text) == form


def test_a_profile_tells_how_often_a_value_is_there() -> None:
    profile = profile_of("a", ["x@y.org", None, 5, "x@y.net"])
    assert (profile.filled, profile.patterns) == (0.75, ("a@a.aaa",))


def test_attributes_are_told_with_the_form_of_their_values() -> None:
    told = replace(task("ab"), samples=(profile_of("a", ["2024-01-31", None]), profile_of("b", ["x"])))
    assert attribute_words(told) == ["a: string, 50% filled, like 9999-99-99", "b: string, like a"]


def keep(standing: tuple[VersionTask, ...], *seen: VersionTask) -> tuple[VersionTask, ...]:
    """Do what the project file does with what is collected."""
    changes = collect(standing, seen)
    kept = {one.id: one for one in changes.kept if one.id}
    left = [kept.get(one.id, one) for one in standing if one.id not in changes.removed]
    fresh = [one for one in changes.kept if not one.id]
    return (*left, *(replace(one, id=100 + len(left) + at) for at, one in enumerate(fresh)))


def test_a_run_that_is_looked_at_twice_counts_its_records_once() -> None:
    once = keep((), task("ab", records=7))
    assert [one.records for one in keep(once, task("ab", records=7))] == [7]


def test_a_later_run_over_the_same_source_stands_for_the_earlier_one() -> None:
    standing = keep((), task("ab", records=7))
    (found,) = keep(standing, task("ab", run="r2", records=5))
    assert (found.records, found.errors) == (5, "errors of r2")


def test_runs_over_other_sources_and_in_production_add_up() -> None:
    standing = keep((), task("ab", records=7))
    standing = keep(standing, task("ab", run="r2", source="other", records=5))
    (found,) = keep(standing, task("ab", run="r3", mode="production", records=1))
    assert found.records == 13


def test_what_a_replay_sets_aside_again_waits_in_its_own_store_alone() -> None:
    standing = keep((), task("ab", records=7))
    (found,) = keep(standing, task("ab", run="r2", source="errors of r1", records=2))
    assert (found.records, found.errors) == (2, "errors of r2")


def test_a_shape_with_more_members_widens_the_task_that_stands_and_keeps_its_id() -> None:
    standing = keep((), task("ab"))
    (found,) = keep(standing, task("abc", run="r2"))
    assert (found.id, sorted(found.paths)) == (standing[0].id, ["a", "b", "c"])


def test_tasks_that_a_wider_shape_explains_become_one() -> None:
    standing = keep((), task("abx", records=2), task("aby", records=3))
    assert len(standing) == 2
    (found,) = keep(standing, task("abxy", run="r2", source="more", records=4))
    assert found.id == standing[0].id
    assert found.records == 9


def test_a_dismissed_task_comes_back_only_with_members_that_nobody_had_seen() -> None:
    (one,) = keep((), task("ab"))
    dismissed = (replace(one, dismissed_by="ada"),)
    assert keep(dismissed, task("a", run="r2"))[0].dismissed_by == "ada"
    assert keep(dismissed, task("abc", run="r2"))[0].dismissed_by is None


def test_versions_that_messages_declare_are_told_by_what_they_say_and_not_merged() -> None:
    ones = [replace(task(letters), declaration=VersionDeclaration("s", shape(letters))) for letters in ("ab", "abc")]
    ones = [replace(one, seen=seen_of(one.declaration)) for one in ones]
    assert len(keep((), *ones)) == 2


def test_a_task_is_done_once_a_version_takes_its_records_and_stands_again_when_that_is_undone() -> None:
    world = World()
    world.schema("s", "1", "a")
    wanted = task("ab")
    assert not is_known(world.document, wanted)
    added = world.do(AddVersion(Side.EXTRACTION, wanted.declaration))
    assert is_known(world.document, wanted)
    world.undo(added)
    assert not is_known(world.document, wanted)


def test_a_version_that_requires_more_than_the_records_have_does_not_take_them() -> None:
    world = World()
    declared = VersionDeclaration("s", (*shape("ab"), AttributeDeclaration("c", "string", optional=False)))
    world.do(AddVersion(Side.EXTRACTION, replace(declared, inferred=True)))
    assert not is_known(world.document, task("ab"))


def test_a_renamed_table_is_told_by_its_columns_and_then_its_name() -> None:
    world = World()
    world.schema("shop.public.orders", "1", "id", "amount", "memo")
    world.schema("shop.public.orders_2019", "1", "id", "amount", "memo")
    world.schema("shop.public.people", "1", "id", "name")
    found = similar_schema(world.document, "shop.public.orders_2020", frozenset({"id", "amount", "memo", "new"}))
    assert found is not None
    assert found.name == "shop.public.orders_2019"
    assert similar_schema(world.document, "shop.public.x", frozenset({"p", "q"})) is None
