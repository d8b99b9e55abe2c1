-- Lists and statistics are read from one narrow row a call, written in the transaction that changes the call. Until now they
-- were read from an index that ran behind.
-- Names are compared without regard to case and to how their accents are encoded, whatever the locale of the database.
CREATE FUNCTION "fold_name"(name TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN normalize(lower(upper(normalize(name, NFC) COLLATE pg_catalog.pg_unicode_fast)), NFC);
-- In tenths; -1 without a score, so that one comparison of rows continues a list that is sorted by it.
CREATE FUNCTION "listed_score"(score DOUBLE PRECISION) RETURNS SMALLINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(round(score * 10), -1)::smallint;
-- In milliseconds.
CREATE FUNCTION "listed_duration"(seconds DOUBLE PRECISION) RETURNS INTEGER LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN seconds IS NOT NULL THEN least(round(seconds * 1000), 2147483647)::integer END;
CREATE FUNCTION "phone_digits"(phone TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(phone, '\D', '', 'g');

CREATE TABLE "listed_call" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "start_time" TIMESTAMPTZ(3) NOT NULL,
    "batch_uuid" UUID,
    "campaign_uuid" UUID,
    "scorecard_uuid" UUID,
    "duration" INTEGER,
    "operator_talk" INTEGER,
    "silence" INTEGER,
    "interruptions" INTEGER,
    "client_sentiment" SMALLINT,
    "score" SMALLINT NOT NULL,
    "needs_review" SMALLINT NOT NULL DEFAULT 0,
    "is_reviewed" BOOLEAN NOT NULL,
    "auto_failed" BOOLEAN NOT NULL DEFAULT false,
    "source" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "outcome" TEXT,
    "direction" TEXT,
    "segment_type" TEXT NOT NULL,
    "operator_name" TEXT NOT NULL,
    "operator_id" TEXT,
    "operator_group_name" TEXT,
    "client_phone" TEXT NOT NULL,
    "language" TEXT,
    "resolution" TEXT,
    "topics" TEXT[],
    "lost_points" UUID[],
    CONSTRAINT "listed_call_pkey" PRIMARY KEY ("firm_uuid", "uuid")
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.03);
CREATE INDEX "listed_call_by_start" ON "listed_call" ("firm_uuid", "start_time", "uuid");
CREATE INDEX "listed_call_by_score" ON "listed_call" ("firm_uuid", "score", "uuid");
CREATE INDEX "listed_call_by_operator" ON "listed_call" ("firm_uuid", "fold_name"("operator_name"), "start_time", "uuid");
CREATE INDEX "listed_call_by_batch" ON "listed_call" ("firm_uuid", "batch_uuid", "uuid") WHERE "batch_uuid" IS NOT NULL;
CREATE INDEX "listed_call_by_campaign" ON "listed_call" ("firm_uuid", "campaign_uuid", "uuid") WHERE "campaign_uuid" IS NOT NULL;
-- Few calls are in these.
CREATE INDEX "listed_call_by_status" ON "listed_call" ("firm_uuid", "status", "uuid") WHERE "status" <> 'completed';
CREATE INDEX "listed_call_auto_failed" ON "listed_call" ("firm_uuid", "uuid") WHERE "auto_failed";
CREATE INDEX "listed_call_reviewed" ON "listed_call" ("firm_uuid", "uuid") WHERE "is_reviewed";
-- A sixteenth of the calls by chance: the last bits of a uuid are random. Counts of many calls are estimated from it.
CREATE INDEX "listed_call_sample" ON "listed_call" ("firm_uuid", (get_byte(uuid_send("uuid"), 15)))
    WHERE get_byte(uuid_send("uuid"), 15) < 16;
-- These do not end with the uuid, so that PostgreSQL stores equal keys once: some ten bytes a call. It reads them as bitmaps.
CREATE INDEX "listed_call_by_segment" ON "listed_call" ("firm_uuid", "segment_type");
CREATE INDEX "listed_call_by_phone" ON "listed_call" ("firm_uuid", "client_phone");
CREATE INDEX "listed_call_by_group" ON "listed_call" ("firm_uuid", "fold_name"("operator_group_name"))
    WHERE "operator_group_name" IS NOT NULL;
CREATE INDEX "listed_call_by_operator_id" ON "listed_call" ("firm_uuid", "operator_id") WHERE "operator_id" IS NOT NULL;
CREATE INDEX "listed_call_by_language" ON "listed_call" ("firm_uuid", "language") WHERE "language" IS NOT NULL;
CREATE INDEX "listed_call_by_resolution" ON "listed_call" ("firm_uuid", "resolution") WHERE "resolution" IS NOT NULL;
CREATE INDEX "listed_call_by_tags" ON "listed_call" USING gin ("topics", "lost_points");

-- The points of each answered question of a call, in thousandths, apart because few statistics read them.
CREATE TABLE "listed_points" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "questions" UUID[] NOT NULL,
    "points" INTEGER[] NOT NULL,
    "max_points" INTEGER[] NOT NULL,
    CONSTRAINT "listed_points_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
-- What scorecards and questions are called now.
CREATE TABLE "scorecard_label" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "text" TEXT NOT NULL,
    CONSTRAINT "scorecard_label_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
INSERT INTO "scorecard_label" ("firm_uuid", "uuid", "text")
SELECT "firm_uuid", "value"::uuid, "label" FROM "facet" WHERE "kind" IN ('scorecard', 'question') AND "label" IS NOT NULL
ON CONFLICT DO NOTHING;

-- Calls whose words are to be indexed. Rows are only added and deleted, so that transactions never wait for the indexer.
CREATE TABLE "queued_words" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "has_new_words" BOOLEAN NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "queued_words_pkey" PRIMARY KEY ("id")
) WITH (autovacuum_vacuum_scale_factor = 0.1);
CREATE INDEX "queued_words_of_firm" ON "queued_words" ("firm_uuid", "uuid");
INSERT INTO "queued_words" ("firm_uuid", "uuid", "has_new_words") SELECT "firm_uuid", "uuid", true FROM "text_change" ORDER BY "uuid";
INSERT INTO "queued_words" ("firm_uuid", "uuid", "has_new_words")
SELECT DISTINCT "firm_uuid", "first", true FROM "call_change" WHERE "first" = "last";
INSERT INTO "queued_words" ("firm_uuid", "uuid", "has_new_words")
SELECT "call"."firm_uuid", "call"."uuid", true FROM "call_change"
  JOIN "call" ON "call"."firm_uuid" = "call_change"."firm_uuid" AND "call"."uuid" BETWEEN "first" AND "last"
