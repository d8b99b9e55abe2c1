-- The index of all these values does what they did. It is made before, in a transaction of its own: lists are read meanwhile, which these
-- statements do not allow.
DROP INDEX "listed_call_by_segment";
DROP INDEX "listed_call_by_language";
DROP INDEX "listed_call_by_resolution";
DROP INDEX "listed_call_by_status";
