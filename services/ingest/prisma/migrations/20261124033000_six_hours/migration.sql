-- Sums of six hours, of which days consist, so that a change discards the sums of a quarter of a day instead of all of it.
-- The days that have sums keep them, and the service adds up their six hours while it runs.
CREATE TABLE "statistic_changed_day" AS
SELECT "firm", "day"::timestamp AT TIME ZONE 'UTC' AS "begins_at" FROM "statistic_change"
UNION SELECT "firm", "begins_at" FROM "statistic_period" WHERE "period" = 'day';
DROP TABLE "statistic_change";
-- Six hours whose entries have changed since they were added up.
CREATE TABLE "statistic_change" (
    "firm" INTEGER NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "statistic_change_pkey" PRIMARY KEY ("firm", "begins_at")
);
CREATE INDEX "statistic_change_by_time" ON "statistic_change" ("changed_at");
INSERT INTO "statistic_change" ("firm", "begins_at", "changed_at")
SELECT "firm", "begins_at" + number * INTERVAL '6 hours', now() FROM "statistic_changed_day" CROSS JOIN generate_series(0, 3) AS number;
DROP TABLE "statistic_changed_day";

DROP FUNCTION "forget_sums"(INTEGER[], DATE[]);
-- Each kind of period is deleted by a statement of its own, which sees a period that was added up while the one before waited
-- for one of its parts.
CREATE FUNCTION "forget_sums"(firms INTEGER[], begins TIMESTAMPTZ[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO statistic_change (firm, begins_at, changed_at)
  SELECT changed.firm, changed.at, clock_timestamp() FROM unnest(firms, begins) AS changed (firm, at) ORDER BY 1, 2
  ON CONFLICT (firm, begins_at) DO UPDATE SET changed_at = excluded.changed_at;
  DELETE FROM statistic_period USING unnest(firms, begins) AS changed (firm, at)
  WHERE statistic_period.firm = changed.firm AND period = 'six_hours' AND begins_at = changed.at;
  DELETE FROM statistic_period USING (
    SELECT DISTINCT firm, date_trunc('day', at, 'UTC') AS at FROM unnest(firms, begins) AS each (firm, at)) AS changed
  WHERE statistic_period.firm = changed.firm AND period = 'day' AND begins_at = changed.at;
  DELETE FROM statistic_period USING (
    SELECT DISTINCT firm, date_trunc('month', at, 'UTC') AS at FROM unnest(firms, begins) AS each (firm, at)) AS changed
  WHERE statistic_period.firm = changed.firm AND period = 'month' AND begins_at = changed.at;
END $$;
CREATE OR REPLACE FUNCTION "forget_sums_of_new"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM forget_sums(array_agg(firm), array_agg(at)) FROM (
    SELECT DISTINCT firm, date_bin('6 hours', start_time, 'epoch') AS at FROM became) AS changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION "forget_sums_of_former"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM forget_sums(array_agg(firm), array_agg(at)) FROM (
    SELECT DISTINCT firm, date_bin('6 hours', start_time, 'epoch') AS at FROM was) AS changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
