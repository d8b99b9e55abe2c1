import { counter, gauge } from '@call-analysis/runtime';
import type { Ears } from './hearing/ears.ts';

const ears = gauge('speech_ears', 'Processes that hear recordings, by what they do.', ['state']);
const limit = gauge('speech_ears_limit', 'Recordings that can be heard at the same time.', []);
const waiting = gauge('speech_waiting', 'Recordings in hand that wait for an ear.', []);
const heard = counter('audio_heard_seconds_total', 'Length of the recordings that were heard to their end.', []);

/** Shows the use of the ears, until it is called. */
export function watchEars(watched: Pick<Ears, 'use'>, count: number): () => void {
  const sources = [
    ears.from(() => [
      { labels: ['busy'], value: watched.use.busy },
      { labels: ['idle'], value: watched.use.idle },
    ]),
    limit.from(() => [{ labels: [], value: count }]),
    waiting.from(() => [{ labels: [], value: watched.use.waiting }]),
  ];
  return () => {
    for (const leave of sources) leave();
  };
}

export function countHeard(seconds: number): void {
  heard.of().add(seconds);
}
