import {
  DecidedBy,
  Direction,
  Evidence,
  Manipulation,
  Outcome,
  Resolution,
  ReviewedAnalysis,
  ReviewedAnswer,
  Role,
  Sentiment,
  Stage,
  Usage,
} from '@call-analysis/events';
import { z } from 'zod';
import { failureCodes } from './error-details.ts';
import { Count, pageFields, Time, Uuid } from './fields.ts';
import { nameSchema } from './json-schemas.ts';

/** docs/api.md, "Calls". */

const ShownAnswer = ReviewedAnswer.extend({
  choices: z
    .array(z.string())
    .nullable()
    .meta({ description: 'The labels that a review may choose among. Null while they cannot be read.' }),
});
const { element: ReviewedSection } = ReviewedAnalysis.shape.sections;
const ShownSection = ReviewedSection.extend({ questions: z.array(ShownAnswer) });
/** An analysis as the API shows it. */
export const ShownAnalysis = ReviewedAnalysis.extend({
  questions: Count,
  answered: Count.meta({
    description:
      'How many of the questions are answered, "does not apply" included. The score is that of these answers.',
  }),
  sections: z.array(ShownSection),
});

nameSchema(Stage, 'FailureStage');
nameSchema(Outcome, 'CallOutcome');
nameSchema(Evidence, 'Evidence');
nameSchema(ShownAnswer, 'Question');
nameSchema(ReviewedAnswer.shape.machine.unwrap().unwrap(), 'MachineAnswer');
nameSchema(ReviewedAnalysis.shape.scorecard, 'AnalysisScorecard');
nameSchema(ReviewedAnalysis.shape.analyst, 'Analyst');
nameSchema(ShownSection, 'Section');
nameSchema(Sentiment, 'Sentiment');
nameSchema(Sentiment.shape.start, 'Feelings');
nameSchema(Manipulation, 'Manipulation');
nameSchema(ReviewedAnalysis.shape.metrics, 'CallMetrics');
nameSchema(ReviewedAnalysis.shape.metrics.shape.talk_ratio, 'TalkRatio');
nameSchema(ReviewedAnalysis.shape.metrics.shape.longest_monologue, 'LongestMonologue');
nameSchema(ReviewedAnalysis.shape.metrics.shape.words, 'WordCounts');

export const CallStatus = z
  .enum(['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'])
  .meta({ id: 'CallStatus' });
export const CallSource = z.enum(['audio', 'transcription']);
/** Not an enumeration, because a service that stayed unavailable for too long adds a code of its own. */
const FailureCode = z.string().meta({
  description: Object.entries(failureCodes)
    .map(([stage, codes]) => `${stage}: ${codes.join(', ')}.`)
    .join(' '),
});

const Failure = z
  .object({ stage: Stage, code: FailureCode, message: z.string(), retryable: z.boolean(), attempts: Count })
  .meta({ id: 'CallFailure' });

const item = {
  uuid: Uuid,
  source: CallSource,
  status: CallStatus,
  outcome: Outcome.nullable(),
  attempt: z
    .int()
    .min(1)
    .meta({ description: 'How many times it was started: a retry or a new analysis is the next attempt.' }),
  partner_call_id: z.string().nullable(),
  client_phone_number: z.string(),
  operator_name: z.string(),
  operator_id: z.string().nullable(),
  operator_group_name: z.string().nullable(),
  direction: Direction.nullable(),
  segment_type: z.string(),
  start_time: Time,
  duration: z.number().min(0).nullable().meta({ description: 'Seconds.' }),
  disconnect_reason: z.string().nullable(),
  language: z.string().nullable(),
  score: z.number().min(0).max(100).nullable(),
  batch_id: Uuid.nullable(),
  campaign_id: Uuid.nullable(),
  failure: Failure.nullable(),
  created_at: Time,
  updated_at: Time,
  needs_review: Count.nullable().meta({
    description:
      'How many answers of the current analysis need a review; questions that wait for a language model have none. Null without an analysis.',
  }),
  questions: Count.nullable().meta({ description: 'How many questions the current analysis has.' }),
  answered: Count.nullable().meta({
    description: 'How many of them are answered, "does not apply" included. The score is that of these answers.',
  }),
  reviewed_at: Time.nullable().meta({ description: 'When a person reviewed the current analysis.' }),
  score_source: z
    .enum(['machine', 'reviewed'])
    .nullable()
    .meta({ description: 'Whether a person has reviewed the answers behind the score. Null without a score.' }),
  assigned_to: Uuid.nullable().meta({ description: 'The user whose task its review is.' }),
  sampled_by: Uuid.nullable().meta({ description: 'The sampling rule that has chosen it, the first of several.' }),
};

