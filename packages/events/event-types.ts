import { z } from 'zod';
import { Outcome, PublishedAnalysis, Stage } from './analysis.ts';
import { declareEvent, Uuid } from './envelope.ts';
import { Language, Role, Utterance } from './transcript.ts';

/** Bodies over this many bytes are passed on by object key, because brokers refuse large messages. */
export const INLINE_BYTES = 256 * 1024;

/** Late results of an earlier attempt are ignored, so they cannot fail a call that is being retried. */
const attempt = z.int().min(1).describe('The number of the attempt to process the call, from 1.');

const ofCall = { subject: 'call', subjectField: 'call_uuid' };

export const CallsAccepted = declareEvent(
  'calls.accepted.v1',
  z.object({
    first: Uuid.describe('The first uuid of a range of calls, in the order of uuids.'),
    last: Uuid.describe('The last uuid of the range, inclusive.'),
  }),
  {
    description: 'Calls of a batch were added to the catalogue. Their own events are published later.',
    subject: 'batch',
    publishers: ['ingest'],
    audience: 'internal',
  },
);

export const AudioExtractionRequested = declareEvent(
  'audio.extraction-requested.v1',
  z.object({
    attempt,
    archive_key: z.string().describe('The object key of the archive.'),
    archive_bytes: z.int().min(0),
    file_name: z.string().describe('The name in the CSV row. Its extension is the expected format of the entry.'),
    entry: z
      .object({
        raw_name: z.string().describe('The bytes of the name in the directory, in base64.'),
        offset: z.int().min(0).describe('Of the local header in the archive.'),
        compressed_bytes: z.int().min(0),
        bytes: z.int().min(0),
        crc32: z.int().min(0),
        method: z.union([z.literal(0), z.literal(8)]).describe('0 stored, 8 deflated.'),
        flags: z.int().min(0).describe('The general purpose bits.'),
      })
      .describe("The entry in the archive's central directory."),
  }),
  {
    ...ofCall,
    description: 'The recording of a call is to be extracted from a ZIP archive that no longer changes.',
    publishers: ['ingest'],
    audience: 'internal',
  },
);

export const Direction = z.enum(['inbound', 'outbound']);
export const AudioFormat = z.enum(['wav', 'mp3', 'flac', 'ogg', 'aiff', 'au']);
/** What happens to calls once the budget of the month is spent: they wait for the next, or rules and fallbacks answer. */
export const WhenSpent = z.enum(['wait', 'fallback']);

/** What analysts may know about a call. */
const metadata = {
  operator_name: z.string().nullable().optional().describe("From the call's metadata. Absent or null when unknown."),
  direction: Direction.nullable().optional().describe('Absent or null when unknown.'),
  start_time: z.iso.datetime().optional().describe('Absent when unknown.'),
};

export const AudioStored = declareEvent(
  'audio.stored.v1',
  z.object({
    attempt,
    key: z.string().describe('The object key of the recording.'),
    format: AudioFormat,
    channels: z.int().min(1),
    sample_rate: z.number().positive().describe('Hertz.'),
    duration: z.number().min(0).describe('Seconds.'),
    size_bytes: z.int().min(0),
    left: Role.describe('The role on the first channel.'),
    right: Role.describe('The role on the second channel.'),
    segment_type: z.string(),
    ...metadata,
    redact: z
      .boolean()
      .optional()
      .describe('Personal data in the transcript is replaced before it is stored anywhere. Absent means no.'),
  }),
  {
    ...ofCall,
    description: 'The recording of a call is stored and can be transcribed.',
    publishers: ['ingest'],
    audience: 'internal',
  },
);

export const TranscriptionProgressed = declareEvent(
  'transcription.progressed.v1',
  z.object({
    attempt,
    heard: z.number().min(0).describe('Seconds that have been transcribed, of `duration` seconds.'),
    duration: z.number().min(0).describe('Seconds.'),
  }),
  {
    ...ofCall,
    description:
      'A recording is being transcribed. Published at the start and, for long recordings, from time to time.',
    publishers: ['transcription'],
    audience: 'internal',
  },
);

