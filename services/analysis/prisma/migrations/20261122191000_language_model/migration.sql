CREATE TABLE "model_request" (
    "event_id" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "attempt" INTEGER NOT NULL,
    "priority" INTEGER NOT NULL,
    "event" BYTEA NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease" UUID,
    "leased_until" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "first_failed_at" TIMESTAMPTZ(3),
    "announced" TEXT,
    CONSTRAINT "model_request_pkey" PRIMARY KEY ("event_id")
);
CREATE INDEX "model_request_of_firm" ON "model_request" ("firm_uuid", "priority", "received_at");
CREATE INDEX "model_request_of_call" ON "model_request" ("call_uuid");
CREATE INDEX "model_request_received" ON "model_request" ("received_at");
CREATE INDEX "model_request_leased" ON "model_request" ("firm_uuid") WHERE "leased_until" IS NOT NULL;
CREATE INDEX "model_request_unannounced" ON "model_request" ("received_at") WHERE "announced" IS NULL;

CREATE TABLE "model_capability" (
    "url" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "structured" TEXT NOT NULL,
    CONSTRAINT "model_capability_pkey" PRIMARY KEY ("url", "model")
);
CREATE TABLE "model_outage" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "reason" TEXT NOT NULL,
    CONSTRAINT "model_outage_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "budget" (
    "firm_uuid" UUID NOT NULL,
    "amount" DECIMAL(20,9),
    "currency" TEXT,
    "when_spent" TEXT NOT NULL DEFAULT 'wait',
    CONSTRAINT "budget_pkey" PRIMARY KEY ("firm_uuid")
);
CREATE TABLE "spending" (
    "firm_uuid" UUID NOT NULL,
    "month" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount" DECIMAL(20,9) NOT NULL,
    CONSTRAINT "spending_pkey" PRIMARY KEY ("firm_uuid", "month", "currency")
);
CREATE TABLE "model_usage" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "model" TEXT NOT NULL,
    "segment_type" TEXT NOT NULL,
    "audio_seconds" DOUBLE PRECISION NOT NULL,
    "requests" INTEGER NOT NULL,
    "input_tokens" BIGINT NOT NULL,
    "cached_input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "cost" DECIMAL(20,9),
    "currency" TEXT,
    CONSTRAINT "model_usage_pkey" PRIMARY KEY ("uuid")
);
CREATE INDEX "model_usage_of_firm" ON "model_usage" ("firm_uuid", "at");
CREATE INDEX "model_usage_of_call" ON "model_usage" ("call_uuid");
