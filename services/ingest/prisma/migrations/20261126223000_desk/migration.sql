-- Parameters of lists of calls, saved under a name by a person, for that person or for the firm.
CREATE TABLE "saved_view" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "owner_uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "query" JSONB NOT NULL,
    "shared" BOOLEAN NOT NULL,
    "start_page" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "saved_view_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);

-- Whose task the review of a call is.
CREATE TABLE "assignment" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "user_uuid" UUID NOT NULL,
    "due" TIMESTAMPTZ(3),
    "by_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "assignment_pkey" PRIMARY KEY ("firm_uuid", "call_uuid")
);
CREATE INDEX "assignment_of_user" ON "assignment" ("firm_uuid", "user_uuid");

-- Who has read the review of a call. It counts while it is newer than the review.
CREATE TABLE "acknowledgement" (
    "firm_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "by_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "acknowledgement_pkey" PRIMARY KEY ("firm_uuid", "call_uuid")
);

CREATE TABLE "dispute" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "question_uuid" UUID NOT NULL,
    "reason" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "by_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "comment" TEXT,
    "decided_by" UUID,
    "decided_at" TIMESTAMPTZ(3),
    CONSTRAINT "dispute_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
CREATE INDEX "dispute_of_call" ON "dispute" ("firm_uuid", "call_uuid");
CREATE INDEX "dispute_by_status" ON "dispute" ("firm_uuid", "status", "uuid");
CREATE UNIQUE INDEX "open_dispute" ON "dispute" ("firm_uuid", "call_uuid", "question_uuid") WHERE "status" = 'open';

-- Calls that several people review without seeing each other's answers.
CREATE TABLE "calibration" (
    "firm_uuid" UUID NOT NULL,
    "uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "due" TIMESTAMPTZ(3),
    "user_uuids" UUID[] NOT NULL,
    "by_uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    CONSTRAINT "calibration_pkey" PRIMARY KEY ("firm_uuid", "uuid")
);
CREATE TABLE "calibration_call" (
    "firm_uuid" UUID NOT NULL,
    "calibration_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "analysis_uuid" UUID NOT NULL,
    CONSTRAINT "calibration_call_pkey" PRIMARY KEY ("firm_uuid", "calibration_uuid", "call_uuid")
);
CREATE INDEX "calibration_of_call" ON "calibration_call" ("firm_uuid", "call_uuid");
CREATE TABLE "calibration_answer" (
    "firm_uuid" UUID NOT NULL,
    "calibration_uuid" UUID NOT NULL,
    "call_uuid" UUID NOT NULL,
    "user_uuid" UUID NOT NULL,
    "question_uuid" UUID NOT NULL,
    "answer" TEXT,
    CONSTRAINT "calibration_answer_pkey" PRIMARY KEY ("firm_uuid", "calibration_uuid", "call_uuid", "user_uuid", "question_uuid")
);

-- The users whom a comment calls.
ALTER TABLE "comment" ADD COLUMN "mentions" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];
CREATE INDEX "comment_mentions" ON "comment" USING GIN ("mentions");
