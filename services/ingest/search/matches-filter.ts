import type { CallRow } from '../calls/call-row.ts';
import { type CallFilter, scoreRange } from './call-query.ts';

/** Whether a call matches the filter, its words excepted. */
export function matchesFilter(filter: CallFilter, call: CallRow): boolean {
  const is = (wanted: string | null, value: string | null) => wanted === null || wanted === value;
  const isOneOf = (wanted: readonly string[], value: string | null) =>
    wanted.length === 0 || (value !== null && wanted.includes(value));
  const score = scoreRange(filter);
  const tenths = call.score === null ? null : Math.round(call.score * 10);
  return (
    isOneOf(filter.status, call.status) &&
    isOneOf(filter.outcome, call.outcome) &&
    isOneOf(filter.segmentType, call.segment_type) &&
    isOneOf(filter.direction, call.direction) &&
    is(filter.operatorName, call.operator_name) &&
    is(filter.operatorGroupName, call.operator_group_name) &&
    is(filter.partnerCallId, call.partner_call_id) &&
    is(filter.batch, call.batch_uuid) &&
    is(filter.campaign, call.campaign_uuid) &&
    is(filter.source, call.source) &&
    (filter.startedFrom === null || call.start_time >= filter.startedFrom) &&
    (filter.startedTo === null || call.start_time < filter.startedTo) &&
    (score === null || (tenths !== null && tenths >= score.low && tenths <= score.high))
  );
}
