CREATE TABLE "erased_subject" (
    "firm_uuid" UUID NOT NULL,
    "subject" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "erased_subject_pkey" PRIMARY KEY ("firm_uuid", "subject")
);

CREATE TABLE "erasure" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "batch_uuid" UUID,
    "object_key" TEXT,
    "removed" JSONB NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    CONSTRAINT "erasure_pkey" PRIMARY KEY ("firm_uuid", "call_uuid")
);
