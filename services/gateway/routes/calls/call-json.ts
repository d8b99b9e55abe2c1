import { isDoubtful } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { ingest } from '@call-analysis/proto';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import type { GetCallReply } from '@call-analysis/proto/ingest/v1/GetCallReply';
import type { GetCallRequestInit } from '@call-analysis/proto/ingest/v1/GetCallRequest';
import type { Client } from '@call-analysis/rpc';
import type { AddChoices } from './answer-choices.ts';

interface StoredTranscript {
  language: string | null;
  engine: string | null;
  utterances: { role: string; text: string; start: number | null; end: number | null; confidence?: number }[];
}

/** Everything that ingest knows of a call, also where that does not fit into a message. */
export async function readCall(catalogue: Calls, request: GetCallRequestInit): Promise<GetCallReply> {
  const reply = await catalogue.getCall(request);
  if (reply.is_large !== true) return reply;
  const pieces: Buffer[] = [];
  for await (const { data } of catalogue.readLargeCall(request)) pieces.push(data);
  const documents = JSON.parse(Buffer.concat(pieces).toString()) as Pick<
    GetCallReply,
    'transcript_json' | 'analyses_json'
  >;
  return { ...reply, ...documents };
}

/** The RPCs that read one call. */
export type Calls = Pick<Client<typeof ingest>, 'getCall' | 'readLargeCall'>;

/** A call as lists show it. No field is missing; unknown ones are null (docs/api.md, "Calls"). */
export function callItem(call: Call) {
  return {
    uuid: call.uuid,
    source: call.source,
    status: call.status,
    outcome: call.outcome ?? null,
    partner_call_id: call.partner_call_id ?? null,
    client_phone_number: call.client_phone_number,
    operator_name: call.operator_name,
    operator_id: call.operator_id ?? null,
    operator_group_name: call.operator_group_name ?? null,
    direction: call.direction ?? null,
    segment_type: call.segment_type,
    start_time: call.start_time,
    duration: call.duration ?? null,
    disconnect_reason: call.disconnect_reason ?? null,
    language: call.language ?? null,
    score: call.score ?? null,
    batch_id: call.batch_uuid ?? null,
    campaign_id: call.campaign_uuid ?? null,
    failure: failureOf(call),
    created_at: call.created_at,
    updated_at: call.updated_at,
    needs_review: call.needs_review ?? null,
    questions: call.questions ?? null,
    answered: call.answered ?? null,
    reviewed_at: call.reviewed_at ?? null,
    score_source: call.score_source ?? null,
    assigned_to: call.assigned_to ?? null,
    sampled_by: call.sampled_by ?? null,
  };
}

/** A call of a list; with a search also where its words occur. */
export function listedCall(call: Call) {
  const { matches_json: matches } = call;
  return matches === undefined ? callItem(call) : { ...callItem(call), matches: JSON.parse(matches) as unknown };
}

/** One call with all details. ingest returns the analyses newest first, and the newest is the current one. */
export async function callDetail(
  reply: GetCallReply,
  absolute: (url: string) => string,
  withChoices: (analyses: readonly string[]) => ReturnType<AddChoices>,
) {
  if (reply.call === null) throw new Fault('internal', 'INTERNAL', 'ingest returned no call.');
  const analyses = await withChoices(reply.analyses_json);
  return {
    ...callItem(reply.call),
    audio: audioOf(reply, absolute),
    audio_erased_at: reply.audio_erased_at ?? null,
    transcript: reply.transcript_json === undefined ? null : transcriptOf(reply.transcript_json),
    transcript_erased_at: reply.transcript_erased_at ?? null,
    analysis: analyses[0] ?? null,
    analyses,
    history: reply.history.map(({ status, at, detail }) => ({ status, at, detail: detail ?? null })),
  };
}

function failureOf({ failure }: Call) {
  if (failure === null) return null;
  const { stage, code, message, retryable, attempts } = failure;
  return { stage, code, message, retryable, attempts };
}

function audioOf({ audio }: GetCallReply, absolute: (url: string) => string) {
  if (audio === null) return null;
  const { file_name, format, channels, sample_rate, duration, size, url, url_expires_at } = audio;
  return {
    file_name,
    format,
    channels,
    sample_rate,
    duration,
    size,
    left_channel: audio.left_channel ?? null,
    right_channel: audio.right_channel ?? null,
    url: absolute(url),
    url_expires_at,
  };
}

/** The transcript as the API shows it. */
export function transcriptOf(json: string) {
  const { language, engine, utterances }: StoredTranscript = JSON.parse(json);
  return {
    language,
    engine,
    utterances: utterances.map(({ role, text, start, end, confidence = null }, index) => ({
      index,
      role,
      text,
      start,
      end,
      confidence,
      doubtful: isDoubtful({ confidence }),
    })),
  };
}
