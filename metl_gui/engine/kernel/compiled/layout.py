"""Where everything lies that the compiled kernel and Python share: numbers of places in plain memory.

The *state* is one array of numbers: addresses of tables, what is being mapped, and what the compiled kernel lacked when
it stopped. Python fills it (``tables``, ``driver``), machine code reads it (``object_scan``, ``message_scan``,
``program_selection``, ``message_writer``).

Units: places are bytes from the beginning of what they lie in; every number has 8 bytes.
"""

from __future__ import annotations

from itertools import count
from typing import Final

WORD = 8
PADDING = 64
"""Bytes behind every buffer that may be read, and behind every room for output that may be written."""

MOST_DEPTH = 64
MOST_MEMBERS = 2048
"""Objects with more members are left to the reference."""

MOST_NESTED = 24
"""Objects within one row that are looked into."""

_places = count(0, WORD)

# What is being mapped.
S_BASE, S_STARTS, S_STOPS, S_OFFSETS, S_NEXT, S_LAST, S_RECORD = (next(_places) for _ in range(7))
S_FILE, S_FILE_LENGTH = (next(_places) for _ in range(2))
# The same of messages of Kafka, whose values are what is mapped: where keys begin (0 when these are no messages) and
# end, times, a table of places and which of them each message has, which messages are left to the reference.
S_KEY_STARTS, S_KEY_STOPS, S_TIMES, S_PLACES, S_PLACE_OF, S_IS_LEFT = (next(_places) for _ in range(6))
# Where it goes to.
S_TEXT, S_TEXT_USED, S_TEXT_ROOM, S_MESSAGES, S_MESSAGE_ROOM = (next(_places) for _ in range(5))
S_OUT_STARTS, S_OUT_STOPS, S_OUT_ENTITIES, S_OUT_RECORDS, S_OUT_LAYOUTS = (next(_places) for _ in range(5))
S_LENGTHS, S_VALUES, S_VALUE_ROOM, S_FATES, S_COUNTERS = (next(_places) for _ in range(5))
# Scratch room for text without its escapes and for positions; the members of the record at hand.
S_SCRATCH_START, S_SCRATCH, S_SCRATCH_STOP, S_HEADS, S_SLOTS = (next(_places) for _ in range(5))
# What was learned.
S_BLOB, S_SHAPES, S_SHAPE_MASK, S_SHAPE_FACTS, S_SETS, S_SET_MASK = (next(_places) for _ in range(6))
S_TEXTS, S_TEXT_MASK, S_PROGRAMS, S_PROGRAM_MASK, S_CODE = (next(_places) for _ in range(5))
S_HALF_ROOT, S_HALF_NODES, S_HALF_LEAVES, S_PAIRS, S_PAIR_MASK = (next(_places) for _ in range(5))
# What the text that a wrapper carries stands for, where it was read with the wrapper.
S_CARRIED, S_CARRIED_STOP = (next(_places) for _ in range(2))
# What the record at hand is.
S_BODY, S_TOPIC, S_HALF, S_WRAPPER, S_OP = (next(_places) for _ in range(5))
# What messages of the record at hand have in common, once it was written, and where the lengths of its values are.
S_SHARED, S_SHARED_LENGTH, S_SHARED_VALUES = (next(_places) for _ in range(3))
S_KEY_0, S_KEY_1, S_KEY_2, S_KEY_3 = (next(_places) for _ in range(4))
# What was lacking.
S_LACK_A, S_LACK_B, S_LACK_C = (next(_places) for _ in range(3))
STATE_WORDS: Final = next(_places) // WORD

# Why the compiled kernel stopped.
DONE, REFUSED, LACKS_SHAPE, LACKS_TEXT, LACKS_PROGRAM, LACKS_HALF, LACKS_PAIR, LACKS_ROOM = range(8)

# Roles of objects (object_scan).
TOP, BODY, INNER, DATA, DATA_BODY, SOURCE, BEFORE, AFTER, TRANSACTION = range(9)
KEY, KEY_BODY, REGISTERS, FIRST_NESTED = range(9, 13)
ROLES = FIRST_NESTED + MOST_NESTED

# The head of a role: members, hash of their names, role around it, last slot, schema half, shape where it is told;
# the shape that is guessed; the name that is guessed next as a place in the blob, 0 when a guess was wrong.
HEAD_COUNT, HEAD_HASH, HEAD_PARENT, HEAD_END, HEAD_HALF, HEAD_SHAPE, HEAD_GUESS, HEAD_NAME = range(0, 8 * WORD, WORD)
HEAD_BYTES = 8 * WORD

