-- A job ends when its calls have: it remembers those whose analysis it has begun.
ALTER TABLE "job" ADD COLUMN "begun" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "job" ADD COLUMN "is_through" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "job_call" (
    "firm_uuid" UUID NOT NULL,
    "job_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "attempt" INTEGER NOT NULL,
    "analysis_uuid" UUID,

    CONSTRAINT "job_call_pkey" PRIMARY KEY ("firm_uuid","job_uuid","call_uuid")
);