export const TranscriptionWaiting = declareEvent(
  'transcription.waiting.v1',
  z.object({
    attempt,
    reason: z.string().describe('The reason for waiting, as a sentence for the history of the call.'),
  }),
  {
    ...ofCall,
    description: 'The transcription of a call waits for something outside the call, such as the speech server.',
    publishers: ['transcription'],
    audience: 'internal',
  },
);

export const TranscriptReady = declareEvent(
  'transcript.ready.v1',
  z.object({
    attempt,
    source: z.enum(['audio', 'transcription']).describe('The kind of upload.'),
    duration: z.number().min(0).nullable().describe('Seconds; null if unknown.'),
    language: Language.nullable().describe('Null if not recognised yet.'),
    tags: z
      .array(z.string())
      .describe('The role tags of an uploaded transcript, lower-case, each once: a hint for recognising the language.'),
    segment_type: z.string(),
    scorecard_uuid: Uuid.optional().describe(
      'The scorecard that the call is analyzed by; absent: the active one of its segment type.',
    ),
    ...metadata,
    engine: z.string().optional().describe('The speech engine, with the name of its model.'),
    speech_seconds: z
      .number()
      .min(0)
      .optional()
      .describe('Seconds of speech that the engine transcribed for this event, both channels together.'),
    notes: z
      .array(z.string())
      .optional()
      .describe(
        'Sentences for readers of the transcript, such as that a channel is silent or that both have the same sound.',
      ),
    transcript: z.union([
      z.object({ utterances: z.array(Utterance) }),
      z.object({
        key: z
          .string()
          .describe(
            `Of a transcript over ${INLINE_BYTES} bytes: the object key of a JSON document { "utterances": [...] }.`,
          ),
      }),
    ]),
  }),
  {
    ...ofCall,
    description: 'A call has its transcript. Published by ingest for an uploaded transcript.',
    publishers: ['ingest', 'transcription'],
    audience: 'internal',
  },
);

export const CallAnalyzed = declareEvent(
  'call.analyzed.v1',
  z.object({
    attempt,
    analysis_uuid: Uuid,
    outcome: Outcome,
    language: Language.nullable(),
    // The limits of scorecards keep it well under INLINE_BYTES.
    analysis: PublishedAnalysis.nullable().describe('Null when there was nothing to analyse (`no_speech`).'),
    note: z
      .string()
      .nullable()
      .optional()
      .describe('A sentence for the history of the call, such as that its channels seem to be swapped.'),
  }),
  {
    ...ofCall,
    description: 'A call was analysed.',
    publishers: ['analysis'],
    audience: 'internal',
  },
);

export const AnalysisWaiting = declareEvent(
  'analysis.waiting.v1',
  z.object({
    attempt,
    reason: z.string().describe('The reason for waiting, as a sentence for the history of the call.'),
  }),
  {
    ...ofCall,
    description:
      'The analysis of a call waits for something outside the call, such as the server of the language model.',
    publishers: ['analysis'],
    audience: 'internal',
  },
);

export const CallFailed = declareEvent(
  'call.failed.v1',
  z.object({
    attempt,
    stage: Stage,
    code: z.string(),
    message: z.string(),
    retryable: z.boolean().describe('Whether a retry of the call can succeed.'),
    attempts: z.int().min(1).describe('How often the stage tried.'),
  }),
  {
    ...ofCall,
    description: 'A stage has given up on a call.',
    publishers: ['audio', 'transcription', 'analysis'],
    audience: 'internal',
  },
);

