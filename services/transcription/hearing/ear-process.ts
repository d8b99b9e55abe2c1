import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Fault } from '@call-analysis/fault';
import type { SpeechEngine } from '../engine.ts';
import type { HeardRecording } from './hear-recording.ts';
import type { Order, Word } from './messages.ts';

const PROGRAM = fileURLToPath(new URL('./ear.ts', import.meta.url));
/** Of its JavaScript alone; samples and models lie outside. */
const HEAP_MEGABYTES = 256;
const LAST_WORDS_BYTES = 2048;
/** Requests go before recordings, but a machine that is busy with something else still hears. */
const NICE = 10;

export interface EarOptions {
  /** Stands in for what hears, in tests. */
  readonly program?: string | undefined;
  /** Hears the pieces, when the ear does not do so itself. */
  readonly engine?: SpeechEngine | undefined;
  /** Without a word from the ear for so long it is taken for lost. */
  readonly stallMs: number;
}

interface Hearing {
  readonly resolve: (recording: HeardRecording) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: (seconds: number) => void;
  readonly stallMs: number;
  readonly abort: AbortController;
  watch: NodeJS.Timeout | undefined;
}

/** A process that hears recordings, one after the other, seen from the one that asks it to. */
export class EarProcess {
  readonly #child: ChildProcess;
  readonly #options: EarOptions;
  #hearing: Hearing | undefined;
  #isAlive = true;
  #lastWords = '';

  constructor(options: EarOptions) {
    this.#options = options;
    this.#child = fork(options.program ?? PROGRAM, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [`--max-old-space-size=${HEAP_MEGABYTES}`],
      // Nothing that this process knows is for native code to see.
      env: {},
    });
    if (this.#child.pid !== undefined) makeWay(this.#child.pid);
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.#lastWords = (this.#lastWords + bytes.toString('utf8')).slice(-LAST_WORDS_BYTES);
    });
    this.#child.on('message', (word: Word) => void this.#listen(word));
    this.#child.on('error', (error) => this.#die(error.message));
    this.#child.on('exit', () => {
      this.#isAlive = false;
    });
    // Later than its exit: then its last words have been read.
    this.#child.on('close', (code, signal) => this.#die(signal ?? `exit code ${code}`));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** One at a time. Fails with the Fault of whoever failed; ENGINE_CRASHED or ENGINE_STALLED when the process was lost. */
  hear(
    order: Extract<Order, { order: 'hear' }>,
    options: { onProgress: (seconds: number) => void; duration: number },
  ): Promise<HeardRecording> {
    const { promise, resolve, reject } = Promise.withResolvers<HeardRecording>();
    const { onProgress, duration } = options;
    // What is long may take long to open.
    const stallMs = this.#options.stallMs + 50 * duration;
    const hearing: Hearing = { resolve, reject, onProgress, stallMs, abort: new AbortController(), watch: undefined };
    this.#hearing = hearing;
    this.#watch(hearing);
    this.#say(order);
    return promise;
  }

  /** At once, whatever it is doing. */
  kill(): void {
    this.#isAlive = false;
    this.#child.kill('SIGKILL');
  }

  async #listen(word: Word): Promise<void> {
    const hearing = this.#hearing;
    if (hearing === undefined) return;
    this.#watch(hearing);
    switch (word.word) {
      case 'progress':
        hearing.onProgress(word.seconds);
        break;
      case 'piece':
        await this.#hearPiece(hearing, word);
        break;
      case 'done':
        this.#settle(() => hearing.resolve(word.recording));
        break;
      case 'fault':
        this.#settle(() => hearing.reject(new Fault(word.kind, word.code, word.message)));
        break;
      case 'failure': {
        const error = new Error(word.message);
        if (word.stack !== undefined) error.stack = word.stack;
        this.#settle(() => hearing.reject(error));
        // Whatever state it left behind goes with it.
        this.kill();
      }
    }
  }

  /** The engine has bounds of its own for how long it may take. */
  async #hearPiece(hearing: Hearing, { samples, language }: Extract<Word, { word: 'piece' }>): Promise<void> {
    clearTimeout(hearing.watch);
    try {
      if (this.#options.engine === undefined) throw new Error('An ear that hears by models asked for an engine.');
      const heard = await this.#options.engine.hear({ samples }, { language, signal: hearing.abort.signal });
      if (this.#hearing !== hearing) return;
      this.#watch(hearing);
      this.#say({ order: 'heard', ...heard });
    } catch (error) {
      if (this.#hearing !== hearing) return;
      this.#settle(() => hearing.reject(error));
      // It still waits for its answer.
      this.kill();
    }
  }

  #watch(hearing: Hearing): void {
    clearTimeout(hearing.watch);
    hearing.watch = setTimeout(() => {
      const message = `The speech engine made no progress for ${Math.round(hearing.stallMs / 1000)} s.`;
      this.#settle(() => hearing.reject(new Fault('unavailable', 'ENGINE_STALLED', message)));
      this.kill();
    }, hearing.stallMs);
  }

  #settle(end: () => void): void {
    clearTimeout(this.#hearing?.watch);
    this.#hearing?.abort.abort();
    this.#hearing = undefined;
    end();
  }

  #die(how: string): void {
    this.#isAlive = false;
    const hearing = this.#hearing;
    if (hearing === undefined) return;
    const message = `The speech engine crashed (${how}) while it heard the recording.`;
    const cause = new Error(this.#lastWords === '' ? 'It had nothing to say.' : this.#lastWords);
    this.#settle(() => hearing.reject(new Fault('unavailable', 'ENGINE_CRASHED', message, { cause })));
  }

  #say(order: Order): void {
    // An ear that is gone is told of by its exit.
    this.#child.send(order, () => {});
  }
}

function makeWay(pid: number): void {
  try {
    setPriority(pid, NICE);
  } catch {
    // It may be gone already, or the system may not know of priorities.
  }
}
