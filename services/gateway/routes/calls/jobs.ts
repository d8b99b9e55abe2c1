import { FilterInBody } from '@call-analysis/api/call-query';
import { flag, text } from '@call-analysis/api/fields';
import { AnalysisEstimate, ErasedCalls, Job, JobStarted } from '@call-analysis/api/jobs';
import { Uuid } from '@call-analysis/events';
import type { analysis, ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { answered, callerOf } from '../rpc-caller.ts';
import { CallUuids, filterFor } from './calls.ts';

const CALLS = '/api/v1/calls';
const JOBS = '/api/v1/jobs';
/** A hundred calls are erased in one request. */
const ERASE_MS = 120_000;
const PHONE_NUMBER = /^\+?\d{7,15}$/;

const Analyze = z
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
    when: () => true,
    path: ['filter'],
    error: 'is required, or call_uuids in its place, and not both',
  })
  .meta({ examples: [{ filter: { status: ['completed'], segment_type: ['support'] }, dry_run: true }] });

const ofAdmins = { credentials: 'bearer', roles: ['ADMIN'] } as const;
const tag = 'Calls';

/** Actions on many calls (docs/api.md, "Calls" and "Jobs"). */
export function jobs(
  catalogue: Pick<
    Client<typeof ingest>,
    | 'eraseCallsOfNumber'
    | 'analyzeCalls'
    | 'measureCalls'
    | 'analyzeSelectedCalls'
    | 'measureSelectedCalls'
    | 'getJob'
    | 'cancelJob'
  >,
  analyst: Pick<Client<typeof analysis>, 'estimateAnalyses'>,
): Endpoint[] {
  return [
    endpoint({
      ...ofAdmins,
      method: 'DELETE',
      path: CALLS,
      query: z.strictObject({
        client_phone_number: text(16)
          .refine(
            (number) => PHONE_NUMBER.test(number),
            'must be 7 to 15 digits, with or without a plus sign before them',
          )
          .meta({ description: 'The digits are compared; a plus sign makes no difference.' }),
        dry_run: flag().default(false).meta({ description: 'Only counts the calls.' }),
      }),
      tag,
      id: 'eraseCallsOfNumber',
      summary: 'Erase the calls of a phone number',
      description:
        'Erases all calls of the firm with this client phone number, each like `DELETE /api/v1/calls/{uuid}`. More than 100 calls are erased by a job.',
      responses: {
        200: { description: 'The number of calls, and the receipts.', schema: ErasedCalls },
        202: { description: 'The job that erases them.', schema: JobStarted },
      },
      async handle({ caller, query }) {
        const request = { caller: callerOf(caller), ...query };
        const { calls, receipts, job_uuid } = await catalogue.eraseCallsOfNumber(request, { deadlineMs: ERASE_MS });
        if (job_uuid !== undefined) return { status: 202, body: { job_id: job_uuid } };
        return { status: 200, body: { calls, receipts } };
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'POST',
      path: `${CALLS}/analyze`,
      body: Analyze,
      tag,
      id: 'analyzeCalls',
      summary: 'Analyze many calls again',
      description:
        'A job analyzes all calls that match or are named, each like `POST /api/v1/calls/{uuid}/analyze`, after the calls that arrive meanwhile. Calls that cannot be analyzed now count as `failed` of the job.',
      responses: {
        200: { description: 'With `dry_run`: the estimate.', schema: AnalysisEstimate },
        202: { description: 'The job that analyzes them.', schema: JobStarted },
      },
      async handle({ caller, body }) {
        const { call_uuids } = body;
        const filter = { page: 1, size: 1, ...filterFor(caller, body.filter ?? {}) };
        const asked = { caller: callerOf(caller) };
        const scorecard = body.scorecard_uuid === undefined ? {} : { scorecard_uuid: body.scorecard_uuid };
        if (body.dry_run) {
          const { calls, text_bytes } = await (call_uuids === undefined
            ? catalogue.measureCalls({ ...asked, filter })
            : catalogue.measureSelectedCalls({ ...asked, call_uuids }));
          const estimate = await analyst.estimateAnalyses({
            ...asked,
            calls,
            text_bytes,
            ...scorecard,
          });
          const { input_tokens, output_tokens, cost_low: low, cost_high: high, currency } = estimate;
          const isPriced = low !== undefined && high !== undefined && currency !== undefined;
          const cost = isPriced ? { low, high, currency } : null;
          return { status: 200, body: { calls, input_tokens, output_tokens, cost } };
        }
        const { job_uuid } = await (call_uuids === undefined
          ? catalogue.analyzeCalls({ ...asked, filter, ...scorecard })
          : catalogue.analyzeSelectedCalls({ ...asked, call_uuids, ...scorecard }));
        return { status: 202, body: { job_id: job_uuid } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${JOBS}/:id`,
      tag,
      id: 'getJob',
      summary: 'Get a job',
      description: 'The progress of a job. Ended jobs are kept for a month.',
      responses: { 200: { description: 'The job.', schema: Job } },
      async handle({ caller, params }) {
        const job_uuid = params.id;
        return answered(await catalogue.getJob({ caller: callerOf(caller), job_uuid }));
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'POST',
      path: `${JOBS}/:id/cancel`,
      tag,
      id: 'cancelJob',
      summary: 'Cancel a job',
      description: 'Does not undo what is done. A job that has ended does not change.',
      responses: { 200: { description: 'The job.', schema: Job } },
      async handle({ caller, params }) {
        const job_uuid = params.id;
        return answered(await catalogue.cancelJob({ caller: callerOf(caller), job_uuid }));
      },
    }),
  ];
}