/** The state of a call after it has ended or was reviewed, without text of the conversation and without phone numbers. */
const CallState = z.object({
  status: z.enum(['completed', 'failed']),
  outcome: Outcome.nullable().describe('Of a completed call: whether it has a score. Null for a failed call.'),
  score: z.number().nullable().describe('0 to 100; null where there is none.'),
  segment_type: z.string().describe("The firm's segment type that the call belongs to."),
  partner_call_id: z.string().nullable().describe("The call's id in the partner's system, as it was uploaded."),
  batch_uuid: Uuid.nullable().describe('The batch that the call was uploaded in.'),
  campaign_uuid: Uuid.nullable().describe('The campaign that the call belongs to.'),
  failure: z
    .object({
      stage: z.string().describe('The stage that gave up: `extraction`, `transcription` or `analysis`.'),
      code: z.string().describe('The reason, for programs. docs/api.md lists the codes; new ones may be added.'),
      message: z.string().describe('The reason and what to do, for people.'),
      retryable: z.boolean().describe('Whether a retry of the call can succeed.'),
      attempts: z.int().describe('How often the stage tried.'),
    })
    .nullable()
    .describe('As in the list of calls; null for a completed call.'),
});

export const CallEnded = declareEvent('call.ended.v1', CallState, {
  ...ofCall,
  description:
    'The catalogue shows a call as completed or failed: its result can be read by the API. Published once for each attempt, so a call that is retried ends again.',
  publishers: ['ingest'],
  audience: 'public',
});

export const CallReviewed = declareEvent('call.reviewed.v1', CallState, {
  ...ofCall,
  description: 'A person reviewed the analysis of a call. The score is the reviewed one.',
  publishers: ['ingest'],
  audience: 'public',
});

const ByStatus = z
  .record(z.string(), z.int().min(0))
  .describe('The number of calls by their status, without calls that were erased before.');

export const BatchFinished = declareEvent('batch.finished.v1', z.object({ by_status: ByStatus }), {
  description: 'The last call of a batch has ended. Published once for each batch.',
  subject: 'batch',
  publishers: ['ingest'],
  audience: 'public',
});

export const CampaignFinished = declareEvent(
  'campaign.finished.v1',
  z.object({
    status: z.enum(['completed', 'canceled']).describe('How the campaign was ended.'),
    by_status: ByStatus,
  }),
  {
    description:
      'A campaign was completed or canceled, and the last of its calls has ended. Published once for each campaign.',
    subject: 'campaign',
    publishers: ['ingest'],
    audience: 'public',
  },
);

export const BudgetSpent = declareEvent(
  'budget.spent.v1',
  z.object({
    // Older processes say nothing of the budget.
    budget: z
      .object({
        month: z
          .string()
          .regex(/^\d{4}-\d{2}$/)
          .describe('In UTC: `2026-11`.'),
        amount: z.string().describe('The limit: a decimal number.'),
        spent: z.string().describe('What was spent in that month so far: a decimal number.'),
        currency: z.string(),
        when_spent: WhenSpent,
        resets_at: z.iso.datetime().describe('When the next month begins.'),
      })
      .optional(),
  }),
  {
    description: "A firm's budget of the month for language models is spent.",
    subject: 'firm',
    publishers: ['analysis'],
    audience: 'internal',
  },
);

export const CallErased = declareEvent(
  'call.erased.v1',
  z.object({ erased_at: z.iso.datetime().describe('When the erasure was requested.') }),
  {
    ...ofCall,
    description: 'A call was erased. Whoever holds data about the call removes it and stops working on it.',
    publishers: ['ingest'],
    audience: 'public',
  },
);

export const RecordingErased = declareEvent(
  'recording.erased.v1',
  z.object({ erased_at: z.iso.datetime().describe('When the retention ended.') }),
  {
    ...ofCall,
    description:
      'The recording of a call was removed by the retention of its firm; the call stays. Whoever holds a copy of the recording removes it.',
    publishers: ['ingest'],
    audience: 'public',
  },
);

