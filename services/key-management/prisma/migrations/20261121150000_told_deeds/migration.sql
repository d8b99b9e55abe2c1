ALTER TABLE "audit_entry" ADD COLUMN "event_id" UUID;
CREATE UNIQUE INDEX "audit_entry_event_id_key" ON "audit_entry"("event_id");
