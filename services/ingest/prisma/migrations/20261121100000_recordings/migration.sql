ALTER TABLE "batch" ADD COLUMN "archive_key" TEXT;
ALTER TABLE "batch" ADD COLUMN "archive_bytes" BIGINT;
CREATE INDEX "batch_with_archive" ON "batch" ("created_at") WHERE "archive_key" IS NOT NULL;

-- Pages are left a third empty, so that what is found in a recording fits beside its row when it is stored.
CREATE TABLE "recording" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "file_name" TEXT NOT NULL,
    "left_role" TEXT NOT NULL,
    "right_role" TEXT NOT NULL,
    "turn" INTEGER NOT NULL DEFAULT 0,
    "entry" JSONB,
    "object_key" TEXT,
    "format" TEXT,
    "codec" TEXT,
    "channels" INTEGER,
    "sample_rate" INTEGER,
    "duration" DOUBLE PRECISION,
    "size_bytes" BIGINT,
    "sha256" BYTEA,
    "stored_at" TIMESTAMPTZ(3),
    CONSTRAINT "recording_pkey" PRIMARY KEY ("firm_uuid", "call_uuid")
) WITH (fillfactor = 65);

CREATE TABLE "transcript" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "body" BYTEA NOT NULL,
    CONSTRAINT "transcript_pkey" PRIMARY KEY ("firm_uuid", "call_uuid")
);
-- Compressed already.
ALTER TABLE "transcript" ALTER COLUMN "body" SET STORAGE EXTERNAL;
