"""A run in parts and its flat form in files are the same run, and neither shows a secret."""

from __future__ import annotations

import secrets

import msgspec

from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import KeptSpec, MappingSpec, RunPolicy, SinkSpec, SourceSpec
from tests.helpers.persisted import filled
from tests.helpers.run_specs import run_spec

_PARTS = SourceSpec, SinkSpec, MappingSpec, RunPolicy
_SECRET = secrets.token_hex(8)
_SERVERS = KafkaServers(bootstrap="h:1", secrets=(("sasl.password", _SECRET),))


def test_the_flat_form_has_every_member_of_every_part_once() -> None:
    members = [name for part in _PARTS for name in part.__struct_fields__ if name != "address"]
    assert sorted([*members, "run_id", "servers", "source", "sink"]) == sorted(KeptSpec.__struct_fields__)


def test_a_member_has_the_same_default_in_its_part_and_in_files() -> None:
    parts = SourceSpec(address="s"), SinkSpec(address="t"), MappingSpec(), RunPolicy(folder="f")
    kept = KeptSpec(run_id="r", plan=b"", source="s", sink="t", folder="f").spec
    assert (kept.source, kept.sink, kept.mapping, kept.policy) == parts


def test_a_run_comes_back_whole_from_its_flat_form() -> None:
    kept = filled(KeptSpec)
    assert KeptSpec.of(kept.spec) == kept


def test_what_is_kept_and_what_tasks_are_told_hold_neither_plan_nor_secrets() -> None:
    topic = "kafka://h:1/t"
    spec = run_spec(plan=b"{}", source=topic, sink=topic, errors=topic, servers=(_SERVERS,) * 3)
    assert spec.servers_of("errors") == _SERVERS
    for told in (spec.as_kept, spec.for_tasks):
        assert _SECRET not in msgspec.json.encode(told).decode()
    assert (spec.as_kept.plan, spec.for_tasks.mapping.plan) == (b"", b"")
    assert [one.shown for one in spec.as_kept.servers] == ["h:1"] * 3
    assert spec.for_tasks.servers == ()


def test_a_run_that_is_logged_shows_neither_plan_nor_secrets() -> None:
    spec = run_spec(plan=_SECRET.encode(), servers=(_SERVERS,))
    spec = msgspec.structs.replace(spec, mask_key=MaskKey(_SECRET.encode()))
    assert _SECRET not in repr(spec)