export const CallsCanceled = declareEvent(
  'calls.canceled.v1',
  z.object({
    calls: z.array(Uuid).min(1).max(1000),
    source: z
      .enum(['audio', 'transcription'])
      .default('audio')
      .describe('How all of them came: there is nothing to transcribe in uploaded transcripts.'),
  }),
  {
    description: 'Queued calls were canceled: no service starts further work on them. They keep the results they have.',
    subject: 'campaign',
    publishers: ['ingest'],
    audience: 'internal',
  },
);

export const RetryRequested = declareEvent(
  'calls.retry-requested.v1',
  z.union([
    z.object({ attempt: attempt.nullable().describe('The attempt of the call that failed; null for any.') }),
    z.object({
      first: Uuid.describe('The first uuid of a range of calls of the batch, for which no events could be published.'),
      last: Uuid.describe('The last uuid of the range, inclusive.'),
    }),
  ]),
  {
    description: 'Failed calls are to continue at the stage that failed, because its cause was removed.',
    subject: 'call or batch',
    publishers: ['admin'],
    audience: 'internal',
  },
);

export const AuditEntryCreated = declareEvent(
  'deed.done.v1',
  z.object({
    actor: Uuid.describe("A user. For an API key, its firm's API user."),
    action: z.enum([
      'campaign.created',
      'campaign.changed',
      'campaign.started',
      'campaign.paused',
      'campaign.completed',
      'campaign.canceled',
      'campaign.calls_added',
    ]),
    address: z.string().describe('The network address of the actor.'),
  }),
  {
    description: "An action on a campaign, for the firm's audit log.",
    subject: 'campaign',
    publishers: ['ingest'],
    audience: 'internal',
  },
);

export const AuditEntryAdded = declareEvent(
  'audit.entry-added.v1',
  z.object({
    actor: z
      .string()
      .min(1)
      .max(64)
      .describe("A user; for an API key, its firm's API user. `system` for what a schedule does."),
    action: z
      .string()
      .max(64)
      .regex(/^[a-z_]+\.[a-z_]+$/)
      .describe('Two names: `call.erased`.'),
    part: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('The name of the part of the subject that the action concerns, if that part has no uuid.'),
    address: z.string().max(128).describe('The network address of the actor, or `local`.'),
  }),
  {
    // Any action can be named, so that processes of different versions read each other's entries.
    description: "An action for the firm's audit log, as `deed.done.v1`, which stays for campaigns.",
    subject: 'object of the action',
    publishers: ['ingest', 'analysis', 'webhooks'],
    audience: 'internal',
  },
);

const RemovedThings = z
  .array(z.object({ what: z.string().max(64), count: z.int().min(0) }))
  .describe('How many of one kind of thing were removed, in the words of the receipt.');

export const FirmRemoved = declareEvent(
  'firm.removed.v1',
  z.object({
    removed_at: z.iso.datetime().describe('When the removal was requested.'),
    country: z.string().describe('ISO 3166-1 alpha-2, upper case: the keys of uploaded files begin with it.'),
  }),
  {
    description:
      'A firm was removed. Whoever holds data of the firm removes it and stops working on it. Each service then says so by `firm.data-removed.v1`; the event is published again while one has not.',
    subject: 'firm',
    publishers: ['key-management'],
    audience: 'public',
  },
);

export const FirmDataRemoved = declareEvent(
  'firm.data-removed.v1',
  z.object({ service: z.string().max(64), removed: RemovedThings, finished_at: z.iso.datetime() }),
  {
    description: 'A service has no data of a removed firm any more.',
    subject: 'firm',
    publishers: ['ingest', 'audio', 'transcription', 'analysis', 'webhooks'],
    audience: 'internal',
  },
);

export const ApiKeyRevoked = declareEvent('api-key.revoked.v1', z.object({ key_uuid: Uuid }), {
  description: 'An API key was revoked.',
  subject: 'API key',
  publishers: ['key-management'],
  audience: 'internal',
});