export const exampleCall = {
  uuid: '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301',
  source: 'transcription',
  status: 'completed',
  outcome: 'scored',
  attempt: 1,
  partner_call_id: 'crm-20931',
  client_phone_number: '+998901234567',
  operator_name: 'Aziza Karimova',
  operator_id: '17',
  operator_group_name: 'Evening',
  direction: 'inbound',
  segment_type: 'support',
  start_time: '2026-10-01T09:00:00Z',
  duration: 182,
  disconnect_reason: null,
  language: 'en',
  score: 87.5,
  batch_id: '019a4f3e-7b00-7aa1-8c11-0d9e4f6a7b02',
  campaign_id: null,
  failure: null,
  created_at: '2026-10-01T18:00:00.120Z',
  updated_at: '2026-10-01T18:00:01.873Z',
  needs_review: 0,
  questions: 1,
  answered: 1,
  reviewed_at: null,
  score_source: 'machine',
  assigned_to: null,
  sampled_by: null,
} as const;

const exampleAnalysis = {
  uuid: '019a4f3e-8000-7000-8000-000000000001',
  scorecard: { uuid: '019a4f3e-0000-7000-8000-000000000001', name: 'Default', revision: 1 },
  analyst: { name: 'model', version: '1', model: 'gpt-5-mini' },
  score: 87.5,
  auto_failed: false,
  auto_fail_suspected: false,
  questions: 1,
  answered: 1,
  sections: [
    {
      name: 'Opening',
      score: 87.5,
      questions: [
        {
          uuid: '019a4f3e-0000-7000-8000-000000000011',
          text: 'Did the operator greet the client?',
          weight: 1,
          answer: 'yes',
          decided_by: 'rule',
          confidence: 0.97,
          points: 1,
          max_points: 1,
          not_applicable: false,
          evidence: [{ utterance: 0, quote: 'Good morning', start_char: 0, end_char: 12 }],
          evidence_absent: false,
          needs_review: false,
          explanation: 'The operator said "Good morning".',
          machine: null,
          comment: null,
          choices: ['yes', 'no'],
        },
      ],
    },
  ],
  summary: 'The client asked where an order is; the operator found it.',
  reason: 'An order has not arrived.',
  resolution: 'resolved',
  topics: ['delivery'],
  sentiment: {
    operator: 0.4,
    client: 0.1,
    start: { operator: 0.3, client: -0.4 },
    end: { operator: 0.5, client: 0.6 },
  },
  manipulation: null,
  metrics: {
    talk_ratio: { operator: 0.5, client: 0.5, silence: null },
    interruptions: null,
    longest_monologue: { operator: 21, client: 14 },
    words: { operator: 120, client: 98 },
    questions_asked: 3,
  },
  usage: {
    requests: 1,
    input_tokens: 3120,
    cached_input_tokens: 2048,
    output_tokens: 640,
    cost: { amount: '0.0016', currency: 'USD' },
  },
  created_at: '2026-10-01T18:00:01.870Z',
  score_source: 'machine',
  review: null,
};

export const CallItem = z.object(item).meta({ id: 'Call', examples: [exampleCall] });

const Match = z
  .object({ utterance: Count, start_char: Count, end_char: Count })
  .meta({ id: 'Match', description: 'Characters are UTF-16 units. The end is exclusive.' });

const ListedCall = z
  .object({
    ...item,
    matches: z.array(Match).optional().meta({ description: 'With `q`: the first three places where its words occur.' }),
  })
  .meta({ id: 'ListedCall', examples: [exampleCall] });

export const CallPage = z
  .object({
    ...pageFields(ListedCall),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `cursor` to get the next page. Null on the last page.' }),
    count_is_estimate: z.boolean().meta({ description: 'True when so many calls match that `count` is an estimate.' }),
    words_until: z.iso.datetime().optional().meta({
      description:
        'With `q`, while words of calls are not indexed yet: the calls that ended before this time are found by their words.',
    }),
  })
  .meta({
    id: 'CallPage',
    examples: [{ count: 1, count_is_estimate: false, items: [exampleCall], next_cursor: null }],
  });

nameSchema(ShownAnalysis, 'Analysis');
nameSchema(DecidedBy, 'DecidedBy');
nameSchema(Usage, 'ModelUsage');
nameSchema(Usage.shape.cost.unwrap(), 'Cost');
nameSchema(Resolution, 'CallResolution');
nameSchema(ReviewedAnalysis.shape.review.unwrap().unwrap(), 'Review');

const Recording = z
  .object({
    file_name: z.string(),
    format: z.string(),
    channels: z.int().min(1),
    sample_rate: z.int().min(1).meta({ description: 'Hertz.' }),
    duration: z.number().min(0).meta({ description: 'Seconds.' }),
    size: Count.meta({ description: 'Bytes.' }),
    left_channel: Role.nullable().meta({ description: 'Who speaks on the left channel.' }),
    right_channel: Role.nullable(),
    url: z.url().meta({ description: 'A signed URL of the recording. It supports Range.' }),
    url_expires_at: Time,
  })
  .meta({ id: 'Recording' });

