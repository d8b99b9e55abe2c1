ALTER TABLE "firm" ADD COLUMN "language" TEXT NOT NULL DEFAULT 'en';
ALTER TABLE "firm" ADD COLUMN "time_zone" TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE "firm" ADD COLUMN "redaction" TEXT NOT NULL DEFAULT 'none';
ALTER TABLE "firm" ADD COLUMN "audio_days" INTEGER;
ALTER TABLE "firm" ADD COLUMN "transcript_days" INTEGER;
ALTER TABLE "firm" ADD COLUMN "calls_days" INTEGER;

ALTER TABLE "firm_user" ADD COLUMN "tokens_revoked_before" TIMESTAMPTZ(3);

ALTER TABLE "api_key" ADD COLUMN "expires_at" TIMESTAMPTZ(3);
ALTER TABLE "api_key" ADD COLUMN "grace_until" TIMESTAMPTZ(3);

ALTER TABLE "audit_entry" ADD COLUMN "code" TEXT;
CREATE INDEX "audit_entry_refusals" ON "audit_entry"("id" DESC) WHERE (code IS NOT NULL);

CREATE TABLE "sign_in_code" (
    "hash" BYTEA NOT NULL,
    "user_uuid" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_code_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "sign_in_code_user_uuid_idx" ON "sign_in_code"("user_uuid");

CREATE TABLE "session" (
    "uuid" UUID NOT NULL,
    "user_uuid" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "idle_until" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("uuid")
);
CREATE UNIQUE INDEX "session_hash_key" ON "session"("hash");
CREATE INDEX "session_user_uuid_idx" ON "session"("user_uuid");
