import { CallFilter as ApiFilter } from '@call-analysis/api/call-query';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { ListCallsRequest } from '@call-analysis/proto/ingest/v1/ListCallsRequest';
import { z } from 'zod';
import type { CallRow } from '../calls/call-row.ts';
import { failureWithHint } from '../calls/ended-without-result.ts';
import type { CallFilter } from './call-filter.ts';

/** What is no filter is left out. */
const Filter = z.object(ApiFilter.shape);

/**
 * The filter of a list of calls. A gateway of the last release sends it by its fields. `caller`: who asks, for it may be a part of
 * a request.
 */
export function filterOf(request: ListCallsRequest, caller: Caller | null): CallFilter {
  const { filter_json: json } = request;
  const filter = Filter.parse(json === undefined ? request : JSON.parse(json));
  const seen = caller?.sees_only?.operator_ids;
  return seen === undefined ? filter : { ...filter, seen_operators: seen };
}

/** A call of a list. */
export function callMessage(call: CallRow): Call {
  return {
    uuid: call.uuid,
    source: call.source,
    status: call.status,
    client_phone_number: call.client_phone_number,
    operator_name: call.operator_name,
    segment_type: call.segment_type,
    start_time: call.start_time.toISOString(),
    created_at: call.created_at.toISOString(),
    updated_at: call.updated_at.toISOString(),
    failure: failureWithHint(call),
    ...present({
      outcome: call.outcome,
      partner_call_id: call.partner_call_id,
      operator_id: call.operator_id,
      operator_group_name: call.operator_group_name,
      direction: call.direction,
      duration: call.duration,
      disconnect_reason: call.disconnect_reason,
      language: call.language,
      score: call.score,
      batch_uuid: call.batch_uuid,
      campaign_uuid: call.campaign_uuid,
      needs_review: call.needs_review,
      questions: call.questions,
      answered: call.answered,
      reviewed_at: call.reviewed_at?.toISOString() ?? null,
      assigned_to: call.assigned_to,
      sampled_by: call.sampled_by,
      score_source: call.score === null ? null : call.reviewed_at === null ? 'machine' : 'reviewed',
    }),
  };
}

/** Leaves out null fields: messages have no nulls. */
export function present<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
}
