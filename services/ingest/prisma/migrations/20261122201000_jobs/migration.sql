-- Deeds on many calls, done in the background.
CREATE TABLE "job" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "filter" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'running',
    "total" INTEGER NOT NULL,
    "done" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "last_call" UUID,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    CONSTRAINT "job_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
CREATE INDEX "job_running" ON "job" ("leased_until") WHERE "status" = 'running';
