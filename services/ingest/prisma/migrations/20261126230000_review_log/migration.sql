-- Who has changed the review of an analysis, and which of its answers when. Null: never reviewed, or not since it exists.
ALTER TABLE "analysis" ADD COLUMN "review_log" JSONB;
