import { z } from 'zod';
import { CallUuids, FilterInBody } from './call-query.ts';
import { ErasureReceipt } from './calls.ts';
import { amongOthers, Count, flag, text, Time, Uuid } from './fields.ts';

/** docs/api.md, "Jobs". */

const PHONE_NUMBER = /^\+?\d{7,15}$/;

const exampleJob = '0199d0c2-7f3e-7b4a-9d7e-3f3c1f6f2a11';

export const JobStarted = z.object({ job_id: Uuid }).meta({ id: 'JobStarted', examples: [{ job_id: exampleJob }] });

export const Job = z
  .object({
    job_id: Uuid,
    kind: z.enum(['erase_calls', 'analyze_calls']),
    status: z.enum(['running', 'done', 'canceled']),
    total: Count,
    done: Count,
    failed: Count,
    created_at: Time,
    finished_at: Time.nullable(),
  })
  .meta({
    id: 'Job',
    examples: [
      {
        job_id: exampleJob,
        kind: 'erase_calls',
        status: 'running',
        total: 240,
        done: 100,
        failed: 0,
        created_at: '2026-10-02T08:00:00.000Z',
        finished_at: null,
      },
    ],
  });

export const ErasedNumber = z.strictObject({
  client_phone_number: text(16)
    .refine((number) => PHONE_NUMBER.test(number), 'must be 7 to 15 digits, with or without a plus sign before them')
    .meta({ description: 'The digits are compared; a plus sign makes no difference.' }),
  dry_run: flag().default(false).meta({ description: 'Only counts the calls.' }),
});

export const ErasedCalls = z
  .object({ calls: Count, receipts: z.array(ErasureReceipt) })
  .meta({ id: 'ErasedCalls', examples: [{ calls: 0, receipts: [] }] });

export const NewAnalyses = z
  .strictObject({
    filter: FilterInBody.optional(),
    call_uuids: CallUuids.optional().meta({
      description: 'Instead of `filter`: these calls. Those that the firm does not have are left out.',
    }),
    scorecard_uuid: Uuid.optional().meta({
      description: 'An active scorecard of the firm. Without it, the active one of each call’s segment type.',
    }),
    dry_run: z.boolean().default(false).meta({ description: 'Only estimates the tokens and cost.' }),
  })
  .refine(({ filter, call_uuids }) => (filter === undefined) !== (call_uuids === undefined), {
    ...amongOthers,
    path: ['filter'],
    error: 'is required, or call_uuids in its place, and not both',
  })
  .meta({ examples: [{ filter: { status: ['completed'], segment_type: ['support'] }, dry_run: true }] });

export const AnalysisEstimate = z
  .object({
    calls: Count,
    input_tokens: Count,
    output_tokens: Count,
    cost: z.object({ low: z.string(), high: z.string(), currency: z.string() }).nullable(),
  })
  .meta({ id: 'AnalysisEstimate', examples: [{ calls: 240, input_tokens: 0, output_tokens: 0, cost: null }] });
