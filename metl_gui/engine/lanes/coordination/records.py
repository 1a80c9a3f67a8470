"""Keys and values of the coordination topic, written and read, and what is told of its members.

One compacted topic a matrix, ``metl.<project id>.state``, one partition. Its keys:

    plan/<digest>/<n>                      a part of a compiled plan, by the SHA-256 of the whole
    announced/<id>                         a published state, to be taken up by all
    frozen/<id>                            whether nothing is taken up until somebody allows it again
    member/<instance>                      what a member said last; null when its lane began anew
    change/<lane>/<offset>/<topic>/<n>      where a lane stood in a partition when it took up what was announced there
    set-back/<lane>/<topic>/<n>            the newest order to go back in a partition
    obeyed/<lane>/<topic>/<n>              which order was obeyed last

What others wrote, or an unknown version of this program, is passed over. All of it is values without a client behind
them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import msgspec


class SetBackOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Go back to an offset of one partition.

    Args:
        id: names the order; whoever obeyed it writes it into the metadata of the offset, so that it is obeyed once.
        topic, partition, offset: where the next record is read.
    """

    id: str
    topic: str
    partition: int
    offset: int


CHUNK_BYTES = 256 << 10
PLAN = "plan/"
_MOST_CHUNKS = 8192


class KeyedRecord(NamedTuple):
    """One record of the topic.

    Args:
        offset: where it lies in the topic.
        time_ms: when the broker put it there.
        key, value: as they stand there; a value of None takes back what stood under the key.
    """

    offset: int
    time_ms: int
    key: str
    value: bytes | None


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """A published state, to be taken up by all.

    Args:
        state, hash, publication: of the state (``PlanState``).
        again: counts what was announced since that publication, so that going back to an earlier state overrules it,
            and the next publication overrules going back.
        digest: SHA-256 of its compiled plan.
        chunks: in how many parts that stands in the topic.
        despite_freeze: somebody wants this one though everything else is frozen.
        who: who published it.
    """

    state: int
    hash: str
    digest: str
    chunks: int
    publication: int = 0
    again: int = 0
    despite_freeze: bool = False
    who: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        """What is announced counts when its rank is higher than that of everything before."""
        return (self.publication, self.again)


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """Whether newly announced states wait.

    Args:
        is_frozen: they do.
        in_force: the offset of what was in force then; see ``Heartbeat``.
        who: who wants it so.
    """

    is_frozen: bool
    in_force: int | None = None
    who: str = ""


class Heartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """What a member says of itself, again and again.

    Args:
        token: random, so that a member knows its own words.
        number: counts what it said.
        since: the offset of the words by which it joined; None in those words themselves.
        session_ms: after so long without a word nobody waits for it.
        lane: its lane.
        is_counted: others wait for it.
        state: what it maps with; None for nothing yet.
        ready: the offsets of the announcements that it is ready for.
        in_force: the offset of the announcement that is in force, as it read. A fact, so that whoever reads a log from
            which older words were removed still comes to the same answer.
        ready_state: the newest state of these.
        trouble: why it is not ready for a state, in words.
        has_left: these are its last words.
    """

    token: str
    number: int
    since: int | None
    session_ms: int
    lane: str = ""
    is_counted: bool = True
    state: int | None = None
    ready: tuple[int, ...] = ()
    in_force: int | None = None
    ready_state: int | None = None
    trouble: str = ""
    has_left: bool = False


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Where a lane stood in a partition when it took up a state.

    Args:
        state: the state.
        offset: the first record that it was mapped with it.
    """

    state: int
    offset: int


class Obeyed(msgspec.Struct, frozen=True, kw_only=True):
    """The order of this id was obeyed."""

    id: str


class ChunkKey(NamedTuple):
    """Names a part of a plan."""

    digest: str
    number: int


class MemberKey(NamedTuple):
    """Names a member."""

    instance: str


class ChangeKey(NamedTuple):
    """Names where a lane stood in a partition when it took up what was announced at an offset."""

    lane: str
    announced_at: int
    topic: str
    partition: int


class PartitionKey(NamedTuple):
    """Names a partition as one lane reads it."""

    lane: str
    topic: str
    partition: int


Key: TypeAlias = ChunkKey | MemberKey | ChangeKey | PartitionKey
Value: TypeAlias = Announced | Frozen | Heartbeat | Change | SetBackOrder | Obeyed


class DecodedRecord(NamedTuple):
    """What a record says.

    Args:
        key: what it is about; None for what there is one of.
        value: what it says of it; bytes for a part of a plan, None when it was taken back.
    """

    key: Key | None
    value: Value | bytes | None


def topic_of(matrix: str) -> str:
    """Return the topic by which the lanes of a matrix agree."""
    return f"metl.{matrix}.state"


def digest_of(plan: bytes) -> str:
    """Return what proves a plan."""
    return hashlib.sha256(plan).hexdigest()


def chunks_of(plan: bytes) -> list[tuple[str, bytes]]:
    """Cut a plan into parts with their keys."""
    digest = digest_of(plan)
    starts = range(0, max(len(plan), 1), CHUNK_BYTES)
    return [(f"plan/{digest}/{n}", plan[at : at + CHUNK_BYTES]) for n, at in enumerate(starts)]


def joined(chunks: Mapping[int, bytes], announced: Announced) -> bytes | None:
    """Put a plan together; None while parts are missing, or when they are not what was announced."""
    if not 0 < announced.chunks <= _MOST_CHUNKS or any(n not in chunks for n in range(announced.chunks)):
        return None
    plan = b"".join(chunks[n] for n in range(announced.chunks))
    return plan if digest_of(plan) == announced.digest else None


def announced_key() -> str:
    """Return a key for an announcement: never used twice, as what counts is its offset, which compaction must leave."""
    return f"announced/{secrets.token_hex(8)}"


def frozen_key() -> str:
    """Return a key for freezing, never used twice: what is allowed again was still forbidden before."""
    return f"frozen/{secrets.token_hex(8)}"


def member_key(instance: str) -> str:
    """Return the key of what a member says."""
    return f"member/{instance}"


def change_key(key: ChangeKey) -> str:
    """Return the key under which a lane keeps where it stood at a change of state."""
    return f"change/{key.lane}/{key.announced_at}/{key.topic}/{key.partition}"


def set_back_key(key: PartitionKey) -> str:
    """Return the key of the order to go back in a partition."""
    return f"set-back/{key.lane}/{key.topic}/{key.partition}"


def obeyed_key(key: PartitionKey) -> str:
    """Return the key under which a lane says which order it obeyed."""
    return f"obeyed/{key.lane}/{key.topic}/{key.partition}"


def encoded(value: Value) -> bytes:
    """Write a value."""
    return msgspec.json.encode(value)


def read(key: str, value: bytes | None) -> DecodedRecord | None:
    """Read one record of the topic; None for what this program did not write, or took back."""
    kind, _, rest = key.partition("/")
    try:
        return _read(kind, rest, value)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None


def _read(kind: str, rest: str, value: bytes | None) -> DecodedRecord | None:
    match kind:
        case "plan":
            digest, number = rest.split("/")
            return DecodedRecord(ChunkKey(digest, int(number)), value)
        case "member":
            return DecodedRecord(MemberKey(rest), None if value is None else msgspec.json.decode(value, type=Heartbeat))
    if value is None:
        return None
    match kind:
        case "announced":
            return DecodedRecord(None, msgspec.json.decode(value, type=Announced))
        case "frozen":
            return DecodedRecord(None, msgspec.json.decode(value, type=Frozen))
        case "change":
            lane, announced_at, topic, partition = rest.rsplit("/", 3)
            key = ChangeKey(lane, int(announced_at), topic, int(partition))
            return DecodedRecord(key, msgspec.json.decode(value, type=Change))
        case "set-back":
            return DecodedRecord(_partition_key(rest), msgspec.json.decode(value, type=SetBackOrder))
        case "obeyed":
            return DecodedRecord(_partition_key(rest), msgspec.json.decode(value, type=Obeyed))
    return None


def _partition_key(rest: str) -> PartitionKey:
    lane, topic, partition = rest.rsplit("/", 2)
    return PartitionKey(lane, topic, int(partition))