# A slot: one member of an object, with the hash of the names up to it.
SLOT_NAME, SLOT_NAME_LENGTH, SLOT_WORD, SLOT_VALUE, SLOT_LENGTH, SLOT_HASH = range(0, 6 * WORD, WORD)
SLOT_BYTES = 6 * WORD
ROLE_BYTES = MOST_MEMBERS * SLOT_BYTES

# Slots that no name has: the position of the record, its time, one that is never null and writes nothing, the time of
# the commit of a CloudEvent without its quotes.
POSITION = REGISTERS * ROLE_BYTES
TIME, NOTHING, COMMITTED = (POSITION + SLOT_BYTES * number for number in range(1, 4))

# Facts of a shape: where in an object members of these names stand, -1 where they do not; then flags, its names as they
# are guessed, its names as they are compared, how many; its names by hash, 0 where another shape has the same ones in
# another order; the order in which they last came otherwise, and how often in a row.
FACTS = (
    "topic", "value", "message", "key", "partition", "offset", "timestamp", "part", "schema", "payload", "op",
    "before", "after", "source", "transaction", "ts_ms", "__op", "__deleted", "status", "name", "db", "table",
    "collection", "headers", "snapshot", "__source_snapshot", "__snapshot",
    "data", "iodebeziumop", "iodebeziumtsms", "iodebeziumsnapshot",
    "iodebeziumname", "iodebeziumschema", "iodebeziumdb", "iodebeziumtable", "iodebeziumcollection",
)  # fmt: skip
(
    F_TOPIC, F_VALUE, F_MESSAGE, F_KEY, F_PARTITION, F_OFFSET, F_TIMESTAMP, F_PART, F_SCHEMA, F_PAYLOAD, F_OP,
    F_BEFORE, F_AFTER, F_SOURCE, F_TRANSACTION, F_TS_MS, F_ROW_OP, F_DELETED, F_STATUS, F_NAME, F_DB, F_TABLE,
    F_COLLECTION, F_HEADERS, F_SNAPSHOT, F_ROW_SOURCE_SNAPSHOT, F_ROW_SNAPSHOT,
    F_DATA, F_EVENT_OP, F_EVENT_TS_MS, F_EVENT_SNAPSHOT,
    F_EVENT_NAME, F_EVENT_SCHEMA, F_EVENT_DB, F_EVENT_TABLE, F_EVENT_COLLECTION,
) = range(0, WORD * len(FACTS), WORD)  # fmt: skip
FACT_FLAGS = WORD * len(FACTS)
FACT_GUESSES, FACT_NAMES, FACT_COUNT, FACT_INDEX, FACT_ORDER, FACT_STREAK = (
    FACT_FLAGS + WORD * number for number in range(1, 7)
)
FACT_BYTES = FACT_FLAGS + 7 * WORD

STEADY = 16
"""An order of names that comes so often in a row is a shape of its own from then on."""

IS_BROKEN, IS_REFUSED, IS_WRAPPER, IS_WITH_SCHEMA, IS_ENVELOPE, IS_TRANSACTION, IS_EVENT = (1 << n for n in range(7))

# The outermost object of a message, in the order of its members; its shape is known before any message comes.
MESSAGE_NAMES = b"topic", b"partition", b"offset", b"timestamp", b"key", b"headers", b"value"
M_TOPIC, M_PARTITION, M_OFFSET, M_TIMESTAMP, M_KEY, M_HEADERS, M_VALUE = range(0, 7 * SLOT_BYTES, SLOT_BYTES)
MESSAGE_SHAPE = 1

# A place of messages: topic and partition as JSON.
PLACE_TOPIC, PLACE_TOPIC_LENGTH, PLACE_PARTITION, PLACE_PARTITION_LENGTH = range(0, 4 * WORD, WORD)
PLACE_BYTES = 4 * WORD

HEADER_MARKS = b"_schema_", b"apicurio", b'.oldkey"'
"""What headers have in them that may name what a value or key is written with, or the key before it changed."""

NULL_PLACE = WORD
"""Where the word null lies in the blob."""

# A name that is guessed, in one word: size and place of how it is spelled, with its quotes and colon. 0 ends them.
GUESS_SHIFT = 16
MOST_GUESSED = (1 << GUESS_SHIFT) - 1

# A name of a shape that is compared, with the hash of the names up to it.
NAME_WORD, NAME_LENGTH, NAME_PLACE, NAME_HASH = range(0, 4 * WORD, WORD)
NAME_BYTES = 4 * WORD

# The names of a shape by hash: a mask, then a table of hashes whose last bits are 1 more than the number of the name.
INDEX_MASK = (1 << 16) - 1

