"""Names that tables keyed by a hash are most likely to mix up, and such as are made for the hash of machine code."""

from __future__ import annotations

from random import Random

from metl_gui.engine.kernel.compiled.object_names import _MULTIPLIER

_WORD = 8
_BITS = (1 << 64) - 1
_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\.')


def collisions(dice: Random) -> list[str]:
    """Draw names of which several agree in length, first or last bytes, or in the sum of their bytes."""
    stem = _letters(dice)
    shuffled = "".join(dice.sample(stem, len(stem)))
    other = _letters(dice)
    return [stem, shuffled, stem + other, other + stem, stem + stem, stem + "a", stem + "b", "a" + stem, "b" + stem]


def twins(dice: Random) -> tuple[tuple[str, str], tuple[str, str]]:
    """Make two pairs of names; objects of either pair in order have one hash, as ``object_names.read_name`` mixes it.

    A pair of first names is drawn until the difference of their hashes is one between two second names.
    """
    while True:
        one, two = _letters(dice), _letters(dice)
        difference = (_mixed(one) ^ _mixed(two)).to_bytes(_WORD, "little")
        choices = [[byte for byte in _PLAIN if byte ^ changed in _PLAIN] for changed in difference]
        if all(choices):
            second = bytes(dice.choice(bytes_) for bytes_ in choices)
            other = bytes(byte ^ changed for byte, changed in zip(second, difference, strict=True))
            return (one, second.decode()), (two, other.decode())


def _mixed(name: str) -> int:
    """Return the hash behind the first name of an object, of eight letters."""
    mixed = ((int.from_bytes(name.encode(), "little") ^ _WORD) * _MULTIPLIER) & _BITS
    signed = mixed - (1 << 64) if mixed >> 63 else mixed
    return (mixed ^ (signed >> 29)) & _BITS


def _letters(dice: Random) -> str:
    return "".join(dice.choices("abcdefghijklmnopqrstuvwxyz_", k=_WORD))
