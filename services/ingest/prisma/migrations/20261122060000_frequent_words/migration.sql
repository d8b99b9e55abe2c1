-- PostgreSQL's own configurations leave out what is frequent in a language, "нельзя" and "tenga" among it. Whoever
-- searches for what was said searches for these too, so ours stem every word and leave out none.
CREATE TEXT SEARCH DICTIONARY "every_english_word" (TEMPLATE = pg_catalog.snowball, LANGUAGE = english);
CREATE TEXT SEARCH DICTIONARY "every_russian_word" (TEMPLATE = pg_catalog.snowball, LANGUAGE = russian);
CREATE TEXT SEARCH DICTIONARY "every_spanish_word" (TEMPLATE = pg_catalog.snowball, LANGUAGE = spanish);

CREATE TEXT SEARCH CONFIGURATION "every_english_word" (COPY = pg_catalog.english);
ALTER TEXT SEARCH CONFIGURATION "every_english_word" ALTER MAPPING REPLACE pg_catalog.english_stem WITH "every_english_word";
CREATE TEXT SEARCH CONFIGURATION "every_russian_word" (COPY = pg_catalog.russian);
ALTER TEXT SEARCH CONFIGURATION "every_russian_word" ALTER MAPPING REPLACE pg_catalog.russian_stem WITH "every_russian_word";
ALTER TEXT SEARCH CONFIGURATION "every_russian_word" ALTER MAPPING REPLACE pg_catalog.english_stem WITH "every_english_word";
CREATE TEXT SEARCH CONFIGURATION "every_spanish_word" (COPY = pg_catalog.spanish);
ALTER TEXT SEARCH CONFIGURATION "every_spanish_word" ALTER MAPPING REPLACE pg_catalog.spanish_stem WITH "every_spanish_word";

-- The conversations that are indexed already are indexed anew, in portions, while the service runs.
INSERT INTO "text_change" ("firm_uuid", "uuid", "ripe")
SELECT "facet"."firm_uuid", "call_text"."uuid", true
FROM "call_text" JOIN "facet" ON "facet"."id" = "call_text"."firm"
WHERE "call_text"."language" IN ('en', 'ru', 'es')
ON CONFLICT ("firm_uuid", "uuid") DO UPDATE SET "ripe" = true;
