-- What people judge, and what lists and statistics need of an analysis.
ALTER TABLE "call" ADD COLUMN "needs_review" INTEGER;
ALTER TABLE "call" ADD COLUMN "reviewed_at" TIMESTAMPTZ(3);

-- One review of one analysis. "answers" are the ones that a person gave; "body" is the analysis with them, like the body of
-- an analysis.
CREATE TABLE "review" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "analysis_uuid" UUID NOT NULL,
    "by_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "comment" TEXT,
    "done" BOOLEAN NOT NULL,
    "answers" JSONB NOT NULL,
    "body" BYTEA NOT NULL,
    CONSTRAINT "review_pkey" PRIMARY KEY ("firm_uuid", "call_uuid", "analysis_uuid")
);
ALTER TABLE "review" ALTER COLUMN "body" SET STORAGE EXTERNAL;

-- Answers of which both the machine's and the person's are known. Null is "not applicable".
CREATE TABLE "compared_answer" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "analysis_uuid" UUID NOT NULL,
    "question_uuid" UUID NOT NULL,
    "scorecard_uuid" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "machine" TEXT,
    "person" TEXT,
    CONSTRAINT "compared_answer_pkey" PRIMARY KEY ("firm_uuid", "call_uuid", "analysis_uuid", "question_uuid")
);
CREATE INDEX "compared_answer_of_scorecard" ON "compared_answer" ("firm_uuid", "scorecard_uuid", "revision");

CREATE TABLE "comment" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "text" TEXT NOT NULL,
    "utterance" INTEGER,
    "by_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "comment_pkey" PRIMARY KEY ("firm_uuid", "call_uuid", "uuid")
);

-- "folded": the value of an operator or a group without regard to case; null until the service has written it.
-- "label": what a scorecard or a question is called.
ALTER TABLE "facet" ADD COLUMN "folded" TEXT;
ALTER TABLE "facet" ADD COLUMN "label" TEXT;
CREATE INDEX "facet_folded" ON "facet" ("firm_uuid", "kind", "folded") WHERE "kind" IN ('operator', 'team');

-- Of the call's current analysis: what lists filter by, in "tags" as ids of facets, and what statistics add up. Amounts are
-- whole numbers, so that sums do not depend on their order: shares in millionths, sentiment in hundredths.
ALTER TABLE "call_search" ADD COLUMN "tags" BIGINT[];
ALTER TABLE "call_search" ADD COLUMN "language" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "resolution" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "scorecard" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "topics" INTEGER[];
ALTER TABLE "call_search" ADD COLUMN "open_answers" SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE "call_search" ADD COLUMN "is_reviewed" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "call_search" ADD COLUMN "auto_failed" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "call_search" ADD COLUMN "duration_ms" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "operator_talk" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "silence" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "interruptions" INTEGER;
ALTER TABLE "call_search" ADD COLUMN "client_sentiment" INTEGER;
CREATE INDEX "call_search_by_tag" ON "call_search" USING gin ("tags");

-- The points of each answered question, in thousandths, apart from the entries because few statistics read them.
CREATE TABLE "call_points" (
    "firm" INTEGER NOT NULL,
    "uuid" UUID NOT NULL,
    "questions" INTEGER[] NOT NULL,
    "points" BIGINT[] NOT NULL,
    "max_points" BIGINT[] NOT NULL,
    CONSTRAINT "call_points_pkey" PRIMARY KEY ("firm", "uuid")
);

-- Calls that were indexed before these columns existed. The service indexes them anew while it runs.
CREATE TABLE "call_backfill" (
    "firm_uuid" UUID NOT NULL,
    "first" UUID NOT NULL,
    "last" UUID NOT NULL,
    CONSTRAINT "call_backfill_pkey" PRIMARY KEY ("firm_uuid")
);
INSERT INTO "call_backfill" ("firm_uuid", "first", "last")
SELECT "firm_uuid", min("uuid"::text)::uuid, max("uuid"::text)::uuid FROM "call" GROUP BY "firm_uuid";

