-- A job whose lease was given to another process changes nothing more, and its erasures have an author in the audit log.
-- Jobs from before have none.
ALTER TABLE "job" ADD COLUMN "leases" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "job" ADD COLUMN "by_uuid" UUID;
ALTER TABLE "job" ADD COLUMN "address" TEXT;
