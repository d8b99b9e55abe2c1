-- Whether BatchFinished or CampaignFinished was published. Those that had finished before this migration are not announced.
ALTER TABLE "batch" ADD COLUMN "finish_published" boolean NOT NULL DEFAULT true;
ALTER TABLE "batch" ALTER COLUMN "finish_published" SET DEFAULT false;
UPDATE "batch" SET "finish_published" = false WHERE "created_at" > now() - interval '1 day';
CREATE INDEX "batch_unfinished" ON "batch" ("uuid") WHERE NOT "finish_published";

ALTER TABLE "campaign" ADD COLUMN "finish_published" boolean NOT NULL DEFAULT true;
ALTER TABLE "campaign" ALTER COLUMN "finish_published" SET DEFAULT false;
UPDATE "campaign" SET "finish_published" = false WHERE "status" NOT IN ('completed', 'canceled');
CREATE INDEX "campaign_unfinished" ON "campaign" ("firm_uuid", "uuid") WHERE NOT "finish_published" AND "status" IN ('completed', 'canceled');