const exampleUtterance = { start: null, end: null, confidence: null, doubtful: false };
export const Utterance = z
  .object({
    index: Count,
    role: Role,
    text: z.string(),
    start: z.number().nullable().meta({ description: 'Seconds. Null for uploaded transcripts.' }),
    end: z.number().nullable().meta({ description: 'Seconds. Null for uploaded transcripts.' }),
    confidence: z.number().min(0).max(1).nullable().meta({
      description: 'How sure the speech engine is of the words. Null where it does not tell.',
    }),
    doubtful: z.boolean().meta({
      description:
        'Whether the confidence is so low that the words are likely to be wrong. Answers that quote them need review.',
    }),
  })
  .meta({ id: 'Utterance' });

const Transcript = z
  .object({ language: z.string().nullable(), engine: z.string().nullable(), utterances: z.array(Utterance) })
  .meta({ id: 'Transcript' });

const StatusChange = z
  .object({ status: CallStatus, at: Time, detail: z.string().nullable() })
  .meta({ id: 'StatusChange' });

export const CallDetail = z
  .object({
    ...item,
    audio: Recording.nullable(),
    audio_erased_at: Time.nullable().meta({ description: 'When the retention of the firm removed the recording.' }),
    transcript: Transcript.nullable(),
    transcript_erased_at: Time.nullable().meta({
      description: 'When the retention of the firm removed the transcript.',
    }),
    analysis: ShownAnalysis.nullable().meta({ description: 'The current one of `analyses`.' }),
    analyses: z
      .array(ShownAnalysis)
      .meta({ description: 'Newest first, each with the scorecard revision that it used.' }),
    history: z.array(StatusChange),
  })
  .meta({
    id: 'CallDetail',
    examples: [
      {
        ...exampleCall,
        audio: null,
        audio_erased_at: null,
        transcript_erased_at: null,
        transcript: {
          language: 'en',
          engine: null,
          utterances: [
            { ...exampleUtterance, index: 0, role: 'operator', text: 'Good morning, how can I help?' },
            { ...exampleUtterance, index: 1, role: 'client', text: 'Where is my order?' },
          ],
        },
        analysis: exampleAnalysis,
        analyses: [exampleAnalysis],
        history: [
          { status: 'queued', at: '2026-10-01T18:00:00.120Z', detail: null },
          { status: 'completed', at: '2026-10-01T18:00:01.873Z', detail: null },
        ],
      },
    ],
  });

const RemovedItems = z.object({ what: z.string(), count: Count }).meta({ id: 'RemovedItems' });

export const ErasureReceipt = z.object({ uuid: Uuid, erased_at: Time, removed: z.array(RemovedItems) }).meta({
  id: 'ErasureReceipt',
  examples: [{ uuid: exampleCall.uuid, erased_at: '2026-10-02T08:00:00.000Z', removed: [{ what: 'call', count: 1 }] }],
});

/** The transcript of a call as JSON. Other formats are files. */
export const TranscriptDocument = z.object(Transcript.shape).meta({
  id: 'TranscriptDocument',
  examples: [
    {
      language: 'en',
      engine: 'moonshine-tiny',
      utterances: [{ ...exampleUtterance, index: 0, role: 'operator', text: 'Good morning.', start: 0.4, end: 1.2 }],
    },
  ],
});

const Peak = z.int().min(0).max(100);

export const Playback = z
  .object({
    url: z.url().meta({ description: 'A signed URL that browsers play. It supports Range.' }),
    url_expires_at: Time,
    format: z.string().meta({ description: 'The extension of the format of the bytes at the URL.' }),
    converted: z.boolean().meta({ description: 'The URL serves a copy, because browsers do not play the recording.' }),
    duration: z.number().min(0).meta({ description: 'Seconds.' }),
    peaks: z
      .object({
        per_second: z.number().positive(),
        left: z.array(Peak).meta({ description: 'The largest amplitude of each span, from 0 to 100.' }),
        right: z.array(Peak),
      })
      .meta({ id: 'Peaks' }),
  })
  .meta({
    id: 'Playback',
    examples: [
      {
        url: 'http://127.0.0.1:8080/objects/playback/1a2b3c4d/019a4f3e.wav?signature=x',
        url_expires_at: '2026-10-01T19:00:00.000Z',
        format: 'wav',
        converted: true,
        duration: 0.2,
        peaks: { per_second: 20, left: [0, 12, 40, 3], right: [2, 0, 0, 31] },
      },
    ],
  });
