CREATE TABLE "campaign" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "external_id" TEXT,
    "description" TEXT,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "segment_type" TEXT,
    "starts_at" TIMESTAMPTZ(3),
    "ends_at" TIMESTAMPTZ(3),
    "calls_to_cancel" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "campaign_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
CREATE UNIQUE INDEX "campaign_external_id" ON "campaign" ("firm_uuid", "external_id") WHERE "external_id" IS NOT NULL;
CREATE INDEX "campaign_to_cancel" ON "campaign" ("firm_uuid", "uuid") WHERE "calls_to_cancel";

ALTER TABLE "upload_session" ADD COLUMN "campaign_uuid" UUID;
ALTER TABLE "batch" ADD COLUMN "campaign_uuid" UUID;
CREATE INDEX "batch_of_campaign" ON "batch" ("firm_uuid", "campaign_uuid") WHERE "campaign_uuid" IS NOT NULL;
-- Calls of a batch are found by its range of uuids; only those that came by themselves need an index to a campaign.
CREATE INDEX "call_of_campaign" ON "call" ("firm_uuid", "campaign_uuid", "uuid")
    WHERE "campaign_uuid" IS NOT NULL AND "batch_uuid" IS NULL;

-- What the calls of a campaign come to is the sum over both tables: changes are only ever added, so that transactions
-- that change calls of one campaign never wait for each other, and are folded into the tally from time to time.
CREATE TABLE "campaign_tally" (
    "campaign_uuid" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "calls" BIGINT NOT NULL,
    "scored" BIGINT NOT NULL,
    "score_sum" DECIMAL NOT NULL,
    CONSTRAINT "campaign_tally_pkey" PRIMARY KEY ("campaign_uuid", "status")
);
CREATE TABLE "campaign_change" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "campaign_uuid" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "calls" BIGINT NOT NULL,
    "scored" BIGINT NOT NULL,
    "score_sum" DECIMAL NOT NULL,
    CONSTRAINT "campaign_change_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "change_of_campaign" ON "campaign_change" ("campaign_uuid");

-- Whoever changes or removes calls, in one place or a hundred, cannot forget to count. Calls that come are counted by
-- those that add them, who know how many there are: looking at each row of an upload again would take longer.
CREATE FUNCTION "count_changed_calls"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum)
    SELECT campaign_uuid, status, sum(calls), sum(scored), sum(score) FROM (
        SELECT campaign_uuid, status, -1 AS calls, -(score IS NOT NULL)::int AS scored, -coalesce(score, 0)::numeric AS score
        FROM was WHERE campaign_uuid IS NOT NULL
        UNION ALL
        SELECT campaign_uuid, status, 1, (score IS NOT NULL)::int, coalesce(score, 0)::numeric
        FROM became WHERE campaign_uuid IS NOT NULL
    ) AS change
    GROUP BY campaign_uuid, status HAVING sum(calls) <> 0 OR sum(scored) <> 0 OR sum(score) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER "changed_calls_are_counted" AFTER UPDATE ON "call"
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_calls"();

CREATE FUNCTION "count_removed_calls"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum)
    SELECT campaign_uuid, status, -count(*), -count(score), -coalesce(sum(score::numeric), 0)
    FROM was WHERE campaign_uuid IS NOT NULL GROUP BY campaign_uuid, status;
    RETURN NULL;
END $$;
CREATE TRIGGER "removed_calls_are_counted" AFTER DELETE ON "call"
    REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION "count_removed_calls"();
