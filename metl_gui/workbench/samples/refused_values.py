"""Which cells map values that typed columns refuse, by the samples at hand.

The verdict on two types says what may be refused; samples say what is, also where the type of a source is not known
and where a bound is that of a column. Masked values are looked at by nobody. What was found of a block is kept while
its elements, the trees and the samples stay.
Source: docs/reference/typed-columns.md, "Verdicts".
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, TaskRunner, Watch, run_inline
from metl_gui.core.trees.paths import split
from metl_gui.engine.kernel.plan import ColumnPlan, SourceType
from metl_gui.engine.mapping.plan_compiler import plan_of_block
from metl_gui.values import Value
from metl_gui.workbench.samples.project_samples import ProjectSamples, Sample, raw_values

_SCHEMAS, _SAMPLES, _VALUES = 500, 50, 50_000
"""So many schemas, samples of a version and values in all are looked at, at most."""

_LONGEST_VALUE = 10_000
_KINDS = {b'"': "texts", b"{": "objects", b"[": "arrays", b"t": "truth values", b"f": "truth values"}


class RefusedValues(Value):
    """What typed columns refuse of the sampled values of one cell.

    Args:
        refused, looked_at: how many values.
        kinds: what the refused ones are, the most frequent first: texts, numbers, objects, arrays, truth values.
        wants: what the column takes, in words.
    """

    refused: int
    looked_at: int
    kinds: tuple[str, ...]
    wants: str

    def __str__(self) -> str:
        kinds = " and ".join(self.kinds)
        return f"typed columns refuse {self.refused:,} of {self.looked_at:,} sampled values: {kinds}, not {self.wants}"


RefusedCells = Mapping[tuple[BlockKey, Element], RefusedValues]

NOTHING_REFUSED: RefusedCells = MappingProxyType({})


class _ColumnQuestion(Value):
    """What is asked of one cell: values of a schema and version, and what stores them."""

    key: BlockKey
    element: Element
    column: ColumnPlan
    sources: tuple[SourceType, ...]
    by: tuple[str, str]
    values: tuple[bytes, ...]


class RefusedValueIndex:
    """Looks for refused values, and knows what it found before. Calls may come from any thread.

    Args:
        samples: of the project.
    """

    def __init__(self, samples: ProjectSamples) -> None:
        self._samples = samples
        self._lock = threading.Lock()
        self._known: dict[BlockKey, tuple[object, dict[Element, RefusedValues]]] = {}

    def forget(self) -> None:
        """Look at everything again when it is asked for next."""
        with self._lock:
            self._known.clear()

    def cells(
        self, document: Document, newest: Document, watch: Watch = UNWATCHED, aside: TaskRunner = run_inline
    ) -> RefusedCells:
        """Return the cells some of whose sampled values are refused.

        Args:
            document: the state whose cells are looked at.
            newest: the state whose masks hold.
            watch: progress and cancel.
            aside: reads values, in a worker process where columns are not to be loaded here.

        Cost: bounded by the numbers above; what is known of unchanged blocks costs a look.
        """
        found: dict[tuple[BlockKey, Element], RefusedValues] = {}
        marks: dict[BlockKey, object] = {}
        questions: list[_ColumnQuestion] = []
        left = _VALUES
        for version_id, samples in self._samples_by_version(document, watch):
            for block in document.matrix.column_set(version_id) if left > 0 else ():
                mark = self._mark(document, newest, block, samples)
                with self._lock:
                    known = self._known.get(block.key)
                if known is not None and known[0] == mark:
                    found.update({(block.key, element): each for element, each in known[1].items()})
                    continue
                marks[block.key] = mark
                asked = self._questions(document, newest, block, samples)
                questions += asked
                left -= sum(len(each.values) for each in asked)
        answers = aside(partial(_answers, questions), UNWATCHED) if questions else {}
        by_block: dict[BlockKey, dict[Element, RefusedValues]] = {key: {} for key in marks}
        for (key, element), each in answers.items():
            by_block[key][element] = each
        with self._lock:
            self._known.update({key: (marks[key], of_block) for key, of_block in by_block.items()})
        return found | answers

    def _samples_by_version(self, document: Document, watch: Watch) -> Iterator[tuple[int, tuple[Sample, ...]]]:
        schemas = sorted(id_ for id_ in self._samples.schemas if document.extraction.find_schema(id_) is not None)
        for number, schema_id in enumerate(schemas[:_SCHEMAS]):
            watch.step("Looking at samples", number, len(schemas))
            of_version: dict[int, list[Sample]] = {}
            for sample in self._samples.of(document, schema_id):
                if sample.version is not None and sample.row is not None and sample.op != "d":
                    of_version.setdefault(sample.version, []).append(sample)
            for version_id, samples in of_version.items():
                yield version_id, tuple(samples[:_SAMPLES])

    def _hidden(self, document: Document, newest: Document, block: Block) -> tuple[frozenset[int], frozenset[int]]:
        """Return the ids of attributes whose values are for nobody's eyes, of both ends."""
        version = document.extraction.version(block.version)
        hidden = self._samples.hidden_lineages(document, newest, version.schema_id)
        own = (attribute.id for attribute in version.attributes if attribute.lineage in hidden)
        return frozenset(own), self._samples.hidden_targets(document, newest, block.entity_version)

    def _mark(self, document: Document, newest: Document, block: Block, samples: tuple[Sample, ...]) -> object:
        """Return all that the answer for a block depends on."""
        version = document.extraction.version(block.version)
        ends = version, document.cdm.version(block.entity_version), document.extraction.schema(version.schema_id)
        return block.elements, ends, self._hidden(document, newest, block), samples

    def _questions(
        self, document: Document, newest: Document, block: Block, samples: tuple[Sample, ...]
    ) -> list[_ColumnQuestion]:
        version, target = document.extraction.version(block.version), document.cdm.version(block.entity_version)
        schema = document.extraction.schema(version.schema_id)
        hidden, hidden_targets = self._hidden(document, newest, block)
        plan = plan_of_block(document, block)
        columns = {each.path: each for each in plan.columns}
        by, placeholder = (schema.name, version.label), schema.setting("placeholder")
        asked = []
        for element in block.elements:
            source, wanted = version.attribute(element.p), target.attribute(element.q)
            if source is None or wanted is None or source.id in hidden or wanted.id in hidden_targets:
                continue
            values = tuple(raw_values(samples, split(source.path), placeholder, _LONGEST_VALUE))
            if values:
                asked.append(_ColumnQuestion(block.key, element, columns[wanted.path], plan.sources, by, values))
        return asked


def _answers(questions: list[_ColumnQuestion], _watch: Watch) -> dict[tuple[BlockKey, Element], RefusedValues]:
    """Read values as their columns do, and return what is not taken."""
    from metl_gui.engine.sinks.columns import column  # loads pyarrow, which a window has not
    from metl_gui.engine.sinks.typed_rows import read_each

    found = {}
    for asked in questions:
        wanted = column(asked.column, asked.sources)
        _, misfits = read_each(wanted.by_source.get(asked.by, wanted.read), list(asked.values))
        if misfits:
            kinds = Counter(_KINDS.get(misfit.value[:1], "numbers") for misfit in misfits)
            named = tuple(kind for kind, _ in kinds.most_common())
            found[asked.key, asked.element] = RefusedValues(len(misfits), len(asked.values), named, wanted.wants)
    return found
