import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatOf } from '@call-analysis/recordings';
import { wavHeader } from '@call-analysis/testing';
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

interface Heard {
  readonly sample: Sample;
  readonly transcript: RecordingTranscript;
}

/**
 * The local engine on the sample recordings, on one core: its speed and its word error rate. The yardstick is the error rate
 * of the same model on lines that were cut by hand: the difference is lost in finding and cutting utterances. Separate
 * figures for each kind of voice, because synthetic voices are difficult for such models. A sample has a minute; in a call of
 * five, what is done once a call, such as identifying its language, weighs less.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-speech-'));
  try {
    const engine = await openInProcessEngine(directory);
    const samples = JSON.parse(await readFile(new URL('conversations.json', folder), 'utf8')) as Sample[];
    const reference = JSON.parse(await readFile(new URL('reference.json', folder), 'utf8')) as Record<string, Line[]>;
    const voices = Map.groupBy(quick ? samples.filter((_, index) => index % 3 === 0) : samples, ({ speech }) => speech);
    const figures: Figure[] = [];
    const all: Heard[] = [];
    let [seconds, taken] = [0, 0];
    for (const [speech, recordings] of voices) {
      const [ours, byHand]: [Compared[], Compared[]] = [[], []];
      for (const sample of recordings) {
        const lines = reference[sample.file]!;
        const path = fileURLToPath(new URL(sample.file, folder));
        const { transcript: heard, processorSeconds } = await transcribe(engine, path, sample.file);
        all.push({ sample, transcript: heard });
        taken += processorSeconds;
        seconds += heard.duration;
        ours.push(...compared(lines, (role) => textOf(heard, sideOf(sample, role))));
        const cut = await cutByHand(engine, sample, lines, path);
        byHand.push(...compared(lines, (role) => joined(cut.filter((each) => each.role === role))));
      }
      figures.push(
        atMost(1.05, {
          name: `word error rate, voices of ${speech}`,
          value: errorRate(ours),
          unit: '',
          yardstick: { name: 'lines cut by hand', value: errorRate(byHand) },
        }),
      );
    }
    const speed = seconds / taken;
    const long = await callOfFiveMinutes(engine, { heard: all, reference, directory });
    return [
      atLeast(1, {
        name: 'local speech, both channels, by one core',
        value: speed,
        unit: '× real time',
        yardstick: { name: 'goal, × real time', value: 20 },
      }),
      ...figures,
      atLeast(1, {
        name: 'local speech, a call of five minutes, by one core',
        value: long.speed,
        unit: '× real time',
        yardstick: { name: 'goal, × real time', value: 30 },
      }),
      atMost(1.05, {
        name: 'word error rate, a call of five minutes',
        value: long.wordErrorRate,
        unit: '',
        yardstick: { name: 'the same conversations as calls of a minute', value: long.wordErrorRateAlone },
      }),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function transcribe(engine: InProcessEngine, path: string, name: string) {
  const began = process.cpuUsage();
  const transcript = await engine.transcribe(path, formatOf(name));
  const { user, system } = process.cpuUsage(began);
  return { transcript, processorSeconds: (user + system) / 1e6 };
}

/** Sample recordings one after another, as one call, and what the same engine heard in each of them alone. */
async function callOfFiveMinutes(
  engine: InProcessEngine,
  options: { heard: readonly Heard[]; reference: Readonly<Record<string, Line[]>>; directory: string },
): Promise<{ speed: number; wordErrorRate: number; wordErrorRateAlone: number }> {
  const [said, alone] = [
    { left: '', right: '' },
    { left: '', right: '' },
  ];
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let at = 0; bytes < 4 * SAMPLE_RATE_HZ * CALL_SECONDS; at++) {
    const { sample, transcript } = options.heard[at % options.heard.length]!;
    for (const side of ['left', 'right'] as const) {
      const lines = options.reference[sample.file]!.filter(({ role }) => sideOf(sample, role) === side);
      said[side] += ` ${joined(lines)}`;
      alone[side] += ` ${textOf(transcript, side)}`;
    }
    const { left, right } = await engine.decode(fileURLToPath(new URL(sample.file, folder)), formatOf(sample.file));
    const part = samplesOf(left, right);
    parts.push(part);
    bytes += part.length;
  }
  const file = join(options.directory, 'call.wav');
  await writeFile(
    file,
    Buffer.concat([wavHeader({ channels: 2, dataBytes: bytes, sampleRate: SAMPLE_RATE_HZ }), ...parts]),
  );
  const { transcript, processorSeconds } = await transcribe(engine, file, file);
  const rate = (of: (side: 'left' | 'right') => string) =>
    errorRate((['left', 'right'] as const).map((side) => [said[side], of(side)]));
  return {
    speed: transcript.duration / processorSeconds,
    wordErrorRate: rate((side) => textOf(transcript, side)),
    wordErrorRateAlone: rate((side) => alone[side]),
  };
}

function samplesOf(left: Float32Array, right: Float32Array): Buffer {
  const samples = Buffer.alloc(4 * left.length);
  for (let at = 0; at < left.length; at++) {
    for (const [channel, sound] of [left, right].entries()) {
      const value = Math.min(Math.max(sound[at]!, -1), 1);
      samples.writeInt16LE(Math.round(32_767 * value), 4 * at + 2 * channel);
    }
  }
  return samples;
}

function sideOf({ metadata }: Sample, role: Line['role']): 'left' | 'right' {
  return metadata.left_channel === role ? 'left' : 'right';
}

type Compared = readonly [said: string, heard: string];

/** The words of each channel separately, so that simultaneous speech is not counted as an error. */
function compared(lines: readonly Line[], heard: (role: Line['role']) => string): Compared[] {
  return (['operator', 'client'] as const).map((role) => [
    joined(lines.filter((line) => line.role === role)),
    heard(role),
  ]);
}

function errorRate(all: readonly Compared[]): number {
  const counts = all.map(([said, heard]) => wordErrors(said, heard));
  const sum = (what: 'errors' | 'words') => counts.reduce((total, each) => total + each[what], 0);
  return sum('errors') / sum('words');
}

function joined(parts: readonly { readonly text: string }[]): string {
  return parts.map(({ text }) => text).join(' ');
}

function textOf({ utterances }: RecordingTranscript, side: 'left' | 'right'): string {
  return joined(utterances.filter((each) => each.side === side));
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
