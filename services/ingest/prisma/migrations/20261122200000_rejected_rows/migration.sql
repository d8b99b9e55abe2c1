-- Finds the CSVs of rejected rows that may contain a copy of a call: reading all of a firm's files takes seconds. Each row
-- is a part of a Bloom filter over the rows of a file, and tells nothing of a call by itself.
CREATE TABLE "rejected_filter" (
    "firm_uuid" UUID NOT NULL,
    "file_uuid" UUID NOT NULL,
    "part" INTEGER NOT NULL,
    "segment" INTEGER NOT NULL,
    "segments" INTEGER NOT NULL,
    "bits" BYTEA NOT NULL,
    CONSTRAINT "rejected_filter_pkey" PRIMARY KEY ("firm_uuid", "file_uuid", "part", "segment")
);
ALTER TABLE "rejected_filter" ALTER COLUMN "bits" SET STORAGE EXTERNAL;
CREATE INDEX "rejected_filter_of_file" ON "rejected_filter" ("file_uuid");
-- Files from before are read as a whole until they expire.
ALTER TABLE "rejected_file" ADD COLUMN "has_filter" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "rejected_file_of_firm" ON "rejected_file" ("firm_uuid");
