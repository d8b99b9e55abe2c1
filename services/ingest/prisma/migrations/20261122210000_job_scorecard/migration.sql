-- AlterTable
ALTER TABLE "job" ADD COLUMN "scorecard_uuid" UUID;
