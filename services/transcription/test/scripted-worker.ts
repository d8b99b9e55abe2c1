// A test double for a worker. The recording's text says how it behaves.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { FromWorker, Recognition, ToWorker } from '../workers/messages.ts';
import type { RecordingTranscript } from '../workers/transcribe-recording.ts';

const transcript: RecordingTranscript = {
  duration: 10,
  isDualMono: false,
  speechSeconds: 1.5,
  engine: 'test',
  language: 'en',
  utterances: [{ side: 'left', text: 'hello', start: 1, end: 2 }],
};

function send(message: FromWorker): void {
  process.send?.(message);
}

let receiveText: (() => void) | undefined;

async function run(behaviour: string, recognition: Recognition): Promise<void> {
  switch (behaviour) {
    case 'crash':
      process.abort();
      break;
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'hang':
      for (;;);
    case 'unreadable':
      return send({ type: 'fault', kind: 'invalid', code: 'AUDIO_UNREADABLE', message: 'The recording is broken.' });
    case 'bug':
      return send({ type: 'error', message: 'undefined is not a function', stack: undefined });
    case 'slow':
      for (let seconds = 1; seconds < 10; seconds++) {
        await pause(100);
        send({ type: 'progress', seconds });
      }
      break;
    case 'endless':
      for (let seconds = 1; ; seconds++) {
        await pause(100);
        send({ type: 'progress', seconds });
      }
    case 'on-signal':
      // Reports progress at the start, and then once per SIGUSR2.
      process.on('SIGUSR2', () => send({ type: 'progress', seconds: 1 }));
      send({ type: 'progress', seconds: 1 });
      return;
    case 'segment': {
      const received = new Promise<void>((resolve) => {
        receiveText = resolve;
      });
      send({ type: 'segment', samples: Float32Array.of(0.25, -0.5), language: 'ru' });
      await received;
      break;
    }
    case 'long-text':
      return send({
        type: 'done',
        residentBytes: 0,
        transcript: {
          ...transcript,
          utterances: Array.from({ length: 6000 }, (_, at) => ({
            side: 'left',
            text: 'x'.repeat(30),
            start: at,
            end: at + 1,
          })),
        },
      });
    case 'phone':
      return send({
        type: 'done',
        residentBytes: 0,
        transcript: {
          ...transcript,
          utterances: [{ side: 'left', text: 'call me on +998 90 123-45-67 please', start: 1, end: 2 }],
        },
      });
    case 'models': {
      const names = recognition.by === 'models' ? recognition.models.map(({ name }) => name) : [];
      return send({
        type: 'done',
        residentBytes: 0,
        transcript: { ...transcript, utterances: [{ side: 'left', text: names.join(' '), start: 1, end: 2 }] },
      });
    }
    case 'silence':
      return send({
        type: 'done',
        residentBytes: 0,
        transcript: { ...transcript, engine: null, language: null, utterances: [] },
      });
    case 'environment':
      return send({ type: 'error', message: JSON.stringify(process.env), stack: undefined });
  }
  send({ type: 'done', transcript, residentBytes: behaviour === 'large' ? 500 * 1024 ** 2 : 0 });
}

process.on('message', (message: ToWorker) => {
  if (message.type === 'transcribe') void run(readFileSync(message.file, 'utf8'), message.recognition);
  else receiveText?.();
});
process.on('disconnect', () => process.exit(0));
