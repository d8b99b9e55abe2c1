import { gauge } from '@call-analysis/runtime';
import onHeaders from 'on-headers';
import { HttpError } from '../response/http-error.ts';
import type { Response } from '../response/send.ts';
import { FairQueue, type FairQueueLimits, type NoSlot } from './fair-queue.ts';

/** How many requests are in progress at the same time, of one firm and of all. 0 is no limit. */
export interface Concurrency {
  readonly requestsPerFirm: number;
  readonly requests: number;
  readonly uploadsPerFirm: number;
  readonly uploads: number;
  /** How long a request or an upload waits for its turn, by default 5 and 30 s. */
  readonly maxWaitMs?: number;
}

/**
 * Eight requests of a firm keep two cores busy; more of them would only make those of other firms slower. An upload in
 * progress takes about 1 MiB.
 */
export const defaultConcurrency: Concurrency = { requestsPerFirm: 8, requests: 64, uploadsPerFirm: 32, uploads: 96 };

/** Uploads, and requests that take as long, are counted apart: a client that sends slowly must not block quick requests. */
export type Lane = 'requests' | 'uploads';

/** A waiting request takes some kilobytes, a waiting upload also what its socket has received. */
const WAITING = {
  requests: { waitingPerFirm: 1000, waitingTotal: 4000, maxWaitMs: 5000 },
  uploads: { waitingPerFirm: 64, waitingTotal: 192, maxWaitMs: 30_000 },
};
const RETRY_AFTER_SECONDS = '1';

const inProgress = gauge('http_requests_in_progress', 'Requests and uploads that the gateway works on.', ['lane']);
const waiting = gauge('http_requests_waiting', 'Requests and uploads that wait until others are done.', ['lane']);

/** Lets requests of a firm begin as long as neither the firm nor the process has too many in progress. */
export class Admission {
  readonly #lanes: Readonly<Record<Lane, FairQueue>>;

  constructor({ requestsPerFirm, requests, uploadsPerFirm, uploads, maxWaitMs }: Concurrency) {
    const lane = (name: Lane, perFirm: number, total: number): FairQueue => {
      const limits: FairQueueLimits = { perFirm, total, ...WAITING[name] };
      return new FairQueue({ ...limits, maxWaitMs: maxWaitMs ?? limits.maxWaitMs });
    };
    this.#lanes = {
      requests: lane('requests', requestsPerFirm, requests),
      uploads: lane('uploads', uploadsPerFirm, uploads),
    };
  }

  /** Adds its figures to the metrics page, until the returned function is called. */
  measure(): () => void {
    const read = (of: (queue: FairQueue) => number) => () =>
      (['requests', 'uploads'] as const).map((lane) => ({ labels: [lane] as const, value: of(this.#lanes[lane]) }));
    const ends = [inProgress.from(read((queue) => queue.inProgress)), waiting.from(read((queue) => queue.waiting))];
    return () => ends.forEach((end) => end());
  }

  /**
   * Waits until the request may begin. It counts until the head of its response is written or its connection is closed.
   * Rejects with RATE_LIMITED when the firm has too many, and UNAVAILABLE when all firms together have.
   */
  async begin(lane: Lane, firmUuid: string, response: Response): Promise<void> {
    const entered = this.#lanes[lane].enter(firmUuid);
    if (typeof entered === 'string') throw refusal(lane, entered);
    if (typeof entered === 'function') return whenAnswered(response, entered);
    whenAnswered(response, entered.leave);
    const slot = await entered.slot;
    if (typeof slot === 'string') throw refusal(lane, slot);
    // Nobody is there to get the error of a request whose connection was closed.
    if (slot === null) throw new HttpError(503, 'UNAVAILABLE', 'The connection was closed.');
    whenAnswered(response, slot);
  }
}

/** Calls this when the head is written, and when the connection is closed. */
function whenAnswered(response: Response, end: () => void): void {
  if (response.headersSent || response.destroyed) return end();
  onHeaders(response, end);
  response.once('close', end);
}

function refusal(lane: Lane, why: NoSlot): HttpError {
  const headers = { 'retry-after': RETRY_AFTER_SECONDS };
  if (why === 'process') {
    const message = 'Too many requests are in progress. Try again in 1 s.';
    return new HttpError(503, 'UNAVAILABLE', message, headers);
  }
  const message = `Your firm has too many ${lane} in progress at the same time. Try again in 1 s, with fewer at once.`;
  return new HttpError(429, 'RATE_LIMITED', message, headers);
}
