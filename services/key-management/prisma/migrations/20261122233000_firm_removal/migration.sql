-- Firms that were removed. The firm's own row is gone.
CREATE TABLE "firm_removal" (
    "firm_uuid" UUID NOT NULL,
    "country" CHAR(2) NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL,
    "announced_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "firm_removal_pkey" PRIMARY KEY ("firm_uuid")
);

-- What each service removed of a firm. Without a finish time, more may follow.
CREATE TABLE "firm_removal_report" (
    "firm_uuid" UUID NOT NULL,
    "service" TEXT NOT NULL,
    "removed" JSONB NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "firm_removal_report_pkey" PRIMARY KEY ("firm_uuid","service")
);

ALTER TABLE "firm_removal_report" ADD CONSTRAINT "firm_removal_report_firm_uuid_fkey" FOREIGN KEY ("firm_uuid") REFERENCES "firm_removal"("firm_uuid") ON DELETE RESTRICT ON UPDATE CASCADE;
