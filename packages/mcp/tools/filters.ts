import { z } from 'zod';

const time = z.string().describe('A date, or a date and time, such as 2026-10-01 or 2026-10-01T09:00:00+05:00.');
const score = z.number().min(0).max(100);
const seconds = z.number().min(0);

/** The filters of Get Calls. The API checks their values. */
export const filters = {
  status: z.array(z.enum(['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'])).optional(),
  outcome: z.array(z.enum(['scored', 'no_speech'])).optional(),
  segment_type: z.array(z.string()).optional().describe("The firm's own kinds of calls. Any of them matches."),
  direction: z.array(z.enum(['inbound', 'outbound'])).optional(),
  operator_name: z.string().optional().describe('The complete name; case does not matter. See list_operators.'),
  operator_group_name: z.string().optional(),
  operator_id: z.string().optional(),
  partner_call_id: z.string().optional().describe("The call's id in the firm's own system."),
  client_phone_number: z.string().optional().describe('Digits, with or without a plus sign.'),
  batch: z.guid().optional(),
  campaign: z.guid().optional(),
  source: z.enum(['audio', 'transcription']).optional(),
  started_from: time.optional(),
  started_to: time.optional().describe('Calls that started before this time.'),
  score_min: score.optional(),
  score_max: score.optional(),
  duration_min: seconds.optional().describe('Seconds.'),
  duration_max: seconds.optional().describe('Seconds.'),
  needs_review: z.boolean().optional(),
  reviewed: z.boolean().optional(),
  language: z.enum(['en', 'ru', 'uz', 'ky', 'es']).optional(),
  topic: z.string().optional(),
  resolution: z.enum(['resolved', 'follow_up', 'unresolved']).optional(),
  auto_failed: z.boolean().optional(),
  lost_points: z
    .guid()
    .optional()
    .describe("A question's uuid, as in get_statistics by question: calls that lost points by it."),
  q: z
    .string()
    .optional()
    .describe('Words of the conversation. A phrase in double quotes; -word excludes a word. No other operators.'),
};
