import { z } from 'zod';
import { Analysis, Outcome, Stage } from './analysis.ts';
import { eventType } from './envelope.ts';
import { Language, Utterance } from './transcript.ts';

/** Bodies over this many bytes travel by object key, because brokers refuse large messages. */
export const INLINE_BYTES = 256 * 1024;

/**
 * Every attempt to process a call has a number, from 1. What an earlier attempt says late is ignored,
 * so a retried call cannot be failed by its own past.
 */
const attempt = z.int().min(1);

/** Some calls of a batch stand in the catalogue and wait to be announced one by one. `subject` is the batch. */
export const CallsAccepted = eventType(
  'calls.accepted.v1',
  z.object({
    /** The uuids of the first and the last of them, inclusive, in the order of uuids. */
    first: z.uuid(),
    last: z.uuid(),
  }),
);

/** The utterances of a call are known. `subject` is the call. */
export const TranscriptReady = eventType(
  'transcript.ready.v1',
  z.object({
    attempt,
    source: z.enum(['audio', 'transcription']),
    /** Seconds, where known. */
    duration: z.number().min(0).nullable(),
    /** Null when nobody has recognised it yet. */
    language: Language.nullable(),
    /** Role tags as they were written, lower-case, each once: a hint for recognising the language. */
    tags: z.array(z.string()),
    segment_type: z.string(),
    transcript: z.union([
      z.object({ utterances: z.array(Utterance) }),
      /** Object key of a JSON document `{ "utterances": [...] }`, over INLINE_BYTES. */
      z.object({ key: z.string() }),
    ]),
  }),
);

/** A call has been analysed. `subject` is the call. */
export const CallAnalyzed = eventType(
  'call.analyzed.v1',
  z.object({
    attempt,
    analysis_uuid: z.uuid(),
    outcome: Outcome,
    language: Language.nullable(),
    /** Null when there was nothing to analyse (`no_speech`). Bounded well under INLINE_BYTES by the analyst. */
    analysis: Analysis.nullable(),
  }),
);

/** A stage has given up on a call. `subject` is the call. */
export const CallFailed = eventType(
  'call.failed.v1',
  z.object({
    attempt,
    stage: Stage,
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    /** How often the stage tried. */
    attempts: z.int().min(1),
  }),
);

/** An API key is dead. `subject` is the uuid of the key record. */
export const ApiKeyRevoked = eventType('api-key.revoked.v1', z.object({ key_uuid: z.uuid() }));
