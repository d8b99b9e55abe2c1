import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { type Heard, HEARING_RATE, type Piece, type SpeechEngine } from '../engine.ts';
import { OURS } from '../work-directory.ts';
import { readOutput } from './command-output.ts';
import { engineFailed, engineMisconfigured, engineUnavailable } from './engine-faults.ts';
import { tidy } from './heard-text.ts';
import { type Ending, runProgram } from './run-program.ts';
import { isSureOfOther, languageNamed, languageNotSupported } from './spoken-language.ts';
import { openTurns } from './turns.ts';
import { wavFile } from './wav-file.ts';

export interface CommandConfig {
  /**
   * The program and its arguments. `{file}` in an argument stands for the path of a WAV file (16 kHz, one channel,
   * 16 bit); without it the WAV comes on standard input.
   */
  readonly command: readonly string[];
  /** All that the program sees of the environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the WAV files are for the moment; made when it is not there. */
  readonly workDirectory: string;
  /** Programs at the same time. */
  readonly concurrency: number;
  /** Time for one piece: this, and some for each second of it. 30 s and 10 s when absent. */
  readonly timeoutMs?: number | undefined;
  readonly timeoutMsPerSecond?: number | undefined;
}

/** A program that prints bare text tells no times, so its pieces must be short enough to stand in the right order. */
const MAX_PIECE_SECONDS = 30;
const OUTPUT_BYTES = 1024 * 1024;

/**
 * A program of the user's, run for each piece. It prints text, `{ "text": … }` or
 * `{ "segments": [{ "start", "end", "text" }], "language"? }`. A program that is not there or may not be run is
 * ENGINE_MISCONFIGURED, one that takes too long ENGINE_UNAVAILABLE, anything else that goes wrong ENGINE_FAILED; what it
 * printed on standard error is the cause, for the log alone.
 */
export function commandEngine(config: CommandConfig): SpeechEngine {
  const [program = '', ...template] = config.command;
  const turns = openTurns(config.concurrency);
  const takesFile = template.some((argument) => argument.includes('{file}'));

  async function hear(piece: Piece, known: Language | null, signal: AbortSignal) {
    const seconds = piece.samples.length / HEARING_RATE;
    const output = await withFile(wavFile(piece.samples), (file) => runOn(file, seconds, signal));
    const said = readOutput(output);
    if (said === null)
      throw engineFailed('The speech program printed something that begins like JSON and is not what was agreed.');
    const utterances = tidy(said.segments ?? [{ text: said.text, start: 0, end: seconds }], seconds);
    return { utterances, language: languageOf(said.language, utterances, seconds, known) };
  }

  async function runOn(file: string, seconds: number, signal: AbortSignal): Promise<string> {
    if (takesFile) return run(file, null, seconds, signal);
    // The file itself and no pipe of Node's, which is a socket: that cannot be sought in, nor opened as /dev/stdin.
    const input = await open(file);
    try {
      return await run(file, input.fd, seconds, signal);
    } finally {
      await input.close();
    }
  }

  async function run(file: string, input: number | null, seconds: number, signal: AbortSignal): Promise<string> {
    const { ending, complaints } = await runProgram({
      program,
      arguments: template.map((argument) => argument.replaceAll('{file}', () => file)),
      environment: config.environment,
      input,
      timeoutMs: (config.timeoutMs ?? 30_000) + (config.timeoutMsPerSecond ?? 10_000) * seconds,
      outputBytes: OUTPUT_BYTES,
      signal,
    });
    if (ending.kind === 'exited' && ending.code === 0) return ending.output.toString('utf8');
    throw faultOf(ending, complaints);
  }

  async function withFile<Result>(wav: Uint8Array, use: (file: string) => Promise<Result>): Promise<Result> {
    await mkdir(config.workDirectory, { recursive: true, mode: 0o700 });
    // mkdtemp lets nobody else in, so a recording cannot be read while it lies here.
    const directory = await mkdtemp(join(config.workDirectory, OURS));
    try {
      const file = join(directory, 'piece.wav');
      await writeFile(file, wav, { mode: 0o600, flag: 'wx' });
      return await use(file);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  return {
    name: `command:${basename(program)}`,
    maxPieceSeconds: MAX_PIECE_SECONDS,
    concurrency: config.concurrency,
    async hear(piece, { language, signal }) {
      if (piece.samples.length === 0) return { utterances: [], language: null };
      return turns.take(signal, async (either) => {
        try {
          return await hear(piece, language, either);
        } catch (error) {
          either.throwIfAborted();
          throw error instanceof Fault
            ? error
            : engineUnavailable('The speech program cannot be given its recording.', error);
        }
      });
    },
    close: () => turns.close(),
  };
}

function faultOf(ending: Ending, complaints: string): Fault {
  const cause = new Error(complaints === '' ? 'it printed nothing on standard error' : complaints);
  switch (ending.kind) {
    case 'not-started':
      return /^(ENOENT|EACCES|ENOEXEC|ENOTDIR|EPERM)$/.test(ending.error.code ?? '')
        ? engineMisconfigured('The speech program cannot be run. Check SPEECH_COMMAND.', ending.error)
        : engineUnavailable('The speech program cannot be started just now.', ending.error);
    case 'timed-out':
      return engineUnavailable('The speech program took too long and was stopped.', cause);
    case 'too-much-output':
      return engineFailed(`The speech program printed more than ${OUTPUT_BYTES} bytes and was stopped.`, cause);
    case 'exited':
      return ending.signal === null
        ? engineFailed(`The speech program failed with exit code ${ending.code}.`, cause)
        : engineFailed(`The speech program was ended by ${ending.signal}.`, cause);
  }
}

function languageOf(
  name: string | null,
  heard: readonly Heard[],
  pieceSeconds: number,
  known: Language | null,
): Language | null {
  const language = languageNamed(name);
  if (language !== 'other') return language;
  if (known === null && isSureOfOther({ pieceSeconds, heard, logprob: null, probability: null }))
    throw languageNotSupported(name ?? '');
  return null;
}
