-- A put that began within its hour may end long after it, so an upload is swept once more when that has been over for a day.
CREATE INDEX "upload_session_to_sweep_again" ON "upload_session" ("expires_at") WHERE "swept_at" - "expires_at" < interval '1 day';
