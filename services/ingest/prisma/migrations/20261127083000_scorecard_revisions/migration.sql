-- Which revision of its scorecard the current analysis of a call is by. What carries calls over writes it.
ALTER TABLE "listed_call" ADD COLUMN "scorecard_revision" INTEGER;
-- It is not known of the call of an earlier release before that is carried over.
DROP VIEW "carried_listed_call";
CREATE VIEW "carried_listed_call" AS
SELECT * FROM "listed_call"
UNION ALL
SELECT call.firm_uuid, call.uuid, call.start_time, call.batch_uuid, call.campaign_uuid,
  (SELECT value FROM facet WHERE id = former.scorecard)::uuid, listed_duration(call.duration), former.operator_talk,
  former.silence, former.interruptions, former.client_sentiment::smallint, listed_score(call.score),
  coalesce(former.open_answers, 0::smallint), call.reviewed_at IS NOT NULL, coalesce(former.auto_failed, false), call.source,
  call.status, call.outcome, call.direction, call.segment_type, call.operator_name, call.operator_id, call.operator_group_name,
  phone_digits(call.client_phone_number), call.language, (SELECT value FROM facet WHERE id = former.resolution),
  (SELECT array_agg(value) FROM facet WHERE id = ANY(former.topics)),
  (SELECT array_agg(value::uuid) FROM facet WHERE id = ANY(former.tags) AND kind = 'lost'),
  false, NULL::integer
FROM listing_carry_over AS position
  JOIN call ON (call.firm_uuid, call.uuid) > (position.firm_uuid, position.uuid)
  LEFT JOIN firm_number ON firm_number.firm_uuid = call.firm_uuid
  LEFT JOIN call_search AS former ON former.firm = firm_number.number AND former.uuid = call.uuid
WHERE NOT EXISTS (SELECT FROM listed_call WHERE listed_call.firm_uuid = call.firm_uuid AND listed_call.uuid = call.uuid);
