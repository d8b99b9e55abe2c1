import type { ReviewedAnalysis, Utterance } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type CallRow, type HistoryEntry, removedAt } from './call-row.ts';
import type { Calls } from './call-store.ts';
import type { Recording, Recordings, StoredRecording } from './recording-store.ts';
import type { Transcripts } from './transcript-store.ts';

interface ReadDeps {
  readonly calls: Calls;
  readonly recordings: Recordings;
  readonly transcripts: Transcripts;
  readonly objects: Objects;
}

export interface CallDetail {
  readonly call: CallRow;
  /** Null until the recording is stored. */
  readonly audio:
    | (StoredRecording &
        Pick<Recording, 'fileName' | 'left' | 'right'> & { readonly url: string; readonly urlExpiresAt: Date })
    | null;
  readonly transcript: {
    readonly language: string | null;
    readonly engine: string | null;
    readonly utterances: readonly Utterance[];
  } | null;
  /** When the retention of the firm removed them; null when it did not. */
  readonly audioErasedAt: string | null;
  readonly transcriptErasedAt: string | null;
  /** Newest first. */
  readonly analyses: readonly ReviewedAnalysis[];
  readonly history: readonly HistoryEntry[];
}

/** How long the presigned URL of a recording is valid (docs/api.md, "Calls"). */
const URL_SECONDS = 3600;

/** Everything that is known of a call. With a campaign, Fault NOT_FOUND unless the call belongs to it. */
export async function readCall(
  deps: ReadDeps,
  firmUuid: string,
  uuid: string,
  campaignUuid: string | null = null,
): Promise<CallDetail> {
  const { call, analyses } = await deps.calls.withAnalyses(firmUuid, uuid);
  if (campaignUuid !== null && call.campaign_uuid !== campaignUuid) throw notFound('call');
  const [audio, utterances] = await Promise.all([
    call.source === 'audio' ? readAudio(deps, firmUuid, uuid) : null,
    deps.transcripts.find(firmUuid, uuid),
  ]);
  const created = { status: 'queued', at: call.created_at.toISOString(), detail: null };
  return {
    call,
    audio,
    transcript: utterances === null ? null : { language: call.language, engine: call.engine, utterances },
    audioErasedAt: audio === null ? removedAt(call, 'recording') : null,
    transcriptErasedAt: utterances === null ? removedAt(call, 'transcript') : null,
    analyses,
    history: [created, ...byTime(call.history)],
  };
}

async function readAudio(
  { recordings, objects }: ReadDeps,
  firmUuid: string,
  uuid: string,
): Promise<CallDetail['audio']> {
  const recording = await recordings.find(firmUuid, uuid);
  const stored = recording?.stored ?? null;
  if (recording === null || stored === null) return null;
  const urlExpiresAt = new Date(Date.now() + URL_SECONDS * 1000);
  const url = await objects.presignGet(stored.objectKey, { expiresInSeconds: URL_SECONDS });
  const { fileName, left, right } = recording;
  return { ...stored, fileName, left, right, url, urlExpiresAt };
}

/** Entries are stored in the order in which events arrive, which is not the order in which they happened. */
function byTime(history: readonly HistoryEntry[]): HistoryEntry[] {
  return history.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
