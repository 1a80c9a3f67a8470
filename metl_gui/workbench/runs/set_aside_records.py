"""What runs set aside, record by record, wherever it lies: in an error store, or in an error topic."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.workbench.profiles.saved_profiles import kafka_servers
from metl_gui.workbench.samples.run_records import first_set_aside


def set_aside_records(errors: str, count: int, reason: str = "", place: str = "") -> list[SetAsideRecord]:
    """Read some records that were set aside; none of a store that is gone.

    Args:
        errors: the folder of an error store, or the address of an error topic.
        count: how many records.
        reason: only those of this reason; of all when empty.
        place: only the record of this position; all when empty.

    Order: of a store the first, as they were read; of a topic the newest first, of all runs that write into it.

    Raises:
        RunError: the servers of the topic do not answer or refuse, or it is not there.
        OSError: the store cannot be read.
    """
    if is_kafka(errors):
        from metl_gui.engine.tasks.error_topic import newest_of_topic

        return newest_of_topic(kafka_servers(errors), errors, count, reason, place)
    folder = Path(errors)
    return first_set_aside(folder, count, reason, place) if errors and folder.is_dir() else []
