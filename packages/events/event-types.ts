import { z } from 'zod';
import { Outcome, PublishedAnalysis, Stage } from './analysis.ts';
import { eventType } from './envelope.ts';
import { Language, Role, Utterance } from './transcript.ts';
import { Uuid } from './uuid.ts';

/** Bodies over this many bytes are passed on by object key, because brokers refuse large messages. */
export const INLINE_BYTES = 256 * 1024;

/**
 * The attempts to process a call are numbered from 1. Late results of an earlier attempt are ignored, so they cannot
 * fail a call that is being retried.
 */
const attempt = z.int().min(1);

/** The subject is a call. */
const ofCall = { subjectField: 'call_uuid' };

/** Calls of a batch were added to the catalogue. Their own events are published later. `subject` is the batch. */
export const CallsAccepted = eventType(
  'calls.accepted.v1',
  z.object({
    /** The first and the last uuid of a range of calls, inclusive, in the order of uuids. */
    first: Uuid,
    last: Uuid,
  }),
);

/** The recording of a call is to be extracted from a ZIP archive that no longer changes. */
export const AudioExtractionRequested = eventType(
  'audio.extraction-requested.v1',
  z.object({
    attempt,
    archive_key: z.string(),
    archive_bytes: z.int().min(0),
    /** The name in the CSV row. Its extension is the expected format of the entry. */
    file_name: z.string(),
    /** The entry in the archive's central directory. */
    entry: z.object({
      /** The bytes of the name in the directory, in base64. */
      raw_name: z.string(),
      /** Of the local header in the archive. */
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
  ofCall,
);

/** What analysts may know about a call. Absent or null when unknown. */
const metadata = {
  operator_name: z.string().nullable().optional(),
  direction: z.enum(['inbound', 'outbound']).nullable().optional(),
  start_time: z.iso.datetime().optional(),
};

/** The recording of a call is stored and can be transcribed. */
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
    /** The role on the first channel and on the second. */
    left: Role,
    right: Role,
    segment_type: z.string(),
    ...metadata,
    /** Personal data in the transcript is replaced before it is stored anywhere. Absent means no. */
    redact: z.boolean().optional(),
  }),
  ofCall,
);

/** A recording is being transcribed. Published at the start and, for long recordings, from time to time. */
export const TranscriptionProgressed = eventType(
  'transcription.progressed.v1',
  z.object({
    attempt,
    /** Seconds that have been transcribed, of `duration` seconds. */
    heard: z.number().min(0),
    duration: z.number().min(0),
  }),
  ofCall,
);

/** The transcription of a call waits for something outside the call, such as the speech server. */
export const TranscriptionWaiting = eventType(
  'transcription.waiting.v1',
  z.object({
    attempt,
    /** The reason for waiting, as a sentence for the history of the call. */
    reason: z.string(),
  }),
  ofCall,
);

/** A call has its transcript. */
export const TranscriptReady = eventType(
  'transcript.ready.v1',
  z.object({
    attempt,
    /** The kind of upload. */
    source: z.enum(['audio', 'transcription']),
    /** Seconds; null if unknown. */
    duration: z.number().min(0).nullable(),
    /** Null if not recognised yet. */
    language: Language.nullable(),
    /** The role tags of an uploaded transcript, lower-case, each once: a hint for recognising the language. */
    tags: z.array(z.string()),
    segment_type: z.string(),
    /** The scorecard that the call is analyzed by; absent: the active one of its segment type. */
    scorecard_uuid: Uuid.optional(),
    ...metadata,
    /** The speech engine, with the name of its model. */
    engine: z.string().optional(),
    /** Seconds of speech that the engine transcribed for this event, both channels together. */
    speech_seconds: z.number().min(0).optional(),
    /** Sentences for readers of the transcript, such as that a channel is silent or that both have the same sound. */
    notes: z.array(z.string()).optional(),
    transcript: z.union([
      z.object({ utterances: z.array(Utterance) }),
      /** Over INLINE_BYTES: the object key of a JSON document `{ "utterances": [...] }`. */
      z.object({ key: z.string() }),
    ]),
  }),
  ofCall,
);

/** A call was analysed. */
export const CallAnalyzed = eventType(
  'call.analyzed.v1',
  z.object({
    attempt,
    analysis_uuid: Uuid,
    outcome: Outcome,
    language: Language.nullable(),
    /**
     * Null when there was nothing to analyse (`no_speech`). The limits of scorecards keep it well under INLINE_BYTES.
     */
    analysis: PublishedAnalysis.nullable(),
    /** A sentence for the history of the call, such as that its channels seem to be swapped. */
    note: z.string().nullable().optional(),
  }),
  ofCall,
);

/** The analysis of a call waits for something outside the call, such as the server of the language model. */
export const AnalysisWaiting = eventType(
  'analysis.waiting.v1',
  z.object({
    attempt,
    /** The reason for waiting, as a sentence for the history of the call. */
    reason: z.string(),
  }),
  ofCall,
);

/** A stage has given up on a call. */
export const CallFailed = eventType(
  'call.failed.v1',
  z.object({
    attempt,
    stage: Stage,
    code: z.string(),
    message: z.string(),
    /** Whether a retry of the call can succeed. */
    retryable: z.boolean(),
    /** How often the stage tried. */
    attempts: z.int().min(1),
  }),
  ofCall,
);

/**
 * The state of a call after it has ended or was reviewed, without text of the conversation and without phone numbers.
 */
const CallState = z.object({
  status: z.enum(['completed', 'failed']),
  outcome: Outcome.nullable(),
  /** 0 to 100, or null. */
  score: z.number().nullable(),
  segment_type: z.string(),
  partner_call_id: z.string().nullable(),
  batch_uuid: Uuid.nullable(),
  campaign_uuid: Uuid.nullable(),
  /** As in the list of calls; null for a completed call. */
  failure: z
    .object({
      stage: z.string(),
      code: z.string(),
      message: z.string(),
      retryable: z.boolean(),
      attempts: z.int(),
    })
    .nullable(),
});

/** The catalogue shows a call as completed or failed. Published by the catalogue, once for each attempt. */
export const CallEnded = eventType('call.ended.v1', CallState, ofCall);

/** A person reviewed the analysis of a call. The score is the reviewed one. */
export const CallReviewed = eventType('call.reviewed.v1', CallState, ofCall);

const ByStatus = z.record(z.string(), z.int().min(0));

/** The last call of a batch has ended. Published once for each batch, which is the subject. */
export const BatchFinished = eventType('batch.finished.v1', z.object({ by_status: ByStatus }));

/**
 * A campaign was completed or canceled, and the last of its calls has ended. Published once for each campaign, which is
 * the subject.
 */
export const CampaignFinished = eventType(
  'campaign.finished.v1',
  z.object({ status: z.enum(['completed', 'canceled']), by_status: ByStatus }),
);

/**
 * A firm's budget of the month for language models is spent. `subject` is the firm. Older processes say nothing of the
 * budget.
 */
export const BudgetSpent = eventType(
  'budget.spent.v1',
  z.object({
    budget: z
      .object({
        /** In UTC: `2026-11`. */
        month: z.string().regex(/^\d{4}-\d{2}$/),
        /** The limit, and what was spent in that month so far: decimal numbers. */
        amount: z.string(),
        spent: z.string(),
        currency: z.string(),
        when_spent: z.enum(['wait', 'fallback']),
        /** When the next month begins. */
        resets_at: z.iso.datetime(),
      })
      .optional(),
  }),
);

/** A call was erased. Every service removes its data about the call and stops working on it. */
export const CallErased = eventType('call.erased.v1', z.object({ erased_at: z.iso.datetime() }), ofCall);

/** The recording of a call was removed by the retention of its firm; the call stays. */
export const RecordingErased = eventType('recording.erased.v1', z.object({ erased_at: z.iso.datetime() }), ofCall);

/**
 * Queued calls were canceled: no service starts further work on them. They keep the results they have. `subject` is
 * their campaign.
 */
export const CallsCanceled = eventType('calls.canceled.v1', z.object({ calls: z.array(Uuid).min(1).max(1000) }));

/**
 * Failed calls are to continue at the stage that failed, because its cause was removed. `subject` is the call, with the
 * attempt that failed (null for any), or the batch, with the range of calls for which no events could be published.
 */
export const RetryRequested = eventType(
  'calls.retry-requested.v1',
  z.union([z.object({ attempt: attempt.nullable() }), z.object({ first: Uuid, last: Uuid })]),
);

/** An action for the firm's audit log. `subject` is the object of the action. */
export const AuditEntryCreated = eventType(
  'deed.done.v1',
  z.object({
    /** A user. For an API key, its firm's API user. */
    actor: Uuid,
    action: z.enum([
      'campaign.created',
      'campaign.changed',
      'campaign.started',
      'campaign.paused',
      'campaign.completed',
      'campaign.canceled',
      'campaign.calls_added',
    ]),
    /** The network address of the actor. */
    address: z.string(),
  }),
);

/**
 * An action for the firm's audit log, as `deed.done.v1`, which stays for campaigns. Any action can be named, so that
 * processes of different versions read each other's entries. `subject` is what the action was done to.
 */
export const AuditEntryAdded = eventType(
  'audit.entry-added.v1',
  z.object({
    /** A user; for an API key, its firm's API user. `system` for what a schedule does. */
    actor: z.string().min(1).max(64),
    /** Two names: `call.erased`. */
    action: z
      .string()
      .max(64)
      .regex(/^[a-z_]+\.[a-z_]+$/),
    /** The name of the part of the subject that the action concerns, if that part has no uuid. */
    part: z.string().min(1).max(255).optional(),
    /** The network address of the actor, or `local`. */
    address: z.string().max(128),
  }),
);

/** How many of one kind of thing were removed, in the words of the receipt. */
const RemovedThings = z.array(z.object({ what: z.string().max(64), count: z.int().min(0) }));

/**
 * A firm was removed. Every service removes its data of the firm, stops working on it, and then says so by
 * `firm.data-removed.v1`. Published again while a service has not. `subject` is the firm.
 */
export const FirmRemoved = eventType(
  'firm.removed.v1',
  z.object({
    removed_at: z.iso.datetime(),
    /** ISO 3166-1 alpha-2, upper case: the keys of uploaded files begin with it. */
    country: z.string(),
  }),
);

/** A service has no data of a removed firm any more. `subject` is the firm. */
export const FirmDataRemoved = eventType(
  'firm.data-removed.v1',
  z.object({ service: z.string().max(64), removed: RemovedThings, finished_at: z.iso.datetime() }),
);

/** An API key was revoked. `subject` is the uuid of the key record. */
export const ApiKeyRevoked = eventType('api-key.revoked.v1', z.object({ key_uuid: Uuid }));
