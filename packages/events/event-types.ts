import { z } from 'zod';
import { Analysis, Outcome, Stage } from './analysis.ts';
import { eventType } from './envelope.ts';
import { Language, Role, Utterance } from './transcript.ts';

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

/** An entry of a frozen ZIP is the recording of a call. `subject` is the call. */
export const AudioExtractionRequested = eventType(
  'audio.extraction-requested.v1',
  z.object({
    attempt,
    archive_key: z.string(),
    archive_bytes: z.int().min(0),
    /** As the row names it; its extension says what the entry should be. */
    file_name: z.string(),
    /** What the archive's directory says of the entry. */
    entry: z.object({
      /** The name's bytes as they stand in the directory, in base64. */
      raw_name: z.string(),
      /** Where its local header begins. */
      offset: z.int().min(0),
      compressed_bytes: z.int().min(0),
      bytes: z.int().min(0),
      crc32: z.int().min(0),
      /** 0 stored, 8 deflated. */
      method: z.union([z.literal(0), z.literal(8)]),
      /** The general purpose bits. */
      flags: z.int().min(0),
    }),
  }),
);

/** The recording of a call is stored and fit to be heard. `subject` is the call. */
export const AudioStored = eventType(
  'audio.stored.v1',
  z.object({
    attempt,
    key: z.string(),
    format: z.enum(['wav', 'mp3', 'flac', 'ogg', 'aiff', 'au']),
    channels: z.int().min(1),
    /** Hertz. */
    sample_rate: z.number().positive(),
    /** Seconds. */
    duration: z.number().min(0),
    size_bytes: z.int().min(0),
    /** Who speaks on the first channel and who on the second. */
    left: Role,
    right: Role,
    segment_type: z.string(),
  }),
);

/** A recording is being heard. `subject` is the call. Told at the beginning and, of long ones, now and then. */
export const TranscriptionProgressed = eventType(
  'transcription.progressed.v1',
  z.object({
    attempt,
    /** Seconds of the recording that have been heard, and all of them. */
    heard: z.number().min(0),
    duration: z.number().min(0),
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
    /** Which speech engine heard it, with the name of its model. */
    engine: z.string().optional(),
    /** What whoever reads the transcript should know, in sentences: a silent channel, the same sound on both. */
    notes: z.array(z.string()).optional(),
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

/** A call was erased: whoever keeps anything of it removes that, and stops what is being done for it. `subject` is the call. */
export const CallErased = eventType('call.erased.v1', z.object({ erased_at: z.iso.datetime() }));

/**
 * Queued calls were canceled: what is still to be done for them is done for nobody. `subject` is their campaign. They keep
 * what they have.
 */
export const CallsCanceled = eventType('calls.canceled.v1', z.object({ calls: z.array(z.uuid()).min(1).max(1000) }));

/**
 * Calls that failed are to go on from where they failed, because what stood in their way has been mended. `subject` is the
 * call, with the attempt that failed (null: any), or the batch whose calls between two uuids could not be announced.
 */
export const RetryRequested = eventType(
  'calls.retry-requested.v1',
  z.union([z.object({ attempt: attempt.nullable() }), z.object({ first: z.uuid(), last: z.uuid() })]),
);

/** Something was done in a firm that its audit log tells. `subject` is what it was done to. */
export const AuditEntryCreated = eventType(
  'deed.done.v1',
  z.object({
    /** A user; for an API key its firm's API user. */
    actor: z.uuid(),
    action: z.enum([
      'campaign.created',
      'campaign.changed',
      'campaign.started',
      'campaign.paused',
      'campaign.completed',
      'campaign.canceled',
      'campaign.calls_added',
    ]),
    /** The network address that it was done from. */
    address: z.string(),
  }),
);

/** An API key is dead. `subject` is the uuid of the key record. */
export const ApiKeyRevoked = eventType('api-key.revoked.v1', z.object({ key_uuid: z.uuid() }));
