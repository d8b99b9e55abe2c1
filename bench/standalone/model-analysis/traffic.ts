// Publishes calls whose transcripts are ready and counts those that are analyzed. Runs as a child process, so that the
// process which is measured has the service alone.
import { randomUUID } from 'node:crypto';
import { openBus, route } from '@call-analysis/bus';
import { CallAnalyzed, createEvent, type Event, TranscriptReady } from '@call-analysis/events';
import { openDatabase } from '@call-analysis/postgres';
import { createLog } from '@call-analysis/runtime';
import { schema } from '../../../services/analysis/start.ts';

/** The words of each call. */
export const WORDS = 1_500;
const WORDS_PER_UTTERANCE = 15;

export interface Traffic {
  readonly database: string;
  readonly bus: string;
}

export type Order = { readonly publish: number } | 'close';

if (process.send !== undefined) {
  const { database, bus: url } = JSON.parse(process.argv[2]!) as Traffic;
  const log = createLog({ name: 'bench', destination: { write() {} } });
  const db = openDatabase({ url: database, schema });
  const bus = await openBus({ transport: 'embedded', url, schema: 'bus' }, { name: 'bench', log });
  let done = 0;
  await bus.subscribe({
    consumer: 'bench',
    batchSize: 200,
    routes: [
      route({
        event: CallAnalyzed,
        handle: async (events) => {
          done += events.length;
          process.send?.(done);
        },
      }),
    ],
  });
  const firm = randomUUID();
  process.on('message', async (order: Order) => {
    if (order === 'close') {
      await bus.close();
      await db.close();
      process.disconnect();
      return;
    }
    for (let left = order.publish; left > 0; left -= 100) {
      const events = Array.from({ length: Math.min(100, left) }, () => transcriptReady(firm));
      await db.transaction((tx) => bus.publish(tx, events));
    }
  });
  process.send(0);
}

function transcriptReady(firm: string): Event {
  const sentence = 'I am sorry about that and I will look where your parcel is right now';
  const utterances = Array.from({ length: WORDS / WORDS_PER_UTTERANCE }, (_, at) => ({
    role: at % 2 === 0 ? ('operator' as const) : ('client' as const),
    text: `${sentence} ${at}`,
    start: null,
    end: null,
  }));
  return createEvent(
    'bench',
    TranscriptReady,
    randomUUID(),
    { firmuuid: firm, priority: 0, traceparent: undefined },
    {
      attempt: 1,
      source: 'transcription',
      duration: 600,
      language: 'en',
      tags: ['operator', 'client'],
      segment_type: 'support',
      transcript: { utterances },
    },
  );
}
