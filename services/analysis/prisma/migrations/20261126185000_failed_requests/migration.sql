CREATE INDEX "model_request_failed" ON "model_request" ("firm_uuid") WHERE "first_failed_at" IS NOT NULL;
