"""A warehouse model as plain values and as JSON: what files keep and hashes are taken of.

Members at their defaults are left out, by equality and not by identity, so that equal models have equal texts.
"""

from __future__ import annotations

from typing import Any

import msgspec

from metl_gui.core.dimensional.model import Model

_decoder = msgspec.json.Decoder(Model)


def plain(value: Any) -> Any:
    """Return a model or a part of one as dictionaries, lists, texts and numbers, members in their order."""
    if isinstance(value, msgspec.Struct):
        return _tag(value) | {
            each.encode_name: plain(getattr(value, each.name))
            for each in msgspec.structs.fields(value)
            if each.required or getattr(value, each.name) != each.default
        }
    return [plain(each) for each in value] if isinstance(value, tuple) else value


def model_json(model: Model) -> str:
    """Write a model as JSON; equal models have equal texts."""
    return msgspec.json.encode(plain(model)).decode()


def read_model_json(text: str) -> Model:
    """Read a model back.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return _decoder.decode(text)


def _tag(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    return {} if config.tag_field is None else {config.tag_field: config.tag}
