-- Version 1: see FORMAT.md.
CREATE TABLE version (
    application TEXT NOT NULL,
    version INTEGER NOT NULL
);
INSERT INTO version VALUES ('coact', 1);

CREATE TABLE kind (
    id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name BYTEA NOT NULL
);
-- (A row of an index has 2,704 bytes at most, and a text may be longer: so indexes have digests, and the beginning.)
CREATE UNIQUE INDEX kind_by_name ON kind (sha256(name));

CREATE TABLE entity (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind INTEGER NOT NULL,
    key BYTEA NOT NULL,
    epoch BIGINT NOT NULL,
    last BIGINT NOT NULL,
    hash BIGINT NOT NULL
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX entity_by_key ON entity (kind, substr(key, 1, 512), sha256(key));

CREATE TABLE event (
    entity BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    kind INTEGER NOT NULL,
    name BYTEA NOT NULL,
    version BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    payload BYTEA NOT NULL,
    PRIMARY KEY (entity, seq)
);
CREATE INDEX event_by_position ON event (kind, position);

CREATE TABLE snapshot (
    entity BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    hash BIGINT NOT NULL,
    name BYTEA NOT NULL,
    version BIGINT NOT NULL,
    payload BYTEA NOT NULL,
    PRIMARY KEY (entity, seq)
);

CREATE TABLE note (
    entity BIGINT NOT NULL,
    kind SMALLINT NOT NULL,
    key BYTEA NOT NULL,
    rank BIGINT NOT NULL,
    name BYTEA NOT NULL,
    version BIGINT NOT NULL,
    payload BYTEA NOT NULL
);
CREATE UNIQUE INDEX note_by_key ON note (entity, kind, substr(key, 1, 512), sha256(key));
CREATE INDEX note_by_rank ON note (kind, rank);

CREATE TABLE decision (
    id BYTEA PRIMARY KEY,
    position BIGINT,
    at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE counter (
    single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single),
    position BIGINT NOT NULL
);
INSERT INTO counter (position) VALUES (0);
