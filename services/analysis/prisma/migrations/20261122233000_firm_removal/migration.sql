-- Firms that were removed, with what was removed of each so far.
CREATE TABLE "firm_removal" (
    "firm_uuid" UUID NOT NULL,
    "country" TEXT NOT NULL,
    "removed" JSONB NOT NULL DEFAULT '{}',
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "firm_removal_pkey" PRIMARY KEY ("firm_uuid")
);