# Entries of the tables that are searched by hash; the number is 0 in a free one.
SHAPE_HASH, SHAPE_NUMBER = 0, WORD
SHAPE_BYTES = 2 * WORD
TEXT_HASH, TEXT_NUMBER, TEXT_PLACE, TEXT_LENGTH, TEXT_KIND, TEXT_QUOTED, TEXT_QUOTED_LENGTH = range(0, 7 * WORD, WORD)
TEXT_BYTES = 8 * WORD
PROGRAM_KEY, PROGRAM_PLACE = 0, 4 * WORD
PROGRAM_BYTES = 5 * WORD
PAIR_FIRST, PAIR_SECOND, PAIR_NUMBER = range(0, 3 * WORD, WORD)
PAIR_BYTES = 3 * WORD

# Kinds of remembered text.
TOPIC, PLACE, FIELD = range(1, 4)

# The tree that leads to known schemas: a byte, where to go when it is there and when it is not; and its leaves.
HALF_NODE, HALF_LEAF = 4 * WORD, 2 * WORD

# What a program does.
SEND, SKIP, REFUSE, ASK_KEY, ASK_CHANGE, ASK_NESTED, ASK_FIELD = range(1, 8)

# How the last part of the key of a program is made of answers.
KEY_SHIFT, CHANGE_SHIFT, NESTED_SHIFT, FIELD_SHIFT = 0, 20, 22, 42
FROM_KEY = 1 << 40
"""Beside what is lacking: it belongs to the message key."""

IN_PAYLOAD = 1 << 19
"""In the answer about the message key: its columns stand in the payload beside a schema, in another role."""

UNAVAILABLE = 1 << 40
"""The first of the numbers that stand for values of the payload of a program which are unavailable, in the order of its
outputs. They are answered like objects within the row, behind which they stand in the key."""

NUMBER_MASK = (1 << 20) - 1
KEY_NONE = 1
"""The answer when there is no message key that names columns; the shape of one is 1 more than its number."""
CHANGED, UNCHANGED = 1, 2

# Codes of operations, and of what else tells kinds of records apart.
OPS = ("", "c", "r", "u", "d", "m", "BEGIN", "END")
OP_C, OP_R, OP_U, OP_D, OP_M, OP_BEGIN, OP_END = range(1, 8)
OP_NULL, OP_TOMBSTONE, OP_IS_KEY, OP_T = 8, 9, 10, 11
DELETED_TRUE, DELETED_FALSE, DELETED_NULL = 16, 32, 48

FATE_MAPPED, FATE_FILTERED, FATE_SKIPPED = 0, 1, 3

# Values that tell whether a snapshot read the row, by their codes; 0 is for where none stands.
SHORT_SNAPSHOTS = b'"false"', b"false", b'"true"', b"true", b"null", b'"last"', b'"first"'
LONG_SNAPSHOTS = b'"incremental"', b'"last_in_data_collection"', b'"first_in_data_collection"'
"""Longer than a word, and no longer than four."""

SNAPSHOT_SHIFT = 56
"""Their codes stand in the key of a program behind the operation."""

MOST_TIME_DIGITS = 16
"""A time of commit with more is left to the reference, as anything else that is neither digits nor null."""

# A program that sends: counter of its version, the forms of unavailable values, where its time may stand, where the
# time of the commit stands (below 0 for nowhere), its outputs.
P_VERSION, P_FORMS, P_OUTPUT_COUNT, P_TIMES = (WORD * number for number in range(1, 5))
P_COMMITTED = P_TIMES + 3 * WORD
P_OUTPUTS = P_COMMITTED + WORD

MOST_FORM_LENGTH = 63
"""The lengths of unavailable values are bits of a word; all from this one on share the last."""

# An output: 0 when it is not sent, otherwise 1 more than its nulls; its fixed size, whether it is left when all values
# are null, whether the record is left when the key is null, entity, layout, counters of unreviewed messages and of
# all, how many pieces stand before its payload, whether they are those of the first output, its first piece of text;
# then slots, each with the text behind it.
(
    O_IS_SENT, O_FIXED, O_IS_IMAGE, O_WANTS_KEY, O_ENTITY, O_LAYOUT, O_UNREVIEWED, O_SENT, O_BEFORE, O_IS_ALIKE,
    O_HEAD, O_HEAD_LENGTH, O_PIECE_COUNT, O_PIECES,
) = range(0, 14 * WORD, WORD)  # fmt: skip
PIECE_SLOT, PIECE_COUNTER, PIECE_TEXT, PIECE_LENGTH = range(0, 4 * WORD, WORD)
PIECE_BYTES = 4 * WORD
IN_KEY, ELSEWHERE = -1, -2
"""Instead of a counter: the slot stands in the key, or anywhere else outside of the payload."""
