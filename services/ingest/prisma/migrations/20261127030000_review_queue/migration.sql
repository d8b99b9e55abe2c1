-- Who has which call of the review queue, and until when nobody else gets it.
CREATE TABLE "review_lease" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "user_uuid" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "review_lease_pkey" PRIMARY KEY ("firm_uuid", "call_uuid")
);
CREATE INDEX "review_lease_of_user" ON "review_lease" ("firm_uuid", "user_uuid");
-- The queue takes the oldest first. A finished review leaves no answer to review.
CREATE INDEX "listed_call_to_review" ON "listed_call" ("firm_uuid", "start_time", "uuid") WHERE "needs_review" > 0;
CREATE INDEX "review_finished" ON "review" ("firm_uuid", "at") WHERE "done";

-- Calls that sampling rules have chosen.
CREATE TABLE "sampled_call" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "rule_uuid" UUID NOT NULL,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "is_done" BOOLEAN NOT NULL,
    CONSTRAINT "sampled_call_pkey" PRIMARY KEY ("firm_uuid", "call_uuid", "rule_uuid", "begins_at")
);
CREATE INDEX "sampled_call_of_rule" ON "sampled_call" ("firm_uuid", "rule_uuid", "begins_at");
CREATE INDEX "sampled_call_waiting" ON "sampled_call" ("firm_uuid", "begins_at", "call_uuid") WHERE NOT "is_done";
