"""Which partition a key belongs to, by the rule of Kafka's own clients."""

from __future__ import annotations

from collections.abc import Iterable

_MASK = 0xFFFFFFFF
_SEED, _FACTOR, _SHIFT = 0x9747B28C, 0x5BD1E995, 24


def murmur2(key: bytes) -> int:
    """Return the hash that clients in Java choose a partition by. Source: MurmurHash2, 32 bits, Austin Appleby."""
    value = (_SEED ^ len(key)) & _MASK
    whole = len(key) & ~3
    for place in range(0, whole, 4):
        part = int.from_bytes(key[place : place + 4], "little") * _FACTOR & _MASK
        part = (part ^ part >> _SHIFT) * _FACTOR & _MASK
        value = value * _FACTOR & _MASK ^ part
    if rest := key[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * _FACTOR & _MASK
    value = (value ^ value >> 13) * _FACTOR & _MASK
    return value ^ value >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition of a key among so many."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def is_by_key(placed: Iterable[tuple[bytes, int]], partitions: int) -> bool:
    """Say whether all keys lie where the rule puts them."""
    return all(partition_of(key, partitions) == partition for key, partition in placed)
