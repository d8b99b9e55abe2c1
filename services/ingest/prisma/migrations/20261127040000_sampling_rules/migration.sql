-- Which calls of each day or week are chosen for a review, by chance.
CREATE TABLE "sampling_rule" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "query" JSONB NOT NULL,
    "filter" JSONB NOT NULL,
    "per" TEXT NOT NULL,
    "count" INTEGER,
    "share" DOUBLE PRECISION,
    "every" TEXT NOT NULL,
    "enabled_at" TIMESTAMPTZ(3),
    "by_uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "sampling_rule_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
CREATE INDEX "sampling_rule_enabled" ON "sampling_rule" ("firm_uuid", "uuid") WHERE "enabled_at" IS NOT NULL;
-- One sample a rule and period.
CREATE TABLE "sample" (
    "firm_uuid" UUID NOT NULL,
    "rule_uuid" UUID NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "time_zone" TEXT NOT NULL,
    "seed" TEXT NOT NULL,
    "rule" JSONB NOT NULL,
    "calls" INTEGER NOT NULL DEFAULT 0,
    "chosen" INTEGER NOT NULL DEFAULT 0,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "sample_pkey" PRIMARY KEY ("firm_uuid", "rule_uuid", "begins_at")
);
-- The calls of a firm that were completed in a period.
CREATE INDEX "analysis_of_firm" ON "analysis" ("firm_uuid", "created_at", "call_uuid");