WHERE "first" < "last" AND "call"."status" IN ('completed', 'failed', 'canceled');

-- Documents have the number of their firm among their words.
CREATE TABLE "firm_number" (
    "firm_uuid" UUID NOT NULL,
    "number" INTEGER GENERATED BY DEFAULT AS IDENTITY,
    CONSTRAINT "firm_number_pkey" PRIMARY KEY ("firm_uuid")
);
INSERT INTO "firm_number" ("firm_uuid", "number") SELECT "firm_uuid", "id" FROM "facet" WHERE "kind" = 'all' AND "value" = '';
-- Above the numbers that documents of this release or an earlier one have.
SELECT setval(pg_get_serial_sequence('firm_number', 'number'), coalesce(max("id"), 0) + 1) FROM "facet";
ALTER TABLE "call_text" DROP COLUMN "shelf";

-- What calls of a day in UTC add up to. The sums of a day are those of its calls if the day has a row in "statistic_day" and none
-- in "statistic_change". Changes are only added, so that transactions of one firm never wait for each other.
DROP TRIGGER "entry_added" ON "call_search";
DROP TRIGGER "entry_changed" ON "call_search";
DROP TRIGGER "entry_removed" ON "call_search";
DROP TRIGGER "entry_replaces_new" ON "call_search";
DROP TRIGGER "new_entry_added" ON "call_search_new";
DROP FUNCTION "replace_new_entries"();
DROP FUNCTION "forget_sums_of_new"();
DROP FUNCTION "forget_sums_of_former"();
DROP FUNCTION "forget_sums"(INTEGER[], TIMESTAMPTZ[]);
DROP TABLE "statistic_sum";
DROP TABLE "statistic_period";
DROP TABLE "statistic_change";
CREATE TABLE "statistic_sum" (
    "firm_uuid" UUID NOT NULL,
    "period" TEXT NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "amounts" BIGINT[] NOT NULL,
    "scores" BYTEA NOT NULL
);
CREATE INDEX "statistic_sum_of_kind" ON "statistic_sum" ("firm_uuid", "period", "kind", "begins_at");
CREATE TABLE "statistic_day" (
    "firm_uuid" UUID NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "statistic_day_pkey" PRIMARY KEY ("firm_uuid", "begins_at")
);
CREATE TABLE "statistic_change" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "firm_uuid" UUID NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "statistic_change_pkey" PRIMARY KEY ("id")
) WITH (autovacuum_vacuum_scale_factor = 0.1);
CREATE INDEX "statistic_change_of_firm" ON "statistic_change" ("firm_uuid", "begins_at");
INSERT INTO "statistic_change" ("firm_uuid", "begins_at")
SELECT "firm_uuid", "value"::timestamp AT TIME ZONE 'UTC' FROM "facet" WHERE "kind" = 'day'
UNION
SELECT "call"."firm_uuid", date_trunc('day', "call"."start_time", 'UTC') FROM "call_change"
  JOIN "call" ON "call"."firm_uuid" = "call_change"."firm_uuid" AND "call"."uuid" BETWEEN "first" AND "last";

