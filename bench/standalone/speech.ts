import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatOf } from '@call-analysis/recordings';
import {
  type InProcessEngine,
  openInProcessEngine,
  type RecordingTranscript,
  SAMPLE_RATE_HZ,
  wordErrors,
} from '../../services/transcription/test/in-process-engine.ts';
import { atLeast, atMost, type Figure } from '../harness/figure.ts';

const folder = new URL('../../samples/recordings/', import.meta.url);
/** A call of five minutes. */
const CALL_SECONDS = 300;

interface Line {
  readonly role: 'operator' | 'client';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Sample {
  readonly file: string;
  readonly speech: string;
  readonly metadata: { readonly left_channel: string };
}

interface Counted {
  errors: number;
  words: number;
}

/**
 * The local engine on the sample recordings, on one core: its speed and its word error rate. The yardstick is the error rate
 * of the same model on lines that were cut by hand: the difference is lost in finding and cutting utterances. Separate
 * figures for each kind of voice, because synthetic voices are difficult for such models.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-speech-'));
  try {
    const engine = await openInProcessEngine(directory);
    const samples = JSON.parse(await readFile(new URL('conversations.json', folder), 'utf8')) as Sample[];
    const reference = JSON.parse(await readFile(new URL('reference.json', folder), 'utf8')) as Record<string, Line[]>;
    const voices = Map.groupBy(quick ? samples.filter((_, index) => index % 3 === 0) : samples, ({ speech }) => speech);
    const figures: Figure[] = [];
    let [seconds, taken] = [0, 0];
    for (const [speech, recordings] of voices) {
      const [ours, byHand]: [Counted, Counted] = [
        { errors: 0, words: 0 },
        { errors: 0, words: 0 },
      ];
      for (const sample of recordings) {
        const lines = reference[sample.file]!;
        const path = fileURLToPath(new URL(sample.file, folder));
        const began = process.cpuUsage();
        const heard = await engine.transcribe(path, formatOf(sample.file));
        const { user, system } = process.cpuUsage(began);
        taken += (user + system) / 1e6;
        seconds += heard.duration;
        count(ours, lines, (role) => textOf(heard, sideOf(sample, role)));
        const cut = await cutByHand(engine, sample, lines, path);
        count(byHand, lines, (role) =>
          cut
            .filter((each) => each.role === role)
            .map(({ text }) => text)
            .join(' '),
        );
      }
      const rate = ({ errors, words }: Counted) => errors / words;
      figures.push(
        atMost(1.05, {
          name: `word error rate, voices of ${speech}`,
          value: rate(ours),
          unit: '',
          yardstick: { name: 'lines cut by hand', value: rate(byHand) },
        }),
      );
    }
    const speed = seconds / taken;
    return [
      atLeast(1, {
        name: 'local speech, both channels, by one core',
        value: speed,
        unit: '× real time',
        yardstick: { name: 'goal, × real time', value: 20 },
      }),
      ...figures,
      atLeast(1, {
        name: 'calls of five minutes that two cores transcribe in an hour',
        value: (2 * speed * 3600) / CALL_SECONDS,
        unit: 'calls',
        yardstick: { name: 'goal, calls', value: (2 * 20 * 3600) / CALL_SECONDS },
      }),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function sideOf({ metadata }: Sample, role: Line['role']): 'left' | 'right' {
  return metadata.left_channel === role ? 'left' : 'right';
}

/** Compares the words of each channel separately, so that simultaneous speech is not counted as an error. */
function count(sum: Counted, lines: readonly Line[], heard: (role: Line['role']) => string): void {
  for (const role of ['operator', 'client'] as const) {
    const said = lines
      .filter((line) => line.role === role)
      .map(({ text }) => text)
      .join(' ');
    const { errors, words } = wordErrors(said, heard(role));
    sum.errors += errors;
    sum.words += words;
  }
}

function textOf({ utterances }: RecordingTranscript, side: 'left' | 'right'): string {
  return utterances
    .filter((each) => each.side === side)
    .map(({ text }) => text)
    .join(' ');
}

async function cutByHand(engine: InProcessEngine, sample: Sample, lines: readonly Line[], path: string) {
  const channels = await engine.decode(path, formatOf(sample.file));
  const heard: { role: Line['role']; text: string }[] = [];
  for (const { role, start, end } of lines) {
    const channel = channels[sideOf(sample, role)];
    const text = await engine.recognize(
      channel.slice(Math.round(start * SAMPLE_RATE_HZ), Math.round(end * SAMPLE_RATE_HZ)),
    );
    heard.push({ role, text });
  }
  return heard;
}
