CREATE TABLE "erased_subject" (
    "firm_uuid" UUID NOT NULL,
    "subject" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "erased_subject_pkey" PRIMARY KEY ("firm_uuid", "subject")
);
