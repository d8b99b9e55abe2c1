import { ReviewStatus } from '@call-analysis/api/call-query';
import { Uuid } from '@call-analysis/events';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { ListCallsRequest } from '@call-analysis/proto/ingest/v1/ListCallsRequest';
import { z } from 'zod';
import type { CallRow } from '../calls/call-row.ts';
import { failureWithHint } from '../calls/ended-without-result.ts';
import type { CallFilter } from './call-filter.ts';

const Time = z.iso.datetime();

/** The filter of a list of calls, which the gateway has validated. `caller`: who asks, for it may be a part of a request. */
export function filterOf(request: ListCallsRequest, caller: Caller | null): CallFilter {
  const timeOf = (text: string | undefined) => (text === undefined ? null : new Date(Time.parse(text)));
  return {
    status: request.status,
    outcome: request.outcome,
    segmentType: request.segment_type,
    direction: request.direction,
    operatorName: request.operator_name ?? null,
    operatorGroupName: request.operator_group_name ?? null,
    partnerCallId: request.partner_call_id ?? null,
    batch: Uuid.optional().parse(request.batch) ?? null,
    campaign: Uuid.optional().parse(request.campaign) ?? null,
    source: request.source ?? null,
    startedFrom: timeOf(request.started_from),
    startedTo: timeOf(request.started_to),
    scoreMin: request.score_min ?? null,
    scoreMax: request.score_max ?? null,
    q: request.q ?? null,
    needsReview: request.needs_review ?? null,
    reviewed: request.reviewed ?? null,
    operatorId: request.operator_id ?? null,
    clientPhoneNumber: request.client_phone_number ?? null,
    language: request.language ?? null,
    topic: request.topic ?? null,
    resolution: request.resolution ?? null,
    autoFailed: request.auto_failed ?? null,
    lostPoints: Uuid.optional().parse(request.lost_points) ?? null,
    durationMin: request.duration_min ?? null,
    durationMax: request.duration_max ?? null,
    assignedTo: Uuid.optional().parse(request.assigned_to) ?? null,
    reviewedBy: Uuid.optional().parse(request.reviewed_by) ?? null,
    reviewStatus: z.array(ReviewStatus).parse(request.review_status),
    autoFailSuspected: request.auto_fail_suspected ?? null,
    seenOperators: caller?.sees_only?.operator_ids ?? null,
  };
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
