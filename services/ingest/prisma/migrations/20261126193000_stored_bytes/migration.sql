-- How many bytes of recordings and archives a firm stores is the sum of its rows here: changes are only added, so that
-- transactions of one firm never wait for each other, and are folded from time to time.
CREATE TABLE "stored_bytes" (
    "id" BIGINT GENERATED ALWAYS AS IDENTITY,
    "firm_uuid" UUID NOT NULL,
    "bytes" BIGINT NOT NULL,
    CONSTRAINT "stored_bytes_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "stored_bytes_of_firm" ON "stored_bytes" ("firm_uuid");

-- Whoever adds, changes or removes a recording or an archive cannot forget to count. The conditions keep the rows of large
-- uploads, whose recordings are not extracted yet, from calling the functions.
CREATE FUNCTION "count_recording_bytes"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO stored_bytes (firm_uuid, bytes) VALUES (
        coalesce(NEW.firm_uuid, OLD.firm_uuid), coalesce(NEW.size_bytes, 0) - coalesce(OLD.size_bytes, 0));
    RETURN NULL;
END $$;
CREATE TRIGGER "added_recording_is_counted" AFTER INSERT ON "recording" FOR EACH ROW
    WHEN (NEW.size_bytes IS NOT NULL) EXECUTE FUNCTION "count_recording_bytes"();
CREATE TRIGGER "changed_recording_is_counted" AFTER UPDATE ON "recording" FOR EACH ROW
    WHEN (NEW.size_bytes IS DISTINCT FROM OLD.size_bytes) EXECUTE FUNCTION "count_recording_bytes"();
CREATE TRIGGER "removed_recording_is_counted" AFTER DELETE ON "recording" FOR EACH ROW
    WHEN (OLD.size_bytes IS NOT NULL) EXECUTE FUNCTION "count_recording_bytes"();

CREATE FUNCTION "count_archive_bytes"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO stored_bytes (firm_uuid, bytes) VALUES (
        coalesce(NEW.firm_uuid, OLD.firm_uuid), coalesce(NEW.archive_bytes, 0) - coalesce(OLD.archive_bytes, 0));
    RETURN NULL;
END $$;
CREATE TRIGGER "added_archive_is_counted" AFTER INSERT ON "batch" FOR EACH ROW
    WHEN (NEW.archive_bytes IS NOT NULL) EXECUTE FUNCTION "count_archive_bytes"();
CREATE TRIGGER "changed_archive_is_counted" AFTER UPDATE ON "batch" FOR EACH ROW
    WHEN (NEW.archive_bytes IS DISTINCT FROM OLD.archive_bytes) EXECUTE FUNCTION "count_archive_bytes"();
CREATE TRIGGER "removed_archive_is_counted" AFTER DELETE ON "batch" FOR EACH ROW
    WHEN (OLD.archive_bytes IS NOT NULL) EXECUTE FUNCTION "count_archive_bytes"();

INSERT INTO "stored_bytes" ("firm_uuid", "bytes")
SELECT "firm_uuid", sum("bytes") FROM (
    SELECT "firm_uuid", "size_bytes" AS "bytes" FROM "recording" WHERE "size_bytes" IS NOT NULL
    UNION ALL
    SELECT "firm_uuid", "archive_bytes" FROM "batch" WHERE "archive_bytes" IS NOT NULL
) AS "stored" GROUP BY "firm_uuid";
