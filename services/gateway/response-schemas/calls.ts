import { Analysis, Outcome, Stage } from '@call-analysis/events';
import { z } from 'zod';
import { failureCodes } from './error-details.ts';
import { Count, pageOf, Time, Uuid } from './fields.ts';

/** api.md, section 6. */

export const callStatuses = ['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'] as const;
const Status = z.enum(callStatuses);
const Role = z.enum(['operator', 'client']);
/** No list of all: a part that was away for too long leaves its own. */
const FailureCode = z.string().meta({
  description: Object.entries(failureCodes)
    .map(([stage, codes]) => `Of ${stage}: ${codes.join(', ')}.`)
    .join(' '),
});

const item = {
  uuid: Uuid,
  source: z.enum(['audio', 'transcription']),
  status: Status,
  outcome: Outcome.nullable(),
  partner_call_id: z.string().nullable(),
  client_phone_number: z.string(),
  operator_name: z.string(),
  operator_id: z.string().nullable(),
  operator_group_name: z.string().nullable(),
  direction: z.enum(['inbound', 'outbound']).nullable(),
  segment_type: z.string(),
  start_time: Time,
  duration: z.number().min(0).nullable().meta({ description: 'Seconds.' }),
  disconnect_reason: z.string().nullable(),
  language: z.string().nullable(),
  score: z.number().min(0).max(100).nullable(),
  batch_id: Uuid.nullable(),
  campaign_id: Uuid.nullable(),
  failure: z
    .object({ stage: Stage, code: FailureCode, message: z.string(), retryable: z.boolean(), attempts: Count })
    .nullable(),
  created_at: Time,
  updated_at: Time,
};

const exampleCall = {
  uuid: '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301',
  source: 'transcription',
  status: 'completed',
  outcome: 'scored',
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
} as const;

const exampleAnalysis = {
  scorecard: { uuid: '019a4f3e-0000-7000-8000-000000000001', name: 'Default', revision: 1 },
  analyst: { name: 'rules', version: '1' },
  score: 87.5,
  auto_failed: false,
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
          points: 1,
          max_points: 1,
          not_applicable: false,
          evidence: [{ utterance: 0, quote: 'Good morning', start_char: 0, end_char: 12 }],
          evidence_absent: false,
          needs_review: false,
          explanation: 'The operator said "Good morning".',
        },
      ],
    },
  ],
  summary: 'The client asked where an order is; the operator found it.',
  topics: ['delivery'],
  sentiment: { operator: 0.4, client: 0.1 },
  metrics: {
    talk_ratio: { operator: 0.5, client: 0.5, silence: null },
    interruptions: null,
    longest_monologue: { operator: 21, client: 14 },
    words: { operator: 120, client: 98 },
    questions_asked: 3,
  },
  created_at: '2026-10-01T18:00:01.870Z',
};

export const CallItem = z.object(item).meta({ id: 'Call', examples: [exampleCall] });

export const CallPage = pageOf(CallItem)
  .extend({
    next_cursor: z.string().nullable().meta({ description: 'Send it as `cursor` for what follows; null at the end.' }),
    count_is_estimate: z
      .boolean()
      .meta({ description: 'True where so many calls match that `count` is near, not exact.' }),
  })
  .meta({
    id: 'CallPage',
    examples: [{ count: 1, count_is_estimate: false, items: [exampleCall], next_cursor: null }],
  });

const ScoredCall = Analysis.meta({ id: 'Analysis' });

export const CallDetail = z
  .object({
    ...item,
    audio: z
      .object({
        file_name: z.string(),
        format: z.string(),
        channels: z.int().min(1),
        sample_rate: z.int().min(1).meta({ description: 'Hertz.' }),
        duration: z.number().min(0),
        size: Count.meta({ description: 'Bytes.' }),
        url: z.url().meta({ description: 'Signed; plays the recording, with Range.' }),
        url_expires_at: Time,
      })
      .nullable(),
    transcript: z
      .object({
        language: z.string().nullable(),
        engine: z.string().nullable(),
        utterances: z.array(
          z.object({
            index: Count,
            role: Role,
            text: z.string(),
            start: z.number().nullable().meta({ description: 'Seconds; null for uploaded transcripts.' }),
            end: z.number().nullable(),
          }),
        ),
      })
      .nullable(),
    analysis: ScoredCall.nullable().meta({ description: 'The current one of `analyses`.' }),
    analyses: z.array(ScoredCall).meta({ description: 'Newest first, each under the revision it was made with.' }),
    history: z.array(z.object({ status: Status, at: Time, detail: z.string().nullable() })),
  })
  .meta({
    id: 'CallDetail',
    examples: [
      {
        ...exampleCall,
        audio: null,
        transcript: {
          language: 'en',
          engine: null,
          utterances: [
            { index: 0, role: 'operator', text: 'Good morning, how can I help?', start: null, end: null },
            { index: 1, role: 'client', text: 'Where is my order?', start: null, end: null },
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

export const ErasureReceipt = z
  .object({ uuid: Uuid, erased_at: Time, removed: z.array(z.object({ what: z.string(), count: Count })) })
  .meta({
    id: 'ErasureReceipt',
    examples: [
      { uuid: exampleCall.uuid, erased_at: '2026-10-02T08:00:00.000Z', removed: [{ what: 'call', count: 1 }] },
    ],
  });
