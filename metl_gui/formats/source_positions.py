"""Where messages stand: in the log of their database, as text that sorts as the log does, and in their topic or file.

An order key begins with a letter for its kind of log, so that places of different kinds are told apart and never
compared as if they were of one; keys of one kind have one length:

    p  PostgreSQL           last commit LSN, LSN, order in the transaction
    b  MySQL and MariaDB    number of the binlog file, position, row
    s  SQL Server and Db2   commit LSN, change LSN, serial number of the event
    o  Oracle               commit SCN, SCN
    m  MongoDB              time, ordinal
    t  none of these        partition and offset, and the topic or file that they are of

A number is 16 hexadecimal digits. One that may be missing counts from 1, and 0 stands for none, which sorts first. A
topic or file stands last in ``t``, as a hash: it orders nothing, but two of them have the same offsets.

Nulls: a commit that is not known yet, as in snapshots, counts as the change itself. Hostile origins are places of
transport; nothing here raises.

Source: docs/reference/cdc.md, "Source positions"; docs/reference/message.md, "The source".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import msgspec

_Number: TypeAlias = int | str | None
"""CloudEvents and SCNs have numbers as text."""

_LIMIT = 1 << 64
_NUMBER_DIGITS = 20
OFFSETS, PARTITIONS = 1 << 63, 1 << 31
"""Offsets and partitions are smaller."""

_OFFSET_DIGITS = 19
_SEQUENCE = re.compile(r'\[\s*(?:null|"?(\d{1,20})"?)\s*(?:,\s*(?:null|"?(\d{1,20})"?)\s*)?\]', re.ASCII)
_HEX_LSN = re.compile(r"([0-9A-Fa-f]{1,8}):([0-9A-Fa-f]{1,8}):([0-9A-Fa-f]{1,4})")
_BINLOG = re.compile(r"\.(\d{1,19})\Z", re.ASCII)
_NO_LSN = "0" * 20
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)


class TransportPosition(NamedTuple):
    """Where a message lay on its way.

    Args:
        log: topic or file; the whole text where it has neither form.
        partition: of the topic; 0 of a file.
        offset: in the partition, or the byte in the file.
    """

    log: str
    partition: int
    offset: int


class LogPosition(msgspec.Struct, frozen=True, gc=False):
    """What the origin of a message may say, as ``kernel.message_layout.ORIGIN_NAMES`` lists it."""

    sequence: str | None = None
    lsn: _Number = None
    commit_lsn: str | None = None
    change_lsn: str | None = None
    event_serial_no: _Number = None
    commit_scn: _Number = None
    scn: _Number = None
    file: str | None = None
    pos: _Number = None
    row: _Number = None
    ord: _Number = None
    ts_ms: _Number = None
    total_order: _Number = None


_origin = msgspec.json.Decoder(LogPosition | None).decode


def order_key(origin: bytes, position: str) -> str:
    """Return the order key of one message.

    Args:
        origin: JSON, ``null`` for none.
        position: its transport position.
    """
    return order_keys([origin], [position])[0]


def order_keys(origins: Sequence[bytes], positions: Sequence[str]) -> list[str]:
    """Return the order keys of many messages.

    Args:
        origins: JSON values.
        positions: their transport positions.
    """
    return [_key(_readable(one), position) for one, position in zip(origins, positions, strict=True)]


def _readable(raw: bytes) -> LogPosition | None:
    try:
        found: LogPosition | None = _origin(raw)
    except _UNREADABLE:
        return None
    return found


def _key(origin: LogPosition | None, position: str) -> str:
    key = "" if origin is None else _place_in_log(origin)
    if key:
        return key
    log, partition, offset = transport_position(position)
    return f"t{partition:08x}{offset:016x}{_log_hash(log)}"


def _place_in_log(origin: LogPosition) -> str:
    """Return the key of a place in the log of a database, empty for none."""
    try:
        return next((key for key_of in _KINDS if (key := key_of(origin))), "")
    except ValueError:
        # Half a place in a log is none: compared with whole ones it would be wrong.
        return ""


@lru_cache(maxsize=4096)
def _log_hash(log: str) -> str:
    return hashlib.sha256(log.encode(errors="surrogatepass")).hexdigest()[:16]


def _number(value: _Number) -> int:
    """Read a number of 64 bits.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, str) and len(value) <= _NUMBER_DIGITS and value.isascii() and value.isdecimal():
        value = int(value)
    if not isinstance(value, int) or not 0 <= value < _LIMIT:
        raise ValueError("no number of 64 bits")
    return value