CREATE FUNCTION "note_new_statistics"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO statistic_change (firm_uuid, begins_at) SELECT DISTINCT firm_uuid, date_trunc('day', start_time, 'UTC') FROM became;
  RETURN NULL;
END $$;
CREATE FUNCTION "note_former_statistics"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO statistic_change (firm_uuid, begins_at) SELECT DISTINCT firm_uuid, date_trunc('day', start_time, 'UTC') FROM was;
  RETURN NULL;
END $$;
-- The start of a call never changes, so an update concerns one day.
CREATE TRIGGER "statistics_of_new" AFTER INSERT ON "listed_call" REFERENCING NEW TABLE AS became
FOR EACH STATEMENT EXECUTE FUNCTION "note_new_statistics"();
CREATE TRIGGER "statistics_of_changed" AFTER UPDATE ON "listed_call" REFERENCING NEW TABLE AS became
FOR EACH STATEMENT EXECUTE FUNCTION "note_new_statistics"();
CREATE TRIGGER "statistics_of_removed" AFTER DELETE ON "listed_call" REFERENCING OLD TABLE AS was
FOR EACH STATEMENT EXECUTE FUNCTION "note_former_statistics"();

-- Whoever adds, changes or removes calls cannot forget their rows for lists: what these copy of "call" is written here. What they
-- have of the analysis is written by whoever stores it (listing/listed-call-store.ts).
DROP TRIGGER "call_changed" ON "call";
DROP TRIGGER "call_deleted" ON "call";
DROP TRIGGER "transcript_added" ON "transcript";
DROP TRIGGER "transcript_changed" ON "transcript";
DROP FUNCTION "note_changed_calls"();
DROP FUNCTION "note_deleted_calls"();
DROP FUNCTION "note_heard_calls"();

CREATE FUNCTION "list_new_calls"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO listed_call (firm_uuid, uuid, start_time, batch_uuid, campaign_uuid, duration, score, is_reviewed, source, status,
    outcome, direction, segment_type, operator_name, operator_id, operator_group_name, client_phone, language)
  SELECT firm_uuid, uuid, start_time, batch_uuid, campaign_uuid, listed_duration(duration), listed_score(score),
    reviewed_at IS NOT NULL, source, status, outcome, direction, segment_type, operator_name, operator_id, operator_group_name,
    phone_digits(client_phone_number), language
  FROM added;
  INSERT INTO queued_words (firm_uuid, uuid, has_new_words)
  SELECT firm_uuid, uuid, true FROM added WHERE status IN ('completed', 'failed', 'canceled');
  RETURN NULL;
END $$;
CREATE TRIGGER "new_calls_are_listed" AFTER INSERT ON "call" REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION "list_new_calls"();

