-- Who has put away that the comment calls them. An OPERATOR cannot comment, so that nothing else ends it for them.
ALTER TABLE "comment" ADD COLUMN "read_by" UUID[] NOT NULL DEFAULT '{}';
