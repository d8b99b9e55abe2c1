-- The sweep looks for old claims and tombstones every ten minutes.
CREATE INDEX "claimed_event_by_age" ON "claimed_event" ("at");
CREATE INDEX "erased_subject_by_age" ON "erased_subject" ("at");
CREATE INDEX "erasure_by_age" ON "erasure" ("finished_at");
