CREATE TABLE "claimed_event" (
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "claimed_event_pkey" PRIMARY KEY ("consumer", "event_id")
);