def _counted(value: _Number) -> int:
    """Read a number that may be missing."""
    return 0 if value is None else _number(_number(value) + 1)


def _postgresql(origin: LogPosition) -> str:
    lsn, commit = origin.lsn, None
    if origin.sequence is not None and (lsn is not None or _SEQUENCE.fullmatch(origin.sequence)):
        found = _SEQUENCE.fullmatch(origin.sequence)
        if found is None:
            raise ValueError("no pair of LSNs")
        commit = found[1]
        lsn = found[2] if lsn is None else lsn
    if lsn is None:
        return ""
    number = _number(lsn)
    last_commit = number if commit is None else _number(commit)
    return f"p{last_commit:016x}{number:016x}{_counted(origin.total_order):016x}"


def _sql_server(origin: LogPosition) -> str:
    if origin.commit_lsn is None:
        return ""
    change = _NO_LSN if origin.change_lsn is None else _hex_lsn(origin.change_lsn)
    return f"s{_hex_lsn(origin.commit_lsn)}{change}{_counted(origin.event_serial_no):016x}"


def _hex_lsn(text: str) -> str:
    found = _HEX_LSN.fullmatch(text)
    if found is None:
        raise ValueError("no LSN of SQL Server or Db2")
    return f"{found[1]:0>8}{found[2]:0>8}{found[3]:0>4}".lower()


def _oracle(origin: LogPosition) -> str:
    scn = origin.commit_scn if origin.scn is None else origin.scn
    if scn is None:
        return ""
    commit = scn if origin.commit_scn is None else origin.commit_scn
    return f"o{_number(commit):016x}{_number(scn):016x}"


def _binlog(origin: LogPosition) -> str:
    found = _BINLOG.search(origin.file) if origin.file is not None and origin.pos is not None else None
    if found is None:
        return ""
    return f"b{_number(found[1]):016x}{_number(origin.pos):016x}{_counted(origin.row):016x}"


def _mongodb(origin: LogPosition) -> str:
    if origin.ord is None or origin.ts_ms is None:
        return ""
    return f"m{_number(origin.ts_ms):016x}{_number(origin.ord):016x}"


_KINDS: tuple[Callable[[LogPosition], str], ...] = (_postgresql, _binlog, _sql_server, _oracle, _mongodb)


def transport_position(text: str) -> TransportPosition:
    """Read a position: ``topic/partition/offset`` or ``file@offset``."""
    log, mark, last = text.rpartition("@")
    offset = whole_number(last)
    if mark and offset is not None:
        return TransportPosition(log, 0, offset)
    head, _, last = text.rpartition("/")
    log, mark, middle = head.rpartition("/")
    offset, partition = whole_number(last), whole_number(middle, PARTITIONS)
    if mark and offset is not None and partition is not None:
        return TransportPosition(log, partition, offset)
    return TransportPosition(text, 0, 0)


def whole_number(text: str, limit: int = OFFSETS) -> int | None:
    """Read a number in decimal digits.

    Args:
        text: the digits.
        limit: of 64 bits at most; the number is smaller.

    Returns:
        The number; None when it is none, or too large, however many digits it has.
    """
    if len(text) > _OFFSET_DIGITS or not (text.isascii() and text.isdecimal()):
        return None
    value = int(text)
    return value if value < limit else None
