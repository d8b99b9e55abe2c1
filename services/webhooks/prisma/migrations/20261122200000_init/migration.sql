CREATE TABLE "endpoint" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "description" TEXT,
    "secret" TEXT NOT NULL,
    "old_secrets" JSONB NOT NULL DEFAULT '[]',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT,
    "failing_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "leased_by" UUID,
    "leased_until" TIMESTAMPTZ(3),
    CONSTRAINT "endpoint_pkey" PRIMARY KEY ("uuid")
);
CREATE INDEX "endpoint_of_firm" ON "endpoint" ("firm_uuid", "created_at" DESC, "uuid");

CREATE TABLE "delivery" (
    "endpoint_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "event" TEXT NOT NULL,
    "subject" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "step" INTEGER NOT NULL DEFAULT 0,
    "last_status" INTEGER,
    "last_error" TEXT,
    "next_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "delivery_pkey" PRIMARY KEY ("endpoint_uuid", "uuid"),
    CONSTRAINT "delivery_endpoint_uuid_fkey" FOREIGN KEY ("endpoint_uuid") REFERENCES "endpoint" ("uuid") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "delivery_due" ON "delivery" ("endpoint_uuid", "next_at") WHERE "status" = 'pending';
CREATE INDEX "delivery_failed" ON "delivery" ("endpoint_uuid", "uuid") WHERE "status" = 'failed';
CREATE INDEX "delivery_of_subject" ON "delivery" ("firm_uuid", "subject");
CREATE INDEX "delivery_created" ON "delivery" USING BRIN ("created_at");
-- Every row is updated once or more. Dead rows are removed early, so that the index of due deliveries stays small.
ALTER TABLE "delivery" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE "claimed_event" (
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "claimed_event_pkey" PRIMARY KEY ("consumer", "event_id")
);

CREATE TABLE "erased_subject" (
    "firm_uuid" UUID NOT NULL,
    "subject" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "erased_subject_pkey" PRIMARY KEY ("firm_uuid", "subject")
);
