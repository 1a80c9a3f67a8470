"""What the engine writes down or sends, as far as it outlives the process that wrote it, by the names of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from metl_gui.core.runs import events, run_spec
from metl_gui.core.runs import lanes as lane_values
from metl_gui.core.runs import records as run_records
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.execution import kept_session, submitted_run
from metl_gui.engine.kafka import inspection, topic_messages
from metl_gui.engine.kernel import plan
from metl_gui.engine.lanes import loads, mapper, offset_metadata, order
from metl_gui.engine.lanes.coordination import records
from metl_gui.engine.loading import row_template
from metl_gui.engine.runs import folder_lock, staged_outputs
from metl_gui.engine.sinks import readers
from metl_gui.engine.sources import error_records, error_store, large_records
from metl_gui.engine.staging import canonical_messages
from metl_gui.engine.streaming import batch_records, checkpoint, ledger
from metl_gui.formats import source_positions

EVENTS: Mapping[str, Any] = {
    "the session starts": events.SessionStarting,
    "the session is ready": events.SessionReady,
    "the session failed": events.SessionFailed,
    "a run started": events.RunStarted,
    "a run progressed": events.RunProgressed,
    "a batch is in place": events.BatchCommitted,
    "a load is in a warehouse": events.LoadCommitted,
    "the state changed": events.StateChanged,
    "trouble with the source": events.SourceTroubled,
    "a lane progressed": events.LaneProgressed,
    "trouble with a lane": events.LaneTroubled,
    "members changed": events.MembersChanged,
    "a run finished": events.RunFinished,
    "a run failed": events.RunFailed,
    "a run was stopped": events.RunStopped,
}
"""``events.jsonl`` of run folders, and the runs of a project."""

RUNS: Mapping[str, Any] = {
    "what was asked": run_spec.KeptSpec,
    "the report": RunReport,
    "a record beside its messages": run_records.MappedRecord,
    "a record that is set aside": run_records.SetAsideRecord,
    "a record that waits for a replay": error_records.StoredRecord,
    "the head of a long row of an error store": large_records.RowHead,
    "the mark of a replay": error_store.ReplayMark,
    "a move of an output": staged_outputs.PlannedMove,
    "who holds a place": folder_lock.LockHolder,
    "what a kept session says of itself": kept_session.SessionNote,
}
"""Run folders, error stores and places of outputs."""

PLANS: Mapping[str, Any] = {
    "the plan": plan.Plan,
    "the plan with schemas as they stand": plan._RawPlan,
    "the publication beside an exported plan": submitted_run._Publication,
}
"""``plan.json`` of runs, checkpoints and exports, and the topic by which lanes agree: by the SHA-256 of its bytes."""

STREAMS: Mapping[str, Any] = {
    "what a stream is about": checkpoint.StreamHead,
    "the state that new batches take": checkpoint.PlanInUse,
    "what waits in the source": checkpoint.SourceStatus,
    "what a batch reads": ledger.BatchPlan,
    "what is known of all files": ledger.LedgerSnapshot,
    "what a batch became": batch_records.BatchRecord,
}
"""Checkpoints of streams."""

AGREEMENT: Mapping[str, Any] = {
    "a state is announced": records.Announced,
    "lanes are frozen": records.Frozen,
    "a member lives": records.Heartbeat,
    "a lane took a state up": records.Change,
    "an order to go back": records.SetBackOrder,
    "an order was obeyed": records.Obeyed,
}
"""The topic by which the lanes of a matrix agree."""

LANES: Mapping[str, Any] = {
    "a task cannot go on": order.Failure,
    "a task does not get on": order.Trouble,
    "what a load orders": loads.LoadOrder,
    "what became of a load": lane_values.LoadProgress,
    "the metadata of an offset": offset_metadata.OffsetMetadata,
}
"""The topic of a lane, and the offsets of its group."""

MESSAGES: Mapping[str, Any] = {
    "why a record goes to the error topic": topic_messages._Why,
    "why a version is not known": mapper._ErrorReason,
    "what stands in a topic": inspection._KeyedMessage,
    "a decimal of variable scale": readers._Variable,
    "a value with its schema": row_template._SchemaAndPayload,
    "a message that is staged": canonical_messages.CanonicalMessage,
    "the place of a message in the log of its source": source_positions.LogPosition,
}
"""What the engine reads of messages and of rows of the error store, which the kernel writes letter by letter."""

FILES: Mapping[str, Mapping[str, Any]] = {
    "events": EVENTS,
    "runs": RUNS,
    "plans": PLANS,
    "streams": STREAMS,
    "agreement": AGREEMENT,
    "lanes": LANES,
    "messages": MESSAGES,
}
"""By case file."""

ROWS = [(file, name, kind) for file, kinds in FILES.items() for name, kind in kinds.items()]
EVENT_KINDS = frozenset(get_args(events.EngineEvent))
