-- CreateEnum
CREATE TYPE "role" AS ENUM ('SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN');

-- CreateTable
CREATE TABLE "firm" (
    "uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "country" CHAR(2) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "firm_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "segment_type" (
    "firm_uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "position" SERIAL NOT NULL,

    CONSTRAINT "segment_type_pkey" PRIMARY KEY ("firm_uuid","name")
);

-- CreateTable
CREATE TABLE "firm_user" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "role" "role" NOT NULL,
    "web_api_only" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "firm_user_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "api_key" (
    "uuid" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "user_uuid" UUID NOT NULL,
    "prefix" CHAR(7) NOT NULL,
    "hash" BYTEA NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("uuid")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" UUID NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "request_id" TEXT NOT NULL,
    "address" TEXT NOT NULL,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "firm_created_at_uuid_idx" ON "firm"("created_at", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "firm_user_one_api_user_per_firm" ON "firm_user"("firm_uuid") WHERE (web_api_only AND deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "firm_user_firm_uuid_created_at_idx" ON "firm_user"("firm_uuid", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_one_active_per_firm" ON "api_key"("firm_uuid") WHERE (enabled AND deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "api_key_active_newest_first" ON "api_key"("created_at" DESC, "uuid" DESC) WHERE (enabled AND deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "audit_entry_firm_uuid_id_idx" ON "audit_entry"("firm_uuid", "id" DESC);

-- AddForeignKey
ALTER TABLE "segment_type" ADD CONSTRAINT "segment_type_firm_uuid_fkey" FOREIGN KEY ("firm_uuid") REFERENCES "firm"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "firm_user" ADD CONSTRAINT "firm_user_firm_uuid_fkey" FOREIGN KEY ("firm_uuid") REFERENCES "firm"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_firm_uuid_fkey" FOREIGN KEY ("firm_uuid") REFERENCES "firm"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_user_uuid_fkey" FOREIGN KEY ("user_uuid") REFERENCES "firm_user"("uuid") ON DELETE RESTRICT ON UPDATE CASCADE;
