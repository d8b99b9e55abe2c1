-- What the analyses under a revision of a scorecard have in common. Bodies that were stored before have no form.
CREATE TABLE "analysis_form" (
    "id" SERIAL NOT NULL,
    "firm_uuid" UUID NOT NULL,
    "scorecard_uuid" UUID NOT NULL,
    "revision" INTEGER NOT NULL,
    "language" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    CONSTRAINT "analysis_form_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "analysis_form_of_revision" ON "analysis_form" ("firm_uuid", "scorecard_uuid", "revision", "language");
