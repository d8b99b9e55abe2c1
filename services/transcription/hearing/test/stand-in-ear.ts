// Stands in for what hears: does what the file says.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { HeardRecording } from '../hear-recording.ts';
import type { Order, Word } from '../messages.ts';

const recording: HeardRecording = {
  duration: 10,
  oneSound: false,
  engine: 'test',
  language: 'en',
  said: [{ side: 'left', text: 'hello', start: 1, end: 2 }],
};

function say(word: Word): void {
  process.send?.(word);
}

let answered: (() => void) | undefined;

async function obey(what: string): Promise<void> {
  switch (what) {
    case 'crash':
      process.abort();
      break;
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'hang':
      for (;;);
    case 'unreadable':
      return say({ word: 'fault', kind: 'invalid', code: 'AUDIO_UNREADABLE', message: 'The recording is broken.' });
    case 'bug':
      return say({ word: 'failure', message: 'undefined is not a function', stack: undefined });
    case 'slow':
      for (let seconds = 1; seconds < 10; seconds++) {
        await pause(100);
        say({ word: 'progress', seconds });
      }
      break;
    case 'endless':
      for (let seconds = 1; ; seconds++) {
        await pause(100);
        say({ word: 'progress', seconds });
      }
    case 'bidden':
      // Makes progress when it begins, and then as often as it is told to, by a signal.
      process.on('SIGUSR2', () => say({ word: 'progress', seconds: 1 }));
      say({ word: 'progress', seconds: 1 });
      return;
    case 'ask': {
      const heard = new Promise<void>((resolve) => {
        answered = resolve;
      });
      say({ word: 'piece', samples: Float32Array.of(0.25, -0.5), language: 'ru' });
      await heard;
      break;
    }
    case 'everything':
      return say({
        word: 'done',
        recording: {
          ...recording,
          said: Array.from({ length: 6000 }, (_, at) => ({
            side: 'left',
            text: 'x'.repeat(30),
            start: at,
            end: at + 1,
          })),
        },
      });
    case 'silence':
      return say({ word: 'done', recording: { ...recording, engine: null, language: null, said: [] } });
    case 'environment':
      return say({ word: 'failure', message: JSON.stringify(process.env), stack: undefined });
  }
  say({ word: 'done', recording });
}

process.on('message', (order: Order) => {
  if (order.order === 'hear') void obey(readFileSync(order.file, 'utf8'));
  else answered?.();
});
process.on('disconnect', () => process.exit(0));
