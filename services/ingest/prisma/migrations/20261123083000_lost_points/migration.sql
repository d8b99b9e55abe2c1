-- Calls that were indexed before entries knew by which questions they lost points. The service indexes them anew while it runs.
INSERT INTO "call_backfill" ("firm_uuid", "first", "last")
SELECT DISTINCT "firm_uuid", '00000000-0000-0000-0000-000000000000'::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
FROM "facet" WHERE "kind" = 'all'
ON CONFLICT ("firm_uuid") DO UPDATE SET "first" = excluded."first", "last" = excluded."last";
