"""What is written down or sent, held against the bytes that stand in ``tests/cases/persisted``.

A case file holds the bytes of values that are filled with something else than the default in every member, so that
nothing is left out. What fills them follows from the types and the order of members, never from their names in Python:
a class or a member that is renamed has the same bytes as before, or a test fails.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec import NODEFAULT, inspect

from tests.helpers.cases import FOLDER

T = TypeVar("T")


@cache
def rows(file: str) -> Mapping[str, Any]:
    """Read a case file: what stands there by the names of its rows."""
    found: dict[str, Any] = yaml.load(
        (FOLDER / "persisted" / f"{file}.yml").read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    return found


def filled(kind: type[T]) -> T:
    """Make a value with no member at its default, and with one thing in each collection."""
    made: T = _Filler().value(inspect.type_info(kind))
    return made


def classes_in(*kinds: Any) -> set[type]:
    """Return every struct, dataclass, named tuple and enum that values of some types are made of."""
    return {cls for kind in kinds for cls in _classes_in(inspect.type_info(kind))}


def choices_in(*kinds: Any) -> set[tuple[object, ...]]:
    """Return the words that members of values of some types choose from, each choice sorted."""
    return {choice for kind in kinds for choice in _choices_in(inspect.type_info(kind))}


def files_below(folder: Path) -> dict[str, str]:
    """Return the texts of all files below a folder, by their paths in it."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


def lay_out(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class _Filler:
    """Makes values, each with a number of its own."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def value(self, info: inspect.Type, default: Any = NODEFAULT) -> Any:
        """Return a value of a type that is not its default."""
        return next(value for value in self._values(info, default) if value != default)

    def _values(self, info: inspect.Type, default: Any) -> Iterator[Any]:
        match info:
            case inspect.BoolType():
                yield from (True, False)
            case inspect.LiteralType(values=values):
                yield from values
            case inspect.EnumType(cls=cls):
                yield from cls
            case inspect.UnionType(types=types):
                some = next(type_ for type_ in types if not isinstance(type_, inspect.NoneType))
                yield from self._values(some, default)
            case inspect.IntType() | inspect.AnyType():
                yield from self._numbers
            case inspect.FloatType():
                yield from (number + 0.5 for number in self._numbers)
            case inspect.StrType():
                yield from (f"text {number}" for number in self._numbers)
            case inspect.BytesType():
                yield from (b"bytes %d" % number for number in self._numbers)
            case inspect.RawType():
                yield from (msgspec.Raw(b'{"raw":%d}' % number) for number in self._numbers)
            case inspect.CustomType(cls=cls) if cls is Path:
                yield from (Path(f"path {number}") for number in self._numbers)
            case _:
                yield self._collection(info)

    def _collection(self, info: inspect.Type) -> Any:
        match info:
            case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType():
                return info.cls(**{field.name: self.value(field.type, _default_of(field)) for field in info.fields})
            case inspect.VarTupleType(item_type=item):
                return (self.value(item),)
            case inspect.TupleType(item_types=items):
                return tuple(self.value(item) for item in items)
            case inspect.ListType(item_type=item):
                return [self.value(item)]
            case inspect.DictType(key_type=key, value_type=value):
                return {self.value(key): self.value(value)}
            case _:
                raise TypeError(f"nothing fills {info}")


def _default_of(field: inspect.Field) -> Any:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def _classes_in(info: inspect.Type) -> Iterator[type]:
    if isinstance(info, inspect.StructType | inspect.DataclassType | inspect.NamedTupleType | inspect.EnumType):
        yield info.cls
    yield from itertools.chain.from_iterable(map(_classes_in, _parts_of(info)))


def _choices_in(info: inspect.Type) -> Iterator[tuple[object, ...]]:
    if isinstance(info, inspect.LiteralType):
        yield tuple(sorted(info.values, key=str))
    yield from itertools.chain.from_iterable(map(_choices_in, _parts_of(info)))


def _parts_of(info: inspect.Type) -> tuple[inspect.Type, ...]:
    match info:
        case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType():
            return tuple(field.type for field in info.fields)
        case inspect.UnionType(types=types) | inspect.TupleType(item_types=types):
            return types
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return (item,)
        case inspect.DictType(key_type=key, value_type=value):
            return (key, value)
        case _:
            return ()
