CREATE TABLE "scorecard" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "scorecard_pkey" PRIMARY KEY ("uuid")
);
CREATE UNIQUE INDEX "scorecard_default_of_firm" ON "scorecard" ("firm_uuid") WHERE "is_default";

CREATE TABLE "scorecard_revision" (
    "scorecard_uuid" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "body" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "scorecard_revision_pkey" PRIMARY KEY ("scorecard_uuid", "revision"),
    CONSTRAINT "scorecard_revision_scorecard_uuid_fkey" FOREIGN KEY ("scorecard_uuid") REFERENCES "scorecard" ("uuid") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "analysis" (
    "uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "attempt" INTEGER NOT NULL,
    "scorecard_uuid" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "score" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "analysis_pkey" PRIMARY KEY ("uuid")
);
CREATE UNIQUE INDEX "analysis_of_attempt" ON "analysis" ("call_uuid", "attempt");

CREATE TABLE "claimed_event" (
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "claimed_event_pkey" PRIMARY KEY ("consumer", "event_id")
);
