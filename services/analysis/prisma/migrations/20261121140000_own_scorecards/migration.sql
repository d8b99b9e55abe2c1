ALTER TABLE "scorecard" ADD COLUMN "segment_type" TEXT;
ALTER TABLE "scorecard" ADD COLUMN "is_active" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "scorecard" ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "scorecard_revision" ADD COLUMN "created_by" UUID;
UPDATE "scorecard" SET
    "is_active" = "is_default",
    "revision" = (SELECT max("scorecard_revision"."revision") FROM "scorecard_revision" WHERE "scorecard_uuid" = "uuid");
CREATE UNIQUE INDEX "scorecard_active" ON "scorecard" ("firm_uuid", "segment_type") NULLS NOT DISTINCT WHERE "is_active";
CREATE INDEX "scorecard_of_firm" ON "scorecard" ("firm_uuid", "created_at" DESC, "uuid");
