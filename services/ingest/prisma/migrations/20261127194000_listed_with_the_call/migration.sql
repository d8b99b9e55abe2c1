-- The plan is made for each statement: PostgreSQL would keep that of a connection's first change, made when the table was small, in
-- which an index of few values was as good as the primary key. It then read all calls of the firm for every call that changed.
-- A statement that writes the whole rows itself says so for its transaction, and nothing is left to do.
CREATE OR REPLACE FUNCTION "list_changed_calls"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF current_setting('call_analysis.rows_written', true) = 'yes' THEN
    PERFORM set_config('call_analysis.rows_written', '', true);
  ELSE
    EXECUTE $update$
      UPDATE listed_call AS listed SET start_time = call.start_time, batch_uuid = call.batch_uuid, campaign_uuid = call.campaign_uuid,
        duration = listed_duration(call.duration), score = listed_score(call.score), is_reviewed = call.reviewed_at IS NOT NULL,
        source = call.source, status = call.status, outcome = call.outcome, direction = call.direction, segment_type = call.segment_type,
        operator_name = call.operator_name, operator_id = call.operator_id, operator_group_name = call.operator_group_name,
        client_phone = phone_digits(call.client_phone_number), language = call.language
      FROM became AS call
      WHERE listed.firm_uuid = call.firm_uuid AND listed.uuid = call.uuid
        AND (listed.start_time, listed.batch_uuid, listed.campaign_uuid, listed.duration, listed.score, listed.is_reviewed, listed.source,
          listed.status, listed.outcome, listed.direction, listed.segment_type, listed.operator_name, listed.operator_id,
          listed.operator_group_name, listed.client_phone, listed.language)
        IS DISTINCT FROM (call.start_time, call.batch_uuid, call.campaign_uuid, listed_duration(call.duration), listed_score(call.score),
          call.reviewed_at IS NOT NULL, call.source, call.status, call.outcome, call.direction, call.segment_type, call.operator_name,
          call.operator_id, call.operator_group_name, phone_digits(call.client_phone_number), call.language)
    $update$;
  END IF;
  -- Words are indexed once their language is known, or cannot become known any more.
  INSERT INTO queued_words (firm_uuid, uuid, has_new_words)
  SELECT firm_uuid, uuid, false FROM (
    SELECT firm_uuid, uuid, language FROM became WHERE status IN ('completed', 'failed', 'canceled')
    EXCEPT SELECT firm_uuid, uuid, language FROM was WHERE status IN ('completed', 'failed', 'canceled')) AS ended;
  RETURN NULL;
END $$;
