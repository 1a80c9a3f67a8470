"""Records that suit a world: changes in every carrier, and what else a topic can contain."""

from __future__ import annotations

import base64
import json
from random import Random

from metl_gui.core.trees.paths import split
from tests.fuzz.plans import Table, Tree, Version, World
from tests.fuzz.values import ATOMS, BROKEN, GAPS, is_valid, spelled, value, written

_OPS = ('"c"', '"r"', '"u"', '"d"')
_ODD_OPS = ('"t"', '"m"', '"C"', '" u "', '"x"', '"\\u0063"', "null", "1", '""', '"cc"', '["c"]')
_ORIGINS = (
    *(("lsn", "29982584"), ("sequence", '"[null,\\"29982584\\"]"'), ("txId", "781"), ("xmin", "null")),
    *(("file", '"mysql-bin.000003"'), ("pos", "484"), ("row", "0"), ("gtid", "null"), ("scn", '"2134"'), ("ord", "1")),
    *(("server_id", "223344"), ("commit_lsn", '"00000025:00000448:0003"')),
)
_SNAPSHOTS = (
    *('"false"', "false", '"true"', "true", "null", '"last"', '"first"', '"incremental"'),
    *('"first_in_data_collection"', '"last_in_data_collection"'),
)
_ODD_SNAPSHOTS = (
    *(
        '"incrementaX"',
        '"xncremental"',
        '"first_in_data_collectiox"',
        '"last_in_data_collectixn"',
        '"LAST"',
        '"tru\\u0065"',
    ),
    *('["last"]', "{}", "1", '""', '"first_in_xata_collection"', '"falsy"', '"last_in_data_collection "'),
)
_OLD_KEYS = (
    *('{"id":1}', '{"id":"7","x":1.50}', '{"schema":{"type":"struct"},"payload":{"id":2}}', "Struct{id=3}", "[1]", "{"),
    *('{"id":1,"id":2}', "", "null", '{"id":{"a":[1]}}', "\0\0\0\0\1ab"),
)
_OTHERS = (
    '{"ts_ms":1634052484031}',
    '{"ts_ms":1,"ts_us":2,"ts_ns":3}',
    '{"status":"BEGIN","id":"7","ts_ms":1,"event_count":null,"data_collections":null}',
    '{"status":"END","id":"7","event_count":1,"data_collections":[{"data_collection":"a","event_count":1}],"ts_ms":1}',
    '{"id":"5","aggregate_type":"Initial Snapshot","type":"COMPLETED","additional_data":{},"timestamp":"1"}',
    '{"id":"d1","type":"execute-snapshot","data":{"data-collections":["a"]}}',
    '{"source":{},"ts_ms":1,"databaseName":"inventory","schemaName":null,"ddl":"CREATE TABLE t","tableChanges":[]}',
    '{"op":"m","ts_ms":1,"source":{"schema":"","table":""},"message":{"prefix":"foo","content":"YQ=="}}',
    *(
        "null",
        " null ",
        "{}",
        "[]",
        '""',
        "1",
        "true",
        '"text"',
        "[{}]",
        '{"payload":1}',
        '{"a":',
        "\x00\x00\x00\x00\x01ab",
    ),
)


