-- The months are deleted by a second statement, which sees a month that was added up while the first one waited for its day.
CREATE OR REPLACE FUNCTION "forget_sums"(firms INTEGER[], days DATE[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO statistic_change (firm, day, changed_at)
  SELECT changed.firm, changed.day, clock_timestamp() FROM unnest(firms, days) AS changed (firm, day) ORDER BY 1, 2
  ON CONFLICT (firm, day) DO UPDATE SET changed_at = excluded.changed_at;
  DELETE FROM statistic_period USING unnest(firms, days) AS changed (firm, day)
  WHERE statistic_period.firm = changed.firm AND period = 'day' AND begins_at = changed.day::timestamp AT TIME ZONE 'UTC';
  DELETE FROM statistic_period USING unnest(firms, days) AS changed (firm, day)
  WHERE statistic_period.firm = changed.firm AND period = 'month'
    AND begins_at = date_trunc('month', changed.day::timestamp) AT TIME ZONE 'UTC';
END $$;
