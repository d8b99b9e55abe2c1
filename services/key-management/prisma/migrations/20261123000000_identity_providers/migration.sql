CREATE TABLE "provider_identity" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_uuid" UUID NOT NULL,

    CONSTRAINT "provider_identity_pkey" PRIMARY KEY ("issuer", "subject")
);
CREATE INDEX "provider_identity_user_uuid_idx" ON "provider_identity"("user_uuid");
ALTER TABLE "provider_identity" ADD CONSTRAINT "provider_identity_user_uuid_fkey" FOREIGN KEY ("user_uuid") REFERENCES "firm_user"("uuid") ON DELETE CASCADE ON UPDATE CASCADE;