class Writer:
    """Writes records of one world.

    Args:
        dice: where chance comes from.
        world: whose tables the records are of.
    """

    def __init__(self, dice: Random, world: World) -> None:
        self.dice = dice
        self.world = world
        drawn = [value(dice) for _ in range(200)]
        self.values = [text for text in drawn if is_valid(text)]
        self.hostile = [text for text in drawn if not is_valid(text)] + list(BROKEN)

    def record(self) -> bytes:
        """Write one record."""
        dice = self.dice
        table = dice.choice(self.world.tables)
        if dice.random() < 0.05:
            return self._carried(table, dice.choice(_OTHERS), None, is_other=True)
        if not table.versions:
            return self._carried(table, self.envelope(table, None), None)
        version = dice.choice(table.versions)
        how = dice.random()
        if how < 0.55:
            text = self.envelope(table, version)
        elif how < 0.75:
            text = self.flattened(version)
        elif how < 0.9:
            text = self.cloud_event(table, version)
            if dice.random() < 0.4:
                return self._encoded(text)
        else:
            text = self.row(version) if dice.random() < 0.8 else self.envelope(table, None)
        if dice.random() < 0.25:
            text = self.with_schema(table, version, text)
        return self._carried(table, text, version)

    def row(self, version: Version | None) -> str:
        """Write a row, most often with all columns in order."""
        dice = self.dice
        if version is None:
            return written(dice, [(name, dice.choice(self.values)) for name in dice.sample(("id", "a", "new"), 2)])
        is_tidy = dice.random() < 0.8
        return self._object(version.tree, is_tidy)

    def _object(self, tree: Tree, is_tidy: bool) -> str:
        dice = self.dice
        members = []
        for name, below in tree.items():
            chance = 1.0 if is_tidy else dice.random()
            if chance < 0.15:
                continue
            if below is None:
                how = dice.random()
                members.append(
                    (name, dice.choice(self.values if how < 0.5 else ATOMS if how < 0.995 else self.hostile))
                )
            elif chance < 0.25:
                members.append((name, dice.choice(("null", "1", '"x"', "[]", "{}"))))
            else:
                members.append((name, self._object(below, is_tidy)))
        if not is_tidy and dice.random() < 0.15:
            members.insert(dice.randrange(len(members) + 1), (dice.choice(("new", "id", "__op", "__table")), "1"))
        return written(dice, members, is_tidy=is_tidy)

    def envelope(self, table: Table, version: Version | None) -> str:
        """Write an envelope."""
        dice = self.dice
        op = dice.choice(_OPS) if dice.random() < 0.93 else dice.choice(_ODD_OPS)
        after = self.row(version)
        before = "null" if dice.random() < 0.6 else after if dice.random() < 0.5 else self.row(version)
        if op == '"d"':
            before, after = (after if dice.random() < 0.9 else "null"), "null"
        elif op == '"t"' or dice.random() < 0.01:
            before = after = "null"
        members = [
            ("before", before),
            ("after", after),
            ("source", self.source(table)),
            ("op", op),
            ("ts_ms", self._time()),
        ]
        if dice.random() < 0.5:
            members += [("ts_us", "1634052484031000"), ("ts_ns", "1634052484031000000")]
        if dice.random() < 0.5:
            members.append(("transaction", dice.choice(("null", "null", '{"id":"7","total_order":1}', "{}", "[]"))))
        if dice.random() < 0.05:
            members.append((dice.choice(("more", "schema", "op", "payload", "value")), dice.choice(ATOMS)))
        if dice.random() < 0.03:
            members.pop(dice.randrange(len(members)))
        return written(dice, members, is_tidy=dice.random() < 0.85)

    def _time(self) -> str:
        """Write a time, most often as connectors do."""
        if self.dice.random() < 0.8:
            return f"163405248{self.dice.randrange(1000, 10000)}"
        return self.dice.choice(
            ("null", '"12"', '"0012"', "[12]", "1.5", "-1", '"x"', '""', '"1"', "1e3", "{}", "true")
        )

    def _commit(self) -> str:
        """Write a time of a commit, most often as connectors do."""
        if self.dice.random() < 0.8:
            return f"163405248{self.dice.randrange(1000, 10000)}"
        most = "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1" * 16, "1" * 17, "1" * 40
        return self.dice.choice((*most, "null", '"12"', "1.5", "1e3", "-1", "-0", "0", "[12]", "{}", "true", '""'))

    def _event_time(self) -> str:
        """Write a time of a commit as text, as connectors do, or nearly."""
        if self.dice.random() < 0.8:
            return f'"163405248{self.dice.randrange(1000, 10000)}"'
        most = '"0"', '"00"', '"06"', f'"{"1" * 16}"', f'"{"1" * 17}"', '"9223372036854775808"', '"1\\u0031"', '" 1"'
        return self.dice.choice((*most, '"-1"', '"1.5"', '"1x"', '"x1"', "[1]", self._time(), self._commit()))

    def _snapshot(self) -> str:
        """Write what a source says of a snapshot, most often as connectors do."""
        return self.dice.choice(_SNAPSHOTS if self.dice.random() < 0.9 else _ODD_SNAPSHOTS)

    def source(self, table: Table) -> str:
        """Write a source block."""
        dice = self.dice
        if dice.random() < 0.02:
            return dice.choice(("null", "{}", '"web"', "1", "[]"))
        server, place, name = ([*table.plan.name.split("."), "x", "x"])[:3]
        in_place = dice.choice(("schema", "schema", "db"))
        members = [
            ("version", '"3.6.3.Final"'),
            ("name", json.dumps(server, ensure_ascii=False)),
            (in_place, json.dumps(place, ensure_ascii=False)),
            (dice.choice(("table", "table", "collection")), json.dumps(name, ensure_ascii=False)),
        ]
        if in_place == "schema" and dice.random() < 0.4:
            members.append(("db", dice.choice(('"inventory"', "null", json.dumps(place, ensure_ascii=False)))))
        members += dice.sample(_ORIGINS, dice.choice((0, 2, 2, 5, 9)))
        if dice.random() < 0.6:
            members.append(("snapshot", self._snapshot()))
        if dice.random() < 0.6:
            members.append(("ts_ms", self._commit()))
        if dice.random() < 0.03:
            members.append((dice.choice(("name", "lsn", "table")), dice.choice(self.values)))
        return written(dice, members, is_tidy=dice.random() < 0.9)

    def flattened(self, version: Version) -> str:
        """Write a flattened row."""
        dice = self.dice
        text = self.row(version)
        more = [
            (f"__{name}", dice.choice(choices))
            for name, choices in (
                ("op", (*_OPS, *_ODD_OPS)),
                ("deleted", ('"false"', '"false"', '"true"', "true", "null")),
                ("lsn", ("5", "null")),
                ("source_ts_ms", ("6", "null", '"6"', '"06"', "[6]", self._commit())),
                ("source_snapshot", (self._snapshot(),)),
                ("snapshot", (self._snapshot(),)),
                ("source_ord", ("5", "null")),
                ("table", ('"t"',)),
            )
            if dice.random() < 0.5
        ]
        inner = ",".join(f"{spelled(dice, name)}:{text}" for name, text in more)
        return text[:-1] + ("," if inner and text.strip() != "{}" else "") + inner + "}"

    def cloud_event(self, table: Table, version: Version) -> str:
        """Write a CloudEvent."""
        dice = self.dice
        op = dice.choice((*_OPS, *_OPS, *_ODD_OPS))
        after = self.row(version)
        before = dice.choice(("null", after, self.row(version)))
        data = written(dice, [("before", before), ("after", dice.choice((after, after, "null")))])
        if dice.random() < 0.4:
            data = self.with_schema(table, version, data)
        server, place, name = ([*table.plan.name.split("."), "x", "x"])[:3]
        members = [
            *(("id", '"name:srv;lsn:1"'), ("source", '"/debezium/postgresql/srv"'), ("specversion", '"1.0"')),
            *(("type", '"io.debezium.connector.postgresql.DataChangeEvent"'), ("time", '"2026-08-22T10:00:00Z"')),
            *(("datacontenttype", '"application/json"'), ("iodebeziumop", op)),
            *(("iodebeziumname", json.dumps(server)), ("iodebeziumschema", json.dumps(place))),
            *(("iodebeziumtable", json.dumps(name)), ("iodebeziumlsn", '"5"'), ("iodebeziumtsms", self._event_time())),
            *(("iodebeziumtxId", "null"), ("iodebeziumtxid", "null"), ("iodebeziumsequence", '"[null,\\"5\\"]"')),
            ("data", data if dice.random() < 0.95 else dice.choice(('"YQ=="', "null", "1", "{}", '{"after":1}'))),
        ]
        if dice.random() < 0.1:
            members.pop(dice.randrange(len(members)))
        if dice.random() < 0.2:
            members.append((dice.choice(("iodebeziumdb", "iodebeziumcollection", "before", "op")), '"c"'))
        for name, text in (("txtotalorder", '"1"'), ("snapshot", self._snapshot()), ("ord", '"3"')):
            if dice.random() < 0.3:
                members.append((f"iodebezium{name}", text))
        return written(dice, members, is_tidy=dice.random() < 0.9)

    def with_schema(self, table: Table, version: Version, text: str) -> str:
        """Write a value with its Connect schema, now and then with one that nobody knows."""
        dice = self.dice
        half = version.schema_text
        how = dice.random()
        if how < 0.6:
            rows = [f'{{"field":"{name}","optional":true,{half[1:]}' for name in ("before", "after")]
            fields = ",".join([*rows, '{"field":"op","type":"string"}'])
            half = f'{{"type":"struct","fields":[{fields}],"name":"{table.plan.name}.Envelope"}}'
        elif how < 0.65:
            half = half.replace("int", "string", 1)
        elif how < 0.7:
            half = dice.choice(("null", "{}", '{"type":"struct"}', '{"kind":"type"}', '{"type":1}', '"x"', "[]"))
        members = [("schema", half), ("payload", text if dice.random() < 0.97 else dice.choice(("null", "1", "{}")))]
        return written(dice, members, is_tidy=dice.random() < 0.95)

    def key(self, version: Version | None) -> str | None:
        """Write a message key."""
        dice = self.dice
        if version is None or dice.random() < 0.3:
            return dice.choice((None, None, "7", '"text"', "plain text", '{"id":1}', '{"id":', "{}", '{"id":1,"id":2}'))
        paths = version.plan.key or version.plan.paths[:1]
        tops = dict.fromkeys(split(path)[0] for path in paths)
        text = written(dice, [(name, dice.choice(ATOMS)) for name in tops], is_tidy=dice.random() < 0.9)
        return f'{{"schema":{{"type":"struct","fields":[]}},"payload":{text}}}' if dice.random() < 0.3 else text

    def _carried(self, table: Table, text: str, version: Version | None, *, is_other: bool = False) -> bytes:
        """Put a value into a wrapper, or leave it bare."""
        dice = self.dice
        if dice.random() < 0.2:
            return self._encoded(dice.choice(GAPS) + text + dice.choice(GAPS))
        topics = [table.plan.name] * 30 + [
            *table.plan.aliases,
            "unknown",
            "__debezium-heartbeat.srv",
            "srv.transaction",
        ]
        topic = dice.choice(topics[-3:] if is_other and dice.random() < 0.5 else topics)
        members = [("topic", spelled(dice, topic) if dice.random() < 0.97 else dice.choice(("null", "1", '""')))]
        members += [*self._key_members(self.key(version)), *self._value_members(text), *self._facts()]
        return self._encoded(written(dice, members, is_tidy=dice.random() < 0.9))

    def _key_members(self, key: str | None) -> list[tuple[str, str]]:
        dice = self.dice
        if key is None:
            return [("key", "null")] if dice.random() < 0.5 else []
        if dice.random() < 0.1:
            return [("key_b64", self._base64(key))]
        return [("key", self._text(key) if dice.random() < 0.8 else key)]

    def _value_members(self, text: str) -> list[tuple[str, str]]:
        dice = self.dice
        how, name = dice.random(), "value" if dice.random() < 0.9 else "message"
        if how < 0.65:
            return [(name, self._text(text))]
        if how < 0.9:
            return [(name, text)]
        if how < 0.94:
            return [("value_b64", self._base64(text))]
        if how < 0.95:
            frame = "\0\0\0\0" + dice.choice("\5\6\7\x63")
            body = dice.choice((text, "\2\16\2x", "\0\6abc", "\2\16\2x\0", ""))
            return [("value_b64", self._base64(frame + body))]
        return [(name, "null")] if how < 0.98 else []

    def _facts(self) -> list[tuple[str, str]]:
        """Write where a record lies and when it came, as most tools do or nearly."""
        dice = self.dice
        members = []
        if dice.random() < 0.85:
            members.append(("partition", dice.choice(("0", "11"))))
            members.append(("offset", dice.choice(("5", "123456", "123457", "null", '"7"', "1.0"))))
        if dice.random() < 0.7:
            members.append(("timestamp", dice.choice(("1634052484031", "1", "null", '"9"', "1e3", "[1]"))))
        if dice.random() < 0.3:
            ids = ('{"__value_schema_id":5}', '{"apicurio.value.globalId":"6"}', '[["__key_schema_id","\u00b2"]]')
            headers = (*ids, "[]", "{}", '[{"key":"a","value":"b"}]', "null", '{"a":"\\u00e9"}', *ATOMS)
            members.append(("headers", dice.choice(headers) if dice.random() < 0.5 else self._old_key()))
        if dice.random() < 0.03:
            name = dice.choice(("part", "more", "op", "value", "topic"))
            members.append((name, dice.choice(('"key"', '"value"', "1"))))
        return members

    def _old_key(self) -> str:
        """Write headers that name an old key, or seem to."""
        dice = self.dice
        name = dice.choice(("__debezium.oldkey",) * 6 + ("__debezium.newkey", "__debezium.oldke\\u0079", "x.oldkey"))
        old = dice.choice(_OLD_KEYS)
        value = json.dumps(old) if dice.random() < 0.8 or not is_valid(old) else old
        shape = dice.choice(('{"%s":%s}', '[["%s",%s]]', '[{"key":"%s","value":%s}]', '{"a":"b","%s": %s}'))
        return shape % (name, value)

    def _text(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.dice.random() < 0.3)

    def _base64(self, text: str) -> str:
        encoded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
        return f'"{encoded}"' if self.dice.random() < 0.95 else f'"{encoded[:-1]}"'

    def _encoded(self, text: str) -> bytes:
        return text.encode("utf-8", "surrogatepass")
