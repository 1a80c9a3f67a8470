"""What the schema files of OpenLineage ask of an event of a job and its facets, in words of ours.

Source: ``spec/OpenLineage.json`` and ``spec/facets`` of the OpenLineage project: ``JobEvent`` and the facets that the
export writes. What may stand there besides is left open, as it is there.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_ADDRESS: Final[Schema] = {"type": "string", "format": "uri"}
_FLAG: Final[Schema] = {"type": "boolean"}


def _object(*required: str, **properties: Schema) -> Schema:
    return {"type": "object", "required": list(required), "properties": properties}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _each(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


_FACET = _object("_producer", "_schemaURL", _producer=_ADDRESS, _schemaURL=_ADDRESS)


def _facet(*required: str, **properties: Schema) -> Schema:
    return {"allOf": [_FACET, _object(*required, **properties)]}


def _named(**facets: Schema) -> Schema:
    of_facets = {"type": "object", "properties": facets, "additionalProperties": _FACET}
    return _object("namespace", "name", namespace=_TEXT, name=_TEXT, facets=of_facets)


_TRANSFORMATION = _object(
    "type", type=_TEXT | {"enum": ["DIRECT", "INDIRECT"]}, subtype=_TEXT, description=_TEXT, masking=_FLAG
)
_INPUT_FIELD = _object(
    "namespace", "name", "field", namespace=_TEXT, name=_TEXT, field=_TEXT, transformations=_list(_TRANSFORMATION)
)
_DATASET = _named(
    schema=_facet(fields=_list(_object("name", name=_TEXT, type=_TEXT, description=_TEXT))),
    version=_facet("datasetVersion", datasetVersion=_TEXT),
    columnLineage=_facet("fields", fields=_each(_object("inputFields", inputFields=_list(_INPUT_FIELD)))),
)
_JOB = _named(
    jobType=_facet("processingType", "integration", processingType=_TEXT, integration=_TEXT, jobType=_TEXT),
    documentation=_facet("description", description=_TEXT),
)

JOB_EVENT: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        "eventTime",
        "producer",
        "schemaURL",
        "job",
        eventTime={"type": "string", "format": "date-time"},
        producer=_ADDRESS,
        schemaURL=_ADDRESS,
        job=_JOB,
        inputs=_list(_DATASET),
        outputs=_list(_DATASET),
    ),
    "not": {"required": ["run"]},
}
