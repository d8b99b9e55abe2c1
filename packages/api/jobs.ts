import { z } from 'zod';
import { ErasureReceipt } from './calls.ts';
import { Count, Time, Uuid } from './fields.ts';

/** docs/api.md, "Jobs". */

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

export const ErasedCalls = z
  .object({ calls: Count, receipts: z.array(ErasureReceipt) })
  .meta({ id: 'ErasedCalls', examples: [{ calls: 0, receipts: [] }] });

export const AnalysisEstimate = z
  .object({
    calls: Count,
    input_tokens: Count,
    output_tokens: Count,
    cost: z.object({ low: z.string(), high: z.string(), currency: z.string() }).nullable(),
  })
  .meta({ id: 'AnalysisEstimate', examples: [{ calls: 240, input_tokens: 0, output_tokens: 0, cost: null }] });
