import type { CallRow } from '../calls/call-row.ts';
import { type CallFilter, milliseconds, scoreRange } from './call-query.ts';
import { foldName, phoneDigits } from './facets.ts';

/**
 * Whether the catalogue's row of a call matches the filter. The row has no words, topics, resolutions, auto-fails or
 * lost points.
 */
export function matchesFilter(filter: CallFilter, call: CallRow): boolean {
  const is = (wanted: string | null, value: string | null) => wanted === null || wanted === value;
  const isOneOf = (wanted: readonly string[], value: string | null) =>
    wanted.length === 0 || (value !== null && wanted.includes(value));
  const isName = (wanted: string | null, value: string | null) =>
    wanted === null || (value !== null && foldName(wanted) === foldName(value));
  const score = scoreRange(filter);
  const duration = call.duration === null ? null : milliseconds(call.duration);
  const tenths = call.score === null ? null : Math.round(call.score * 10);
  return (
    isOneOf(filter.status, call.status) &&
    isOneOf(filter.outcome, call.outcome) &&
    isOneOf(filter.segmentType, call.segment_type) &&
    isOneOf(filter.direction, call.direction) &&
    isName(filter.operatorName, call.operator_name) &&
    isName(filter.operatorGroupName, call.operator_group_name) &&
    is(filter.operatorId, call.operator_id) &&
    is(filter.language, call.language) &&
    (filter.clientPhoneNumber === null ||
      phoneDigits(filter.clientPhoneNumber) === phoneDigits(call.client_phone_number)) &&
    (filter.durationMin === null || (duration !== null && duration >= milliseconds(filter.durationMin))) &&
    (filter.durationMax === null || (duration !== null && duration <= milliseconds(filter.durationMax))) &&
    (filter.needsReview === null || call.needs_review === null || filter.needsReview === call.needs_review > 0) &&
    (filter.reviewed === null || filter.reviewed === (call.reviewed_at !== null)) &&
    is(filter.partnerCallId, call.partner_call_id) &&
    is(filter.batch, call.batch_uuid) &&
    is(filter.campaign, call.campaign_uuid) &&
    is(filter.source, call.source) &&
    (filter.startedFrom === null || call.start_time >= filter.startedFrom) &&
    (filter.startedTo === null || call.start_time < filter.startedTo) &&
    (score === null || (tenths !== null && tenths >= score.low && tenths <= score.high))
  );
}
