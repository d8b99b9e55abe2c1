ALTER TYPE "role" ADD VALUE 'REVIEWER';
ALTER TYPE "role" ADD VALUE 'OPERATOR';

-- With a default, for the processes of the release before.
ALTER TABLE "firm_user" ADD COLUMN "operator_ids" TEXT[] DEFAULT ARRAY[]::TEXT[];
