import type { CallRow, HistoryEntry, Store } from './store/index.ts';
import { parseTranscript } from './rows/transcript-format.ts';

export interface CallDetail {
  readonly call: CallRow;
  readonly transcript: {
    readonly language: string | null;
    readonly engine: string | null;
    readonly utterances: readonly { role: string; text: string; start: number | null; end: number | null }[];
  } | null;
  /** JSON texts, newest first. */
  readonly analyses: readonly string[];
  readonly history: readonly HistoryEntry[];
}

/** Everything that is known of one call. */
export async function readCall(store: Store, firmUuid: string, uuid: string): Promise<CallDetail> {
  const [call, transcript, analyses] = await Promise.all([
    store.calls.get(firmUuid, uuid),
    store.calls.transcriptOf(firmUuid, uuid),
    store.calls.analysesOf(firmUuid, uuid),
  ]);
  const created = { status: 'queued', at: call.created_at.toISOString(), detail: null };
  return {
    call,
    transcript:
      transcript === null || transcript.taggedText === null
        ? null
        : { language: call.language, engine: transcript.engine, utterances: utterances(transcript.taggedText) },
    analyses,
    history: [created, ...call.history],
  };
}

function utterances(taggedText: string) {
  const parsed = parseTranscript(taggedText);
  if ('fault' in parsed) return [];
  return parsed.utterances.map(({ role, text }) => ({ role, text, start: null, end: null }));
}
