-- Finds the CSVs of rejected rows that contain a copy of a call: reading all of a firm's files takes seconds. The keys are
-- hashes, so that a row of the table tells nothing of a call.
CREATE TABLE "rejected_row" (
    "file_uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "key" BIGINT NOT NULL,
    CONSTRAINT "rejected_row_pkey" PRIMARY KEY ("firm_uuid", "key", "file_uuid")
);
CREATE INDEX "rejected_row_of_file" ON "rejected_row" ("file_uuid");
-- Files from before are read as a whole until they expire.
ALTER TABLE "rejected_file" ADD COLUMN "has_keys" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "rejected_file_without_keys" ON "rejected_file" ("firm_uuid") WHERE NOT "has_keys";
