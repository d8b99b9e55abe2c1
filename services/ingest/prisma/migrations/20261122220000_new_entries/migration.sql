-- Entries of calls that have not changed since they were accepted. Queries of "call_search" read them too. The table has
-- two indexes instead of twelve, so that the entries of a large upload are there within moments. Autovacuum keeps up with
-- calls that leave it at thousands a second.
CREATE TABLE "call_search_new" (
    "firm" INTEGER NOT NULL,
    "uuid" UUID NOT NULL,
    "start_time" TIMESTAMPTZ(3) NOT NULL,
    "score" SMALLINT NOT NULL,
    "state" INTEGER NOT NULL,
    "origin" INTEGER NOT NULL,
    "segment" INTEGER NOT NULL,
    "operator" INTEGER NOT NULL,
    "team" INTEGER,
    "campaign" INTEGER,
    "batch" INTEGER,
    "day" INTEGER NOT NULL,
    "mark" INTEGER NOT NULL,
    "tags" BIGINT[],
    "language" INTEGER,
    "resolution" INTEGER,
    "scorecard" INTEGER,
    "topics" INTEGER[],
    "open_answers" SMALLINT NOT NULL DEFAULT 0,
    "is_reviewed" BOOLEAN NOT NULL DEFAULT false,
    "auto_failed" BOOLEAN NOT NULL DEFAULT false,
    "duration_ms" INTEGER,
    "operator_talk" INTEGER,
    "silence" INTEGER,
    "interruptions" INTEGER,
    "client_sentiment" INTEGER,
    CONSTRAINT "call_search_new_pkey" PRIMARY KEY ("firm", "uuid")
) INHERITS ("call_search") WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX "call_search_new_by_start" ON "call_search_new" ("firm", "start_time", "uuid");

CREATE TRIGGER "new_entry_added" AFTER INSERT ON "call_search_new" REFERENCING NEW TABLE AS became
FOR EACH STATEMENT EXECUTE FUNCTION "forget_sums_of_new"();

-- A call is in one of the two tables, whichever release writes the entry.
CREATE FUNCTION "replace_new_entries"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
BEGIN
  DELETE FROM call_search_new USING became WHERE call_search_new.firm = became.firm AND call_search_new.uuid = became.uuid;
  RETURN NULL;
END $$;
CREATE TRIGGER "entry_replaces_new" AFTER INSERT ON "call_search" REFERENCING NEW TABLE AS became
FOR EACH STATEMENT EXECUTE FUNCTION "replace_new_entries"();

-- A listing waits for changes that are older than a few seconds.
ALTER TABLE "call_change" ADD COLUMN "at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
