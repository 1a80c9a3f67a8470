"""How files are cut into records."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.formats.record_delimiters import HEAD_BYTES, DelimitedRecord, Framing, sniff, split
from tests.helpers.json_texts import values


def pieces(text: bytes, size: int) -> Iterator[bytes]:
    """Hand out a text in pieces."""
    return (text[at : at + size] for at in range(0, len(text), size))


def cut(text: bytes, size: int = 1 << 16) -> list[bytes]:
    """Cut a text into records, each where it says it is."""
    found = list(split(pieces(text, size)))
    for framed in found:
        assert text[framed.offset :].startswith(framed.raw)
    return [framed.raw for framed in found]


records = st.lists(values.map(lambda value: ('{"r":' + value + "}").encode()), min_size=1, max_size=5)


@given(records, st.integers(1, 50))
def test_lines_arrays_and_concatenated_values_give_the_same_records_in_any_pieces(
    texts: list[bytes], size: int
) -> None:
    flat = [text.replace(b"\n", b" ") for text in texts]
    assert cut(b"\n".join(flat), size) == flat
    assert cut(b"\r\n".join(flat) + b"\r\n", size) == flat
    assert cut(b"[" + b",\n".join(texts) + b"]", size) == texts
    if len(texts) > 1:
        assert cut(b"".join(texts), size) == texts


@given(st.lists(st.dictionaries(st.text(max_size=3), st.lists(st.integers(), max_size=2)), min_size=2, max_size=4))
def test_values_that_are_written_over_several_lines_are_concatenated(found: list[dict[str, list[int]]]) -> None:
    texts = [json.dumps({"r": value}, indent=1).encode() for value in found]
    assert cut(b"\n".join(texts)) == texts


@given(st.binary(max_size=200), st.integers(1, 20))
def test_any_bytes_are_cut_the_same_way_in_any_pieces(text: bytes, size: int) -> None:
    assert list(split(pieces(text, size))) == list(split(iter([text])))


@given(
    st.lists(
        st.binary(min_size=1, max_size=20).filter(lambda line: b"\n" not in line and line.strip(b" \t\r\n")), max_size=5
    )
)
def test_every_line_that_is_not_blank_is_one_record(lines: list[bytes]) -> None:
    found = list(split(iter([b'{"a":1}\n', b"\n\n".join(lines)])))
    assert [framed.raw for framed in found][1:] == [
        line.removesuffix(b"\r") if line.endswith(b"\r") else line for line in lines
    ]


@pytest.mark.parametrize(
    ("text", "framing"),
    [
        (b'{"a":1}\n{"a":2}\n', Framing.LINES),
        (b'\xef\xbb\xbf{"a":1}\n', Framing.LINES),
        (b'{"broken\n{"a":2}\n', Framing.LINES),
        (b'{"a":1\n{"a":2}\n', Framing.LINES),
        (b"null\n{}\n", Framing.LINES),
        (b"[1,2]\n[3]\n", Framing.LINES),
        (b"", Framing.LINES),
        (b'[{"a":1},\n{"a":2}]', Framing.ARRAY),
        (b' [\n{"a":1}]', Framing.ARRAY),
        (b'{"a":1}{"a":2}', Framing.CONCATENATED),
        (b'{"a":1} {"a":2}\n{"a":3}', Framing.CONCATENATED),
        (b'{\n "a": 1\n}\n', Framing.CONCATENATED),
    ],
)
def test_the_framing_is_told_from_the_first_bytes(text: bytes, framing: Framing) -> None:
    assert sniff(text) is framing


def test_a_broken_line_leaves_its_neighbours_whole() -> None:
    assert cut(b'{"a":1}\n{"a":\n{"a":"x\n{"a":4}') == [b'{"a":1}', b'{"a":', b'{"a":"x', b'{"a":4}']


def test_a_value_that_was_never_closed_leaves_the_next_one_whole() -> None:
    text = b'{"a":1}{"a":{"b":1}\n{"a":2}\n{"a":"open\n{"a":3}'
    assert cut(text) == [b'{"a":1}', b'{"a":{"b":1}', b'{"a":2}', b'{"a":"open', b'{"a":3}']


def test_an_array_inside_a_record_may_begin_a_line() -> None:
    text = b'{"a":\n[\n{"b":1},\n{"b":2}\n]\n}{"a":2}'
    assert cut(text) == [text[:-7], b'{"a":2}']


@pytest.mark.parametrize("framing", list(Framing))
@pytest.mark.parametrize("filling", [b"x", b'\\"', b"[", b'","'])
def test_a_record_that_is_too_large_is_measured_and_not_kept(framing: Framing, filling: bytes) -> None:
    large = b'{"a":"' + filling * (3_000_000 // len(filling)) + (b'","b":"' if filling == b"[" else b"") + b'"}'
    text = large + b'\n{"a":2}\n'
    found = list(split(pieces(text, 4096), framing, limit_bytes=100_000))
    assert found[0] == DelimitedRecord(0, large[:HEAD_BYTES], len(large))
    assert not found[0].is_whole
    assert found[-1] == DelimitedRecord(len(large) + 1, b'{"a":2}', 7)


def test_memory_stays_near_the_limit_when_a_line_is_far_larger() -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"a":"'
        for _ in range(500):
            yield b"x" * 100_000
        yield b'"}\n{"a":2}\n'

    tracemalloc.start()
    found = list(split(endless(), Framing.LINES, limit_bytes=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [framed.size_bytes for framed in found] == [50_000_008, 7]
    assert peak < 5_000_000