-- Where the analysis was stored by the same statement, it has written the whole row already: a second version would cost an
-- entry in each index. A call that is not carried over yet has no row, and its row will be made of what the call is then.
CREATE FUNCTION "list_changed_call"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (
    SELECT FROM listed_call WHERE firm_uuid = NEW.firm_uuid AND uuid = NEW.uuid
      AND (start_time, batch_uuid, campaign_uuid, duration, score, is_reviewed, source, status, outcome, direction, segment_type,
        operator_name, operator_id, operator_group_name, client_phone, language)
      IS DISTINCT FROM (NEW.start_time, NEW.batch_uuid, NEW.campaign_uuid, listed_duration(NEW.duration), listed_score(NEW.score),
        NEW.reviewed_at IS NOT NULL, NEW.source, NEW.status, NEW.outcome, NEW.direction, NEW.segment_type, NEW.operator_name,
        NEW.operator_id, NEW.operator_group_name, phone_digits(NEW.client_phone_number), NEW.language))
  THEN
    UPDATE listed_call SET start_time = NEW.start_time, batch_uuid = NEW.batch_uuid, campaign_uuid = NEW.campaign_uuid,
      duration = listed_duration(NEW.duration), score = listed_score(NEW.score), is_reviewed = NEW.reviewed_at IS NOT NULL,
      source = NEW.source, status = NEW.status, outcome = NEW.outcome, direction = NEW.direction, segment_type = NEW.segment_type,
      operator_name = NEW.operator_name, operator_id = NEW.operator_id, operator_group_name = NEW.operator_group_name,
      client_phone = phone_digits(NEW.client_phone_number), language = NEW.language
    WHERE firm_uuid = NEW.firm_uuid AND uuid = NEW.uuid;
  END IF;
  -- Words are indexed once their language is known, or cannot become known any more.
  IF NEW.status IN ('completed', 'failed', 'canceled')
    AND (OLD.status NOT IN ('completed', 'failed', 'canceled') OR NEW.language IS DISTINCT FROM OLD.language)
  THEN
    INSERT INTO queued_words (firm_uuid, uuid, has_new_words) VALUES (NEW.firm_uuid, NEW.uuid, false);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "changed_calls_are_listed" AFTER UPDATE ON "call" FOR EACH ROW
WHEN ((OLD.start_time, OLD.batch_uuid, OLD.campaign_uuid, OLD.duration, OLD.score, OLD.reviewed_at, OLD.source, OLD.status,
    OLD.outcome, OLD.direction, OLD.segment_type, OLD.operator_name, OLD.operator_id, OLD.operator_group_name,
    OLD.client_phone_number, OLD.language)
  IS DISTINCT FROM (NEW.start_time, NEW.batch_uuid, NEW.campaign_uuid, NEW.duration, NEW.score, NEW.reviewed_at, NEW.source,
    NEW.status, NEW.outcome, NEW.direction, NEW.segment_type, NEW.operator_name, NEW.operator_id, NEW.operator_group_name,
    NEW.client_phone_number, NEW.language))
EXECUTE FUNCTION "list_changed_call"();

CREATE FUNCTION "unlist_removed_call"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM listed_call WHERE firm_uuid = OLD.firm_uuid AND uuid = OLD.uuid;
  DELETE FROM listed_points WHERE firm_uuid = OLD.firm_uuid AND uuid = OLD.uuid;
  DELETE FROM queued_words WHERE firm_uuid = OLD.firm_uuid AND uuid = OLD.uuid;
  DELETE FROM listing_stale WHERE firm_uuid = OLD.firm_uuid AND uuid = OLD.uuid;
  DELETE FROM call_text WHERE firm = (SELECT number FROM firm_number WHERE firm_uuid = OLD.firm_uuid) AND uuid = OLD.uuid;
  DELETE FROM call_search WHERE firm = (SELECT number FROM firm_number WHERE firm_uuid = OLD.firm_uuid) AND uuid = OLD.uuid;
  DELETE FROM call_points WHERE firm = (SELECT number FROM firm_number WHERE firm_uuid = OLD.firm_uuid) AND uuid = OLD.uuid;
  RETURN NULL;
