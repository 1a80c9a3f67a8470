"""What Kafka refuses a lane for good, in words; everything else is tried again."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from metl_gui.engine.kafka.clients import Said, explained
from metl_gui.engine.lanes.lane_order import LaneOrder
from metl_gui.errors import RunError

_TOPIC = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.INVALID_RECORD,
        KafkaError.POLICY_VIOLATION,
        KafkaError.INVALID_REQUIRED_ACKS,
        KafkaError.INVALID_TIMESTAMP,
    }
)
_ACCESS = frozenset(
    {
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError._UNSUPPORTED_FEATURE,
        KafkaError._INVALID_ARG,
        KafkaError.INVALID_TRANSACTION_TIMEOUT,
        KafkaError.INVALID_SESSION_TIMEOUT,
        KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    }
)


def explain_refusal(
    order: LaneOrder, error: KafkaException, refused: tuple[KafkaError, str] | None, said: Said | None = None
) -> RunError | None:
    """Say in words what is refused for good; None for what goes by.

    Args:
        order: the lane's.
        error: what was raised; with a topic behind it when it was about a message.
        refused: why a message could not be written, and into which topic, when that is known.
        said: what the client said of its connections.
    """
    if refused is not None and refused[0].code() in _TOPIC:
        return _topic_refused(order, *refused)
    kafka = error.args[0] if error.args else None
    if isinstance(kafka, KafkaError) and kafka.code() in _TOPIC and len(error.args) > 1:
        return _topic_refused(order, kafka, str(error.args[1]))
    if isinstance(kafka, KafkaError) and kafka.code() in _TOPIC | _ACCESS:
        about = f"group and transactional ids {order.group}" if kafka.code() in _ACCESS else ""
        return explained(order.servers, error, said, about)
    return None


def _topic_refused(order: LaneOrder, error: KafkaError, topic: str) -> RunError:
    what = "error topic" if topic == order.errors else "topic"
    code = error.code()
    if code in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}:
        hint = "Make it, with metl run --create-topics or with Kafka's own tools, then go on with the lane."
    elif code == KafkaError.MSG_SIZE_TOO_LARGE:
        hint = f"Raise max.message.bytes of {topic}, then go on with the lane."
    elif code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        hint = f"Have this user allowed to write to {topic}, then go on with the lane."
    else:
        hint = f"Mend the settings of {topic}, then go on with the lane."
    return RunError(
        f"The lane cannot write to its {what} {topic}.",
        f"{order.servers.shown}: {error.str()}. The lane ended; nothing is lost or sent twice, and it goes on where "
        "its last transaction ended.",
        hint,
    )
