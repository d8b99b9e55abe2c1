import { CallItem } from '@call-analysis/api/calls';
import { countAnswers, isDoubtful, type Utterance } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { z } from 'zod';
import { type CallRow, type HistoryEntry, removedAt, failureWithHint } from './call-row.ts';
import type { Calls } from './call-store.ts';
import type { Recordings } from './recording-store.ts';
import type { Transcripts } from './transcript-store.ts';

const FIELDS = Object.keys(CallItem.shape) as (keyof typeof CallItem.shape)[];

/** A call of a list as the API shows it (docs/api.md, "Calls"). A column of the name of a field is that field. */
export function callItem(row: CallRow): z.infer<typeof CallItem> {
  const values: Record<(typeof FIELDS)[number], unknown> = {
    ...row,
    batch_id: row.batch_uuid,
    campaign_id: row.campaign_uuid,
    failure: failureWithHint(row),
    score_source: row.score === null ? null : row.reviewed_at === null ? 'machine' : 'reviewed',
  };
  const shown = FIELDS.map((name) => [name, values[name] instanceof Date ? values[name].toISOString() : values[name]]);
  return Object.fromEntries(shown) as z.infer<typeof CallItem>;
}

interface ReadDeps {
  readonly calls: Calls;
  readonly recordings: Recordings;
  readonly transcripts: Transcripts;
  readonly objects: Objects;
}

/** How long the presigned URL of a recording is valid (docs/api.md, "Calls"). */
const URL_SECONDS = 3600;

/**
 * A call with all details as the API shows it, save what the gateway adds: to the current one among the analyses, to their questions
 * the choices, and to a path its own address. With a campaign, Fault NOT_FOUND unless the call belongs to it.
 */
export async function readCall(deps: ReadDeps, firmUuid: string, uuid: string, campaignUuid: string | null = null) {
  const { call, analyses } = await deps.calls.withAnalyses(firmUuid, uuid);
  if (campaignUuid !== null && call.campaign_uuid !== campaignUuid) throw notFound('call');
  const [audio, utterances] = await Promise.all([
    call.source === 'audio' ? readAudio(deps, firmUuid, uuid) : null,
    deps.transcripts.find(firmUuid, uuid),
  ]);
  const created = { status: 'queued', at: call.created_at.toISOString(), detail: null };
  return {
    ...callItem(call),
    audio,
    audio_erased_at: audio === null ? removedAt(call, 'recording') : null,
    transcript:
      utterances === null
        ? null
        : { language: call.language, engine: call.engine, utterances: utterances.map(shownUtterance) },
    transcript_erased_at: utterances === null ? removedAt(call, 'transcript') : null,
    analysis: null,
    analyses: analyses.map((each) => ({ ...each, ...countAnswers(each.sections) })),
    history: [created, ...byTime(call.history)].map(({ status, at, detail }) => ({ status, at, detail })),
  };
}

async function readAudio({ recordings, objects }: ReadDeps, firmUuid: string, uuid: string) {
  const recording = await recordings.read(firmUuid, uuid);
  const stored = recording?.stored ?? null;
  if (recording === null || stored === null) return null;
  const { object_key: key, codec: _codec, size_bytes: size, sha256: _sha256, ...shown } = stored;
  return {
    file_name: recording.file_name,
    ...shown,
    size,
    left_channel: recording.left,
    right_channel: recording.right,
    url: await objects.presignGet(key, { expiresInSeconds: URL_SECONDS }),
    url_expires_at: new Date(Date.now() + URL_SECONDS * 1000),
  };
}

function shownUtterance({ role, text, start, end, confidence: known }: Utterance, index: number) {
  const confidence = known ?? null;
  return { index, role, text, start, end, confidence, doubtful: isDoubtful({ confidence }) };
}

/** Entries are stored in the order in which events arrive, which is not the order in which they happened. */
function byTime(history: readonly HistoryEntry[]): HistoryEntry[] {
  return history.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
