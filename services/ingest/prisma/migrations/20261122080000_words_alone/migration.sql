-- Words are told from the signs beside them before PostgreSQL's parser sees them, which takes "«деньги»" for one word and
-- "credit/debit" for another. The conversations that are indexed already are indexed anew, in portions, while the service runs.
INSERT INTO "text_change" ("firm_uuid", "uuid", "ripe")
SELECT "facet"."firm_uuid", "call_text"."uuid", true
FROM "call_text" JOIN "facet" ON "facet"."id" = "call_text"."firm"
ON CONFLICT ("firm_uuid", "uuid") DO UPDATE SET "ripe" = true;
