-- Calls of a batch are completed page by page, so that most of their new versions do not fit into the page of the old ones:
-- space is better kept for one of them, and what the old ones leave used again soon.
ALTER TABLE "call" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);

-- Nothing is searched by these columns. Their statistics took most of the time of analyzing their tables.
ALTER TABLE "call" ALTER COLUMN "tagged_text" SET STATISTICS 0, ALTER COLUMN "history" SET STATISTICS 0;
ALTER TABLE "analysis" ALTER COLUMN "body" SET STATISTICS 0;
ALTER TABLE "listed_points" ALTER COLUMN "questions" SET STATISTICS 0, ALTER COLUMN "points" SET STATISTICS 0,
  ALTER COLUMN "max_points" SET STATISTICS 0;
