CREATE TABLE "speech_usage" (
    "event_id" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "engine" TEXT NOT NULL,
    "segment_type" TEXT NOT NULL,
    "seconds" DOUBLE PRECISION NOT NULL,
    "cost" DECIMAL(20,9),
    "currency" TEXT,
    CONSTRAINT "speech_usage_pkey" PRIMARY KEY ("event_id")
);
CREATE INDEX "speech_usage_of_firm" ON "speech_usage" ("firm_uuid", "at");
CREATE INDEX "speech_usage_of_call" ON "speech_usage" ("call_uuid");
