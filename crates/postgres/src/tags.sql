-- Version 2: see FORMAT.md.
-- All at once, so that who writes is not in the middle of it.
LOCK TABLE entity, counter, snapshot, note IN ACCESS EXCLUSIVE MODE;

-- A program of version 1 that still runs writes nothing from here on: it would leave tags behind, and change notes without their sums.
ALTER TABLE counter RENAME COLUMN position TO last;

CREATE TABLE tag (
    tag BYTEA NOT NULL,
    position BIGINT NOT NULL,
    entity BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    kind INTEGER NOT NULL,
    PRIMARY KEY (tag, position, entity, seq)
);
CREATE INDEX tag_by_event ON tag (entity, seq);

-- In rows that are there already, sums are null.
ALTER TABLE snapshot ADD COLUMN sum BIGINT;
ALTER TABLE note ADD COLUMN sum BIGINT;
