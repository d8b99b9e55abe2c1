-- The same keys again give the same answer, so what it says of an upload is kept with its batch.
ALTER TABLE "batch" ADD COLUMN "unnamed_files" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "batch" ADD COLUMN "ended_duplicates" INTEGER NOT NULL DEFAULT 0;
-- A batch stays finished when it was, although the call that ended last is erased.
ALTER TABLE "batch" ADD COLUMN "erased_until" TIMESTAMPTZ(3);
