import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Format, formatOf } from '@call-analysis/recordings';
import type { Model } from '../models/model.ts';
import { wordErrors } from '../recognition/word-errors.ts';
import { modelFault } from './model-fault.ts';

/** A model's result for a sample. */
export interface TranscribedSample {
  /** `bundled`: spoken by a computer; otherwise the name of a recording that came with the model. */
  readonly sample: string;
  /** Null when it is not known. */
  readonly language: string | null;
  readonly said: string | null;
  readonly heard: string;
  readonly word_error_rate: number | null;
  readonly seconds: number;
  /** Seconds of sound per second of work, on one core. */
  readonly speed: number;
}

interface Sample {
  readonly file: string;
  readonly format: Format;
  readonly name: string;
  readonly language: string | null;
  readonly said: string | null;
}

const PROGRAM = fileURLToPath(new URL('./sample-process.ts', import.meta.url));
const SAMPLES = fileURLToPath(new URL('../models/samples', import.meta.url));
/** Where upstream's archives have recordings. */
const UPSTREAM = 'test_wavs';
const MOST_OF_UPSTREAM = 6;
/** The largest models take a minute to load from a slow disk. */
const SILENCE_MS = 300_000;
const STANDARD_ERROR_BYTES = 4096;

/**
 * Loads a model in its own process, and transcribes a sample of each of its languages and the recordings that came with
 * it. Fault MODEL_UNUSABLE when it cannot be loaded.
 */
export async function transcribeSamples(model: Model): Promise<TranscribedSample[]> {
  const samples = [...bundledSamples(model), ...upstreamSamples(model)];
  const directory = mkdtempSync(join(tmpdir(), 'call-analysis-model-'));
  try {
    const files = samples.map(({ file, format }) => ({ file, format }));
    const messages = await converse({ model, files, directory }, model.name);
    return messages
      .filter((message) => message.type === 'transcribed')
      .map(({ text, seconds, tookSeconds }, at) => resultOf(samples[at]!, text, seconds, tookSeconds));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function resultOf({ name, language, said }: Sample, heard: string, seconds: number, took: number): TranscribedSample {
  const { errors, words } = said === null ? { errors: 0, words: 0 } : wordErrors(said, heard);
  return {
    sample: name,
    language,
    said,
    heard,
    word_error_rate: words === 0 ? null : rounded(errors / words),
    seconds: rounded(seconds),
    speed: rounded(seconds / took),
  };
}

const rounded = (value: number) => Math.round(value * 100) / 100;

/** Of the model's languages; of all languages for a model that detects the language. */
function bundledSamples({ languages }: Model): Sample[] {
  const texts = JSON.parse(readFileSync(join(SAMPLES, 'texts.json'), 'utf8')) as Record<string, string>;
  return Object.entries(texts)
    .filter(([language]) => languages.length === 0 || languages.includes(language))
    .map(([language, said]) => ({
      file: join(SAMPLES, `${language}.ogg`),
      format: 'ogg',
      name: 'bundled',
      language,
      said,
    }));
}

/** A file such as `en.wav` is named by its language. `trans.txt` has lines such as `0.wav WHAT IS SAID`. */
function upstreamSamples({ files, languages }: Model): Sample[] {
  const folder = join(dirname(Object.values(files)[0]!), UPSTREAM);
  const names = entriesOf(folder).filter((name) => name.endsWith('.wav'));
  const transcripts = new Map(
    entriesOf(folder)
      .filter((name) => /^trans.*\.txt$/.test(name))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .flatMap((line) => {
        const [, name, text] = /^(\S+)\s+(.+)$/.exec(line.trim()) ?? [];
        return name === undefined ? [] : [[name, text!] as const];
      }),
  );
  return names.slice(0, MOST_OF_UPSTREAM).map((name) => ({
    file: join(folder, name),
    format: formatOf(name),
    name,
    language: /^([a-z]{2})\.wav$/.exec(name)?.[1] ?? (languages.length === 1 ? languages[0]! : null),
    said: transcripts.get(name) ?? transcripts.get(basename(name, '.wav')) ?? null,
  }));
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function converse(request: SampleRequest, name: string): Promise<SampleMessage[]> {
  const { promise, resolve, reject } = Promise.withResolvers<SampleMessage[]>();
  const messages: SampleMessage[] = [];
  let standardError = '';
  const child = fork(PROGRAM, [], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: {} });
  const kill = () => child.kill('SIGKILL');
  let timer = setTimeout(kill, SILENCE_MS);
  child.stderr?.on('data', (bytes: Buffer) => {
    standardError = (standardError + bytes.toString('utf8')).slice(-STANDARD_ERROR_BYTES);
  });
  child.on('message', (message: SampleMessage) => {
    clearTimeout(timer);
    timer = setTimeout(kill, SILENCE_MS);
    messages.push(message);
  });
  child.on('error', reject);
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    const error = messages.find((message) => message.type === 'error');
    if (error === undefined && messages.length === request.files.length + 1) return resolve(messages);
    const reason = error?.message ?? lastLine(standardError) ?? signal ?? `exit code ${code}`;
    reject(
      modelFault(
        'MODEL_UNUSABLE',
        `The model ${name} cannot be used (${reason}). Its files are damaged, or it is of another kind than ${request.model.kind}: see docs/speech-models.md, and repeat the command with --kind if so.`,
        new Error(standardError),
      ),
    );
  });
  child.send(request);
  return promise;
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 300) || undefined;
}

/** Messages to the process that transcribes samples. */
export interface SampleRequest {
  readonly model: Model;
  readonly files: readonly { readonly file: string; readonly format: Format }[];
  /** For files that are created once and kept. */
  readonly directory: string;
}

/** From that process, for each file in turn; `loaded` comes first. */
export type SampleMessage =
  | { readonly type: 'loaded' }
  | { readonly type: 'transcribed'; readonly text: string; readonly seconds: number; readonly tookSeconds: number }
  | { readonly type: 'error'; readonly message: string };
