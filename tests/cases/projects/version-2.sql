PRAGMA application_id=1296389196;
PRAGMA user_version=2;
BEGIN TRANSACTION;
CREATE TABLE attributes (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    version_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id INTEGER NOT NULL,
    path TEXT NOT NULL,
    type TEXT NOT NULL,
    lineage INTEGER NOT NULL,
    logical TEXT NOT NULL,
    scale INTEGER,
    optional INTEGER NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (side, version_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "attributes" VALUES('cdm',1,0,1,'key','int64',1,'',NULL,1,'');
INSERT INTO "attributes" VALUES('cdm',1,1,2,'value','string',2,'',NULL,1,'');
INSERT INTO "attributes" VALUES('cdm',1,2,3,'old','string',3,'',NULL,1,'');
INSERT INTO "attributes" VALUES('extraction',1,0,1,'id','int64',1,'',NULL,1,'');
INSERT INTO "attributes" VALUES('extraction',1,1,2,'amount','string',2,'',NULL,1,'');
INSERT INTO "attributes" VALUES('extraction',1,2,3,'legacy','string',3,'',NULL,1,'');
CREATE TABLE blocks (
    version INTEGER NOT NULL,
    entity_version INTEGER NOT NULL,
    status TEXT NOT NULL,
    verdict TEXT NOT NULL,
    came_version INTEGER,
    came_entity_version INTEGER,
    losses TEXT, -- JSON
    waits TEXT, -- JSON
    retired TEXT, -- JSON
    postponed INTEGER NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    comment TEXT NOT NULL,
    PRIMARY KEY (version, entity_version)
) STRICT, WITHOUT ROWID;
INSERT INTO "blocks" VALUES(1,1,'confirmed','first',NULL,NULL,NULL,NULL,NULL,0,'tester',1002,'');
CREATE TABLE dusb (
    schema_id INTEGER NOT NULL,
    entity_version INTEGER NOT NULL,
    version INTEGER NOT NULL,
    elements BLOB NOT NULL, -- pairs q, p of little-endian 32-bit integers
    PRIMARY KEY (schema_id, entity_version, version)
) STRICT, WITHOUT ROWID;
INSERT INTO "dusb" VALUES(1,1,1,X'010000000100000002000000020000000300000003000000');
CREATE TABLE edits (
    state INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    door TEXT NOT NULL,
    undo_group INTEGER NOT NULL, -- the first state of one gesture or command
    undoes INTEGER, -- the undo group that this one takes back
    depth INTEGER NOT NULL, -- 0 an edit, odd an undo, even a redo
    original INTEGER NOT NULL, -- the undo group of the edit at the start of undoes
    change TEXT NOT NULL -- JSON of core.draft.Change
) STRICT;
INSERT INTO "edits" VALUES(1,'Add fx.payments version 1','tester',1000,'window',1,NULL,0,1,'{"schemas":[{"side":"extraction","id":1,"before":null,"after":{"id":1,"name":"fx.payments","version_ids":[1],"aliases":[],"settings":[],"succeeds":[]}}],"versions":[{"side":"extraction","id":1,"before":null,"after":{"id":1,"schema_id":1,"labels":["1"],"attributes":[{"id":1,"path":"id","type":"int64","lineage":1,"logical":"","scale":null,"optional":true,"doc":""},{"id":2,"path":"amount","type":"string","lineage":2,"logical":"","scale":null,"optional":true,"doc":""},{"id":3,"path":"legacy","type":"string","lineage":3,"logical":"","scale":null,"optional":true,"doc":""}],"fingerprint":"c230945e84d6a00cbcb924bf32cc8605","key":null,"inferred":false,"source":""}}],"blocks":[]}');
INSERT INTO "edits" VALUES(2,'Add payment version 1','tester',1001,'window',2,NULL,0,2,'{"schemas":[{"side":"cdm","id":1,"before":null,"after":{"id":1,"name":"payment","version_ids":[1],"aliases":[],"settings":[],"succeeds":[]}}],"versions":[{"side":"cdm","id":1,"before":null,"after":{"id":1,"schema_id":1,"labels":["1"],"attributes":[{"id":1,"path":"key","type":"int64","lineage":1,"logical":"","scale":null,"optional":true,"doc":""},{"id":2,"path":"value","type":"string","lineage":2,"logical":"","scale":null,"optional":true,"doc":""},{"id":3,"path":"old","type":"string","lineage":3,"logical":"","scale":null,"optional":true,"doc":""}],"fingerprint":"2f2a40651b0d7464683939b85beadeb9","key":null,"inferred":false,"source":""}}],"blocks":[]}');
INSERT INTO "edits" VALUES(3,'Map 3 elements of fx.payments 1 → payment 1','tester',1002,'window',3,NULL,0,3,'{"schemas":[],"versions":[],"blocks":[{"key":[1,1],"before":null,"after":{"version":1,"entity_version":1,"elements":[[1,1],[2,2],[3,3]],"status":"confirmed","verdict":"first","came_from":null,"losses":[],"waits":[],"retired":[],"postponed":false,"who":"tester","when_ms":1002,"comment":""}}]}');
INSERT INTO "edits" VALUES(4,'Add fx.payments version 2','tester',1003,'window',4,NULL,0,4,'{"schemas":[{"side":"extraction","id":1,"before":{"id":1,"name":"fx.payments","version_ids":[1],"aliases":[],"settings":[],"succeeds":[]},"after":{"id":1,"name":"fx.payments","version_ids":[1,2],"aliases":[],"settings":[],"succeeds":[]}}],"versions":[{"side":"extraction","id":2,"before":null,"after":{"id":2,"schema_id":1,"labels":["2"],"attributes":[{"id":4,"path":"id","type":"int64","lineage":1,"logical":"","scale":null,"optional":true,"doc":""},{"id":5,"path":"amount","type":"string","lineage":2,"logical":"","scale":null,"optional":true,"doc":""},{"id":6,"path":"note","type":"string","lineage":4,"logical":"","scale":null,"optional":true,"doc":""}],"fingerprint":"f2222bfd04cd89726533ed0e5daf2158","key":null,"inferred":false,"source":""}}],"blocks":[{"key":[2,1],"before":null,"after":{"version":2,"entity_version":1,"elements":[[1,4],[2,5]],"status":"needs review","verdict":"smaller","came_from":[1,1],"losses":[{"q":3,"p":3,"q_lineage":3,"p_lineage":3,"to_path":"old","from_path":"legacy","reason":"legacy was removed in version 2","since":2,"answer":""}],"waits":[],"retired":[],"postponed":false,"who":"","when_ms":1003,"comment":""}}]}');
INSERT INTO "edits" VALUES(5,'Undo: Add fx.payments version 2','',0,'window',5,4,1,4,'{"schemas":[{"side":"extraction","id":1,"before":{"id":1,"name":"fx.payments","version_ids":[1,2],"aliases":[],"settings":[],"succeeds":[]},"after":{"id":1,"name":"fx.payments","version_ids":[1],"aliases":[],"settings":[],"succeeds":[]}}],"versions":[{"side":"extraction","id":2,"before":{"id":2,"schema_id":1,"labels":["2"],"attributes":[{"id":4,"path":"id","type":"int64","lineage":1,"logical":"","scale":null,"optional":true,"doc":""},{"id":5,"path":"amount","type":"string","lineage":2,"logical":"","scale":null,"optional":true,"doc":""},{"id":6,"path":"note","type":"string","lineage":4,"logical":"","scale":null,"optional":true,"doc":""}],"fingerprint":"f2222bfd04cd89726533ed0e5daf2158","key":null,"inferred":false,"source":""},"after":null}],"blocks":[{"key":[2,1],"before":{"version":2,"entity_version":1,"elements":[[1,4],[2,5]],"status":"needs review","verdict":"smaller","came_from":[1,1],"losses":[{"q":3,"p":3,"q_lineage":3,"p_lineage":3,"to_path":"old","from_path":"legacy","reason":"legacy was removed in version 2","since":2,"answer":""}],"waits":[],"retired":[],"postponed":false,"who":"","when_ms":1003,"comment":""},"after":null}]}');
CREATE TABLE lease (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    token TEXT NOT NULL,
    who TEXT NOT NULL,
    host TEXT NOT NULL,
    machine TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    heartbeat_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE next_ids (
    side TEXT PRIMARY KEY CHECK (side IN ('extraction', 'cdm')),
    schema INTEGER NOT NULL,
    version INTEGER NOT NULL,
    attribute INTEGER NOT NULL,
    lineage INTEGER NOT NULL
) STRICT;
INSERT INTO "next_ids" VALUES('extraction',2,3,7,5);
INSERT INTO "next_ids" VALUES('cdm',2,2,4,4);
CREATE TABLE project (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    state INTEGER NOT NULL
) STRICT;
INSERT INTO "project" VALUES('a3f2c8d4-0000-4000-8000-000000000001',1700000000000,5);
CREATE TABLE refused_proposals (
    schema_id INTEGER NOT NULL,
    lost TEXT NOT NULL,
    candidate TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (schema_id, lost, candidate)
) STRICT;
CREATE TABLE refused_suggestions (
    schema_id INTEGER NOT NULL,
    p_lineage INTEGER NOT NULL,
    entity_id INTEGER NOT NULL,
    q_lineage INTEGER NOT NULL,
    from_path TEXT NOT NULL,
    to_path TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    PRIMARY KEY (schema_id, p_lineage, entity_id, q_lineage)
) STRICT;
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    state INTEGER,
    when_ms INTEGER NOT NULL,
    report TEXT NOT NULL, -- JSON
    events TEXT NOT NULL -- JSON
) STRICT;
CREATE TABLE schemas (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL, -- JSON
    settings TEXT NOT NULL, -- JSON, pairs
    succeeds TEXT NOT NULL, -- JSON, pairs of lineages
    PRIMARY KEY (side, id)
) STRICT;
INSERT INTO "schemas" VALUES('cdm',1,'payment','[]','[]','[]');
INSERT INTO "schemas" VALUES('extraction',1,'fx.payments','[]','[]','[]');
CREATE TABLE states (
    state INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    who TEXT NOT NULL,
    when_ms INTEGER NOT NULL,
    published_who TEXT,
    published_ms INTEGER
) STRICT;
CREATE TABLE versions (
    side TEXT NOT NULL CHECK (side IN ('extraction', 'cdm')),
    id INTEGER NOT NULL,
    schema_id INTEGER NOT NULL,
    place INTEGER NOT NULL, -- oldest first
    labels TEXT NOT NULL, -- JSON
    fingerprint TEXT NOT NULL,
    key TEXT, -- JSON, null when not known
    inferred INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (side, id)
) STRICT;
INSERT INTO "versions" VALUES('extraction',1,1,0,'["1"]','c230945e84d6a00cbcb924bf32cc8605',NULL,0,'');
INSERT INTO "versions" VALUES('cdm',1,1,0,'["1"]','2f2a40651b0d7464683939b85beadeb9',NULL,0,'');
CREATE INDEX edits_by_undo_group ON edits (undo_group);
CREATE INDEX edits_by_undoes ON edits (undoes) WHERE undoes IS NOT NULL;
CREATE VIEW undo_steps AS
SELECT
    edits.state, edits.undo_group, edits.who, edits.when_ms, edits.door, edits.depth, original.title,
    (SELECT count(*) FROM edits AS member WHERE member.undo_group = edits.undo_group) AS states,
    (SELECT count(*) FROM edits AS member WHERE member.undo_group = edits.original) AS original_states,
    EXISTS (SELECT 1 FROM edits AS later WHERE later.undoes = edits.undo_group) AS is_taken_back
FROM edits JOIN edits AS original ON original.state = edits.original;
CREATE INDEX runs_by_time ON runs (when_ms);
COMMIT;
