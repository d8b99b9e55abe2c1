CREATE TABLE "upload_session" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "user_uuid" UUID NOT NULL,
    "metadata_key" TEXT NOT NULL,
    "audio_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "swept_at" TIMESTAMPTZ(3),
    CONSTRAINT "upload_session_pkey" PRIMARY KEY ("uuid")
);
CREATE INDEX "upload_session_by_key" ON "upload_session" ("metadata_key", "created_at" DESC);
CREATE INDEX "upload_session_by_audio_key" ON "upload_session" ("audio_key", "created_at" DESC);
CREATE INDEX "upload_session_to_sweep" ON "upload_session" ("expires_at") WHERE "swept_at" IS NULL;

CREATE TABLE "batch" (
    "uuid" UUID NOT NULL,
    "session_uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "accepted" INTEGER NOT NULL,
    "duplicates" INTEGER NOT NULL,
    "rejected" INTEGER NOT NULL,
    "ignored_columns" TEXT[],
    "rejected_uuid" UUID,
    "first_call" UUID,
    "last_call" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "batch_pkey" PRIMARY KEY ("uuid")
);
CREATE UNIQUE INDEX "batch_of_session" ON "batch" ("session_uuid");
CREATE INDEX "batch_of_firm" ON "batch" ("firm_uuid", "created_at" DESC, "uuid");

CREATE TABLE "rejected_file" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "object_key" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "rejected_file_pkey" PRIMARY KEY ("uuid")
);
CREATE INDEX "rejected_file_by_expiry" ON "rejected_file" ("expires_at");

-- Pages are left a quarter empty, so that a call's new status finds room beside its old one.
CREATE TABLE "call" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "outcome" TEXT,
    "partner_call_id" TEXT,
    "client_phone_number" TEXT NOT NULL,
    "operator_name" TEXT NOT NULL,
    "operator_id" TEXT,
    "operator_group_name" TEXT,
    "direction" TEXT,
    "segment_type" TEXT NOT NULL,
    "start_time" TIMESTAMPTZ(3) NOT NULL,
    "duration" DOUBLE PRECISION,
    "disconnect_reason" TEXT,
    "language" TEXT,
    "score" DOUBLE PRECISION,
    "batch_uuid" UUID,
    "campaign_uuid" UUID,
    "engine" TEXT,
    "tagged_text" TEXT,
    "failure" JSONB,
    "history" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "call_pkey" PRIMARY KEY ("firm_uuid", "uuid")
) WITH (fillfactor = 75);
CREATE UNIQUE INDEX "call_of_partner" ON "call" ("firm_uuid", "partner_call_id") WHERE "partner_call_id" IS NOT NULL;

CREATE TABLE "analysis" (
    "uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "body" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "analysis_pkey" PRIMARY KEY ("uuid")
);
-- Compressed already.
ALTER TABLE "analysis" ALTER COLUMN "body" SET STORAGE EXTERNAL;
CREATE INDEX "analysis_of_call" ON "analysis" ("call_uuid", "created_at");

CREATE TABLE "claimed_event" (
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "claimed_event_pkey" PRIMARY KEY ("consumer", "event_id")
);
