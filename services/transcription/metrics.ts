import { counter, gauge } from '@call-analysis/runtime';
import type { TranscriptionWorkerPool } from './workers/worker-pool.ts';

const workers = gauge('transcription_workers', 'Transcription workers, by state.', ['state']);
const limit = gauge('transcription_workers_limit', 'Recordings that can be transcribed at the same time.', []);
const waiting = gauge('transcription_waiting_recordings', 'Received recordings that wait for a worker.', []);
const transcribed = counter(
  'transcribed_audio_seconds_total',
  'Length of the recordings that were transcribed completely.',
  [],
);

/** Reports the pool's usage until the returned function is called. */
export function watchWorkerPool(pool: Pick<TranscriptionWorkerPool, 'usage'>, size: number): () => void {
  const sources = [
    workers.from(() => [
      { labels: ['busy'], value: pool.usage.busy },
      { labels: ['idle'], value: pool.usage.idle },
    ]),
    limit.from(() => [{ labels: [], value: size }]),
    waiting.from(() => [{ labels: [], value: pool.usage.waiting }]),
  ];
  return () => {
    for (const remove of sources) remove();
  };
}

export function countTranscribed(seconds: number): void {
  transcribed.of().add(seconds);
}
