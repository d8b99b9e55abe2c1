import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RetryingClient } from './retrying-client.ts';

export interface Load {
  /** Stops the load. Rejects when a request failed in a way that clients must never see. */
  stop(): Promise<void>;
}

const CALLS_A_BATCH = 20;
/** Transcription has the lowest priority on the machine, so recordings must be rare enough for it to keep up. */
const RECORDING_EVERY_MS = 5_000;

/** The load of one firm: batches, recordings, reads and some campaigns. */
export function startLoad(
  client: RetryingClient,
  recordings: { silence: Uint8Array<ArrayBuffer>; speech: Uint8Array<ArrayBuffer> },
): Load {
  const over = new AbortController();
  const until = over.signal;

  async function again(work: (round: number) => Promise<unknown>, everyMs: number): Promise<void> {
    for (let round = 1; !until.aborted; round++) {
      await work(round);
      await pause(randomInt(everyMs), undefined, { signal: until });
    }
  }

  async function look(): Promise<void> {
    const batch = [...client.batches.keys()].at(-1);
    await (batch === undefined ? client.list() : client.readBatch(batch));
  }

  const work = [
    again(() => client.batch(CALLS_A_BATCH, until), 1_200),
    again(
      (round) => client.recording(round % 5 === 0 ? recordings.speech : recordings.silence, until),
      RECORDING_EVERY_MS,
    ),
    again(look, 400),
    again(() => client.list(), 400),
    again(() => client.campaign(`campaign-${randomUUID()}`, 3, until), 10_000),
  ];
  const ended = Promise.allSettled(work);

  return {
    async stop() {
      over.abort();
      const failures = (await ended).flatMap((each) =>
        each.status === 'rejected' && each.reason?.name !== 'AbortError' ? [each.reason] : [],
      );
      if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
    },
  };
}
