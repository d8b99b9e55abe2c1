-- A process reads on behind the last delivery that it has read, of which many may have the same time.
DROP INDEX "delivery_due";
CREATE INDEX "delivery_due" ON "delivery" ("endpoint_uuid", "next_at", "uuid") WHERE "status" = 'pending';
