import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { PROCESS_PREFIX } from '../../work-directory.ts';
import { limitConcurrency } from '../concurrency-limit.ts';
import {
  engineFailed,
  engineMisconfigured,
  engineUnavailable,
  parsed,
  SAMPLE_RATE_HZ,
  type SpeechEngine,
  type SpeechSegment,
  tidyText,
} from '../speech-engine.ts';
import { languageOf } from '../spoken-language.ts';
import { wavFile } from '../wav-file.ts';
import { type Ending, runProgram } from './run-program.ts';

/** `confidence`: 0 to 1. */
const OutputSegment = z.object({
  start: z.number(),
  end: z.number(),
  text: z.string(),
  confidence: z.number().optional(),
});
const Output = z
  .object({
    text: z.string().nullish(),
    language: z.string().nullish(),
    segments: z.array(OutputSegment).max(5000).nullish(),
  })
  .refine(({ text, segments }) => typeof text === 'string' || Array.isArray(segments));

/** Reads JSON or plain text. Null when the text begins like JSON and is not of the expected shape. */
function readOutput(printed: string): z.infer<typeof Output> | null {
  const text = printed.replace(/^\uFEFF/, '').trim();
  // A recognizer may print `{noise}`, but only in JSON is a brace followed by a quote or a closing brace.
  return /^\{\s*["}]/.test(text) ? parsed(Output, text) : { text };
}

export interface CommandConfig {
  /**
   * The program and its arguments. `{file}` in an argument is replaced by the path of a WAV file (16 kHz, one channel,
   * 16 bit); without it the WAV file is the program's standard input.
   */
  readonly command: readonly string[];
  /** The program's complete environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** For the temporary WAV files; created when it does not exist. */
  readonly workDirectory: string;
  readonly concurrency: number;
  /** Time limit per segment: this, plus some for each second of the segment. 30 s and 10 s when absent. */
  readonly timeoutMs?: number | undefined;
  readonly timeoutMsPerSecond?: number | undefined;
}

/** A program that prints plain text reports no times, so segments must be short enough to keep utterances in order. */
const MAX_SEGMENT_SECONDS = 30;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * The operator's program, run once per segment. It prints plain text, `{ "text": … }` or
 * `{ "segments": [{ "start", "end", "text", "confidence"? }], "language"? }`. Faults: ENGINE_MISCONFIGURED when the program does not
 * exist or may not be run, otherwise ENGINE_FAILED, also when it takes too long. The program's standard
 * error is the fault's cause, which is only logged.
 */
export function commandEngine(config: CommandConfig): SpeechEngine {
  const [program = '', ...template] = config.command;
  const slots = limitConcurrency(config.concurrency);
  const takesFile = template.some((argument) => argument.includes('{file}'));

  async function transcribe(segment: SpeechSegment, known: Language | null, signal: AbortSignal) {
    const seconds = segment.samples.length / SAMPLE_RATE_HZ;
    const printed = await withFile(wavFile(segment.samples), (file) => runOn(file, seconds, signal));
    const output = readOutput(printed);
    if (output === null)
      throw engineFailed('The speech program printed JSON that is truncated or not of the expected shape.');
    const utterances = tidyText(output.segments ?? [{ text: output.text ?? '', start: 0, end: seconds }], seconds);
    const detected = { segmentSeconds: seconds, texts: utterances, logprob: null, probability: null };
    return { utterances, language: languageOf(output.language, known, detected) };
  }

  async function runOn(file: string, seconds: number, signal: AbortSignal): Promise<string> {
    if (takesFile) return run(file, null, seconds, signal);
    // A file and not a pipe: Node's pipes are sockets, which cannot be sought in or opened as /dev/stdin.
    const input = await open(file);
    try {
      return await run(file, input.fd, seconds, signal);
    } finally {
      await input.close();
    }
  }

  async function run(file: string, input: number | null, seconds: number, signal: AbortSignal): Promise<string> {
    const ending = await runProgram({
      program,
      arguments: template.map((argument) => argument.replaceAll('{file}', () => file)),
      environment: config.environment,
      input,
      timeoutMs: (config.timeoutMs ?? 30_000) + (config.timeoutMsPerSecond ?? 10_000) * seconds,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal,
    });
    if (ending.kind === 'exited' && ending.code === 0) return ending.output.toString('utf8');
    throw faultOf(ending);
  }

  async function withFile<Result>(wav: Uint8Array, use: (file: string) => Promise<Result>): Promise<Result> {
    await mkdir(config.workDirectory, { recursive: true, mode: 0o700 });
    // mkdtemp creates a directory that only this user can enter, so other users cannot read the recording.
    const directory = await mkdtemp(join(config.workDirectory, PROCESS_PREFIX));
    try {
      const file = join(directory, 'segment.wav');
      await writeFile(file, wav, { mode: 0o600, flag: 'wx' });
      return await use(file);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  return {
    name: `command:${basename(program)}`,
    maxSegmentSeconds: MAX_SEGMENT_SECONDS,
    concurrency: config.concurrency,
    async transcribe(segment, { language, signal }) {
      if (segment.samples.length === 0) return { utterances: [], language: null };
      return slots.run(signal, async (either) => {
        try {
          return await transcribe(segment, language, either);
        } catch (error) {
          throw error instanceof Fault
            ? error
            : engineUnavailable('The WAV file for the speech program cannot be written.', error);
        }
      });
    },
    close: () => slots.close(),
  };
}

function faultOf(ending: Ending): Fault {
  switch (ending.kind) {
    case 'not-started':
      return /^(ENOENT|EACCES|ENOEXEC|ENOTDIR|EPERM)$/.test(ending.error.code ?? '')
        ? engineMisconfigured('The speech program cannot be run. Check SPEECH_COMMAND.', ending.error)
        : engineUnavailable('The speech program cannot be started at the moment.', ending.error);
    case 'timed-out':
      return engineFailed('The speech program took too long and was stopped.');
    case 'too-much-output':
      return engineFailed(`The speech program printed more than ${MAX_OUTPUT_BYTES} bytes and was stopped.`);
    case 'exited':
      return ending.signal === null
        ? engineFailed(`The speech program failed with exit code ${ending.code}. Run it by hand to see why.`)
        : engineFailed(`The speech program was ended by ${ending.signal}.`);
  }
}
