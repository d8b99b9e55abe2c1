-- When a call had ended whose updated_at a review has moved since.
ALTER TABLE "call" ADD COLUMN "ended_at" TIMESTAMPTZ(3);