END $$;
CREATE TRIGGER "removed_calls_are_unlisted" AFTER DELETE ON "call" FOR EACH ROW EXECUTE FUNCTION "unlist_removed_call"();

CREATE FUNCTION "queue_words"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO queued_words (firm_uuid, uuid, has_new_words) SELECT firm_uuid, call_uuid, true FROM heard;
  RETURN NULL;
END $$;
CREATE TRIGGER "words_of_new_transcripts" AFTER INSERT ON "transcript" REFERENCING NEW TABLE AS heard
FOR EACH STATEMENT EXECUTE FUNCTION "queue_words"();
CREATE TRIGGER "words_of_changed_transcripts" AFTER UPDATE ON "transcript" REFERENCING NEW TABLE AS heard
FOR EACH STATEMENT EXECUTE FUNCTION "queue_words"();

-- The calls that are there already are carried over while the service runs (listing/carry-over-store.ts): first those of which the
-- former index lacked a change, then all others in the order of firms and uuids. Meanwhile lists read the views below, which
-- have the others from the call and the former index. The next release drops the views and the tables of the former index.
CREATE TABLE "listing_carry_over" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "carried" INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT "listing_carry_over_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
INSERT INTO "listing_carry_over" ("firm_uuid", "uuid")
SELECT '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000' WHERE EXISTS (SELECT FROM "call");
CREATE TABLE "listing_stale" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    CONSTRAINT "listing_stale_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
INSERT INTO "listing_stale" ("firm_uuid", "uuid") SELECT DISTINCT "firm_uuid", "first" FROM "call_change" WHERE "first" = "last";
DROP TABLE "call_change";
DROP TABLE "text_change";
DROP TABLE "call_backfill";

CREATE VIEW "carried_listed_call" AS
SELECT * FROM "listed_call"
UNION ALL
SELECT call.firm_uuid, call.uuid, call.start_time, call.batch_uuid, call.campaign_uuid,
  (SELECT value FROM facet WHERE id = former.scorecard)::uuid, listed_duration(call.duration), former.operator_talk,
  former.silence, former.interruptions, former.client_sentiment::smallint, listed_score(call.score),
  coalesce(former.open_answers, 0::smallint), call.reviewed_at IS NOT NULL, coalesce(former.auto_failed, false), call.source,
  call.status, call.outcome, call.direction, call.segment_type, call.operator_name, call.operator_id, call.operator_group_name,
  phone_digits(call.client_phone_number), call.language, (SELECT value FROM facet WHERE id = former.resolution),
  (SELECT array_agg(value) FROM facet WHERE id = ANY(former.topics)),
  (SELECT array_agg(value::uuid) FROM facet WHERE id = ANY(former.tags) AND kind = 'lost')
FROM listing_carry_over AS position
  JOIN call ON (call.firm_uuid, call.uuid) > (position.firm_uuid, position.uuid)
  LEFT JOIN firm_number ON firm_number.firm_uuid = call.firm_uuid
  LEFT JOIN call_search AS former ON former.firm = firm_number.number AND former.uuid = call.uuid
WHERE NOT EXISTS (SELECT FROM listed_call WHERE listed_call.firm_uuid = call.firm_uuid AND listed_call.uuid = call.uuid);

CREATE VIEW "carried_listed_points" AS
SELECT * FROM "listed_points"
UNION ALL
SELECT firm_number.firm_uuid, former.uuid,
  ARRAY(SELECT value::uuid FROM unnest(former.questions) WITH ORDINALITY AS asked (id, at) JOIN facet USING (id) ORDER BY at),
  former.points::integer[], former.max_points::integer[]
FROM listing_carry_over AS position
  JOIN firm_number ON firm_number.firm_uuid >= position.firm_uuid
  JOIN call_points AS former ON former.firm = firm_number.number
    AND (firm_number.firm_uuid, former.uuid) > (position.firm_uuid, position.uuid)
WHERE NOT EXISTS (
  SELECT FROM listed_call WHERE listed_call.firm_uuid = firm_number.firm_uuid AND listed_call.uuid = former.uuid);
