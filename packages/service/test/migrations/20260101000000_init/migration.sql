CREATE TABLE "greeting" ("name" TEXT NOT NULL);
