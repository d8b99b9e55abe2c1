import { AnalysisEstimate, ErasedCalls, ErasedNumber, Job, JobStarted, NewAnalyses } from '@call-analysis/api/jobs';
import { DEFAULT_ROLES } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { passTo, readAnswer, requestOf, servedBy, type Services } from '../rpc-caller.ts';

const CALLS = '/api/v1/calls';
const JOBS = '/api/v1/jobs';
/** A hundred calls are erased in one request. */
const ERASE_MS = 120_000;

/** Actions on many calls (docs/api.md, "Calls" and "Jobs"). */
export function jobs({ ingest, analysis }: Services): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Calls', roles: ['ADMIN'] });
  return [
    endpoint({
      method: 'DELETE',
      path: CALLS,
      query: ErasedNumber,
      id: 'eraseCallsOfNumber',
      summary: 'Erase the calls of a phone number',
      description:
        'Erases all calls of the firm with this client phone number, each like `DELETE /api/v1/calls/{uuid}`. More than 100 calls are erased by a job.',
      responses: {
        200: { description: 'The number of calls, and the receipts.', schema: ErasedCalls },
        202: { description: 'The job that erases them.', schema: JobStarted },
      },
      async handle(input) {
        const body = readAnswer<object>(await ingest.eraseCallsOfNumber(requestOf(input), { deadlineMs: ERASE_MS }));
        return { status: 'job_id' in body ? 202 : 200, body };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${CALLS}/analyze`,
      body: NewAnalyses,
      id: 'analyzeCalls',
      summary: 'Analyze many calls again',
      description:
        'A job analyzes all calls that match or are named, each like `POST /api/v1/calls/{uuid}/analyze`, after the calls that arrive meanwhile. Calls that cannot be analyzed now count as `failed` of the job.',
      responses: {
        200: { description: 'With `dry_run`: the estimate.', schema: AnalysisEstimate },
        202: { description: 'The job that analyzes them.', schema: JobStarted },
      },
      async handle(input) {
        const { dry_run, scorecard_uuid } = input.body;
        if (!dry_run) return { ...(await passTo(ingest, 'analyzeCalls')(input)), status: 202 };
        const measured = readAnswer<object>(await ingest.measureCalls(requestOf(input)));
        return passTo(analysis, 'estimateAnalyses')({ ...input, body: { ...measured, scorecard_uuid } });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${JOBS}/:id`,
      roles: DEFAULT_ROLES,
      id: 'getJob',
      summary: 'Get a job',
      description: 'The progress of a job. Ended jobs are kept for a month.',
      responses: { 200: { description: 'The job.', schema: Job } },
    }),
    endpoint({
      method: 'POST',
      path: `${JOBS}/:id/cancel`,
      id: 'cancelJob',
      summary: 'Cancel a job',
      description: 'Does not undo what is done. A job that has ended does not change.',
      responses: { 200: { description: 'The job.', schema: Job } },
    }),
  ];
}