CREATE OR REPLACE FUNCTION "note_changed_calls"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO call_change (firm_uuid, first, last)
  SELECT firm_uuid, uuid, uuid FROM changed JOIN former USING (firm_uuid, uuid)
  WHERE (changed.status, changed.outcome, changed.score, changed.language, changed.duration, changed.needs_review, changed.reviewed_at)
    IS DISTINCT FROM
    (former.status, former.outcome, former.score, former.language, former.duration, former.needs_review, former.reviewed_at);
  RETURN NULL;
END $$;

-- Sums of whole periods, in UTC. A day or month without a row in "statistic_period" has none, and its calls are added up anew.
-- "scores" is a histogram: pairs of a score in tenths and a number of calls, each of two bytes.
CREATE TABLE "statistic_sum" (
    "firm" INTEGER NOT NULL,
    "period" TEXT NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "key" INTEGER NOT NULL,
    "amounts" BIGINT[] NOT NULL,
    "scores" BYTEA NOT NULL
);
CREATE INDEX "statistic_sum_of_kind" ON "statistic_sum" ("firm", "period", "kind", "begins_at");
CREATE TABLE "statistic_period" (
    "firm" INTEGER NOT NULL,
    "period" TEXT NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "statistic_period_pkey" PRIMARY KEY ("firm", "period", "begins_at")
);
-- Days whose entries have changed since they were added up.
CREATE TABLE "statistic_change" (
    "firm" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "statistic_change_pkey" PRIMARY KEY ("firm", "day")
);
CREATE INDEX "statistic_change_by_time" ON "statistic_change" ("changed_at");

-- Every change of an entry, whichever code makes it, invalidates the sums of its day and month in the same transaction.
CREATE FUNCTION "forget_sums"(firms INTEGER[], days DATE[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO statistic_change (firm, day, changed_at)
  SELECT changed.firm, changed.day, clock_timestamp() FROM unnest(firms, days) AS changed (firm, day) ORDER BY 1, 2
  ON CONFLICT (firm, day) DO UPDATE SET changed_at = excluded.changed_at;
  DELETE FROM statistic_period USING unnest(firms, days) AS changed (firm, day)
  WHERE statistic_period.firm = changed.firm
    AND (period, begins_at) IN (('day', changed.day::timestamp AT TIME ZONE 'UTC'),
      ('month', date_trunc('month', changed.day::timestamp) AT TIME ZONE 'UTC'));
END $$;
CREATE FUNCTION "forget_sums_of_new"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM forget_sums(array_agg(firm), array_agg(day)) FROM (
    SELECT DISTINCT firm, (start_time AT TIME ZONE 'UTC')::date AS day FROM became) AS changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "forget_sums_of_former"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM forget_sums(array_agg(firm), array_agg(day)) FROM (
    SELECT DISTINCT firm, (start_time AT TIME ZONE 'UTC')::date AS day FROM was) AS changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
-- The start of a call never changes, so an update concerns one day.
CREATE TRIGGER "entry_added" AFTER INSERT ON "call_search" REFERENCING NEW TABLE AS became
FOR EACH STATEMENT EXECUTE FUNCTION "forget_sums_of_new"();
CREATE TRIGGER "entry_changed" AFTER UPDATE ON "call_search" REFERENCING NEW TABLE AS became
FOR EACH STATEMENT EXECUTE FUNCTION "forget_sums_of_new"();
CREATE TRIGGER "entry_removed" AFTER DELETE ON "call_search" REFERENCING OLD TABLE AS was
FOR EACH STATEMENT EXECUTE FUNCTION "forget_sums_of_former"();
INSERT INTO "statistic_change" ("firm", "day", "changed_at")
SELECT "firm", ("start_time" AT TIME ZONE 'UTC')::date, now() FROM "call_search" GROUP BY 1, 2;
