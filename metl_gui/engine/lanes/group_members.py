"""Who is at work in the consumer group of a lane: one run at a time, as an offset holds the counts of one run only."""

from __future__ import annotations

import time

from metl_gui.engine.kafka.clients import ANSWER_SECONDS, Said, admin, in_words
from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.engine.lanes.lane_order import SESSION_MS
from metl_gui.errors import RunError

_LET_GO_SECONDS = SESSION_MS / 1000 + 3.0
"""Members that have ended stay in the group until their session is over."""

_LOOK_SECONDS = 0.5


def refuse_others(servers: KafkaServers, group: str, run_id: str) -> None:
    """Wait until nobody but a run is in a group; not for longer than those that have ended stay in it.

    Args:
        servers: where the group is.
        group: its name.
        run_id: the run whose own tasks may be there.

    Raises:
        RunError: somebody else stays in it, or the servers do not answer.
    """
    end = time.monotonic() + _LET_GO_SECONDS
    while others := _others(servers, group, run_id):
        if time.monotonic() > end:
            raise RunError(
                f"Somebody else is at work in the consumer group {group}.",
                f"Among its members is {others[0]}. Two would share the partitions, and neither report would hold what "
                "both counted.",
                "Stop the other one first, or name another --group.",
            )
        time.sleep(_LOOK_SECONDS)


def _others(servers: KafkaServers, group: str, run_id: str) -> list[str]:
    """Return the names of members that are no tasks of a run."""
    said = Said()
    with in_words(servers, said, f"group {group}"):
        # Nobody answers any more once the client is gone.
        client = admin(servers, said)
        members = client.describe_consumer_groups([group], request_timeout=ANSWER_SECONDS)[group].result().members
    names = [one.group_instance_id or one.client_id for one in members]
    return sorted(name for name in names if name.rpartition("-")[0] != run_id)
