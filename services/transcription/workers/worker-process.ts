import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '@call-analysis/fault';
import type { SpeechEngine } from '../engines/speech-engine.ts';
import type { FromWorker, Recognition, ToWorker } from './messages.ts';
import type { RecordingTranscript } from './transcribe-recording.ts';

const PROGRAM = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** The JavaScript heap only; samples and models are outside it. */
const HEAP_MEGABYTES = 256;
const NODE_OPTIONS = [
  `--max-old-space-size=${HEAP_MEGABYTES}`,
  // Samples are copied through it; with more, a worker holds 30 MB for nothing.
  '--max-semi-space-size=2',
  // For LoadedModels.
  '--expose-gc',
];
/**
 * glibc's allocator would keep the memory that models free: it raises its threshold for mapping memory to 32 MB by
 * itself, and has a pool for each thread.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: `${1024 * 1024}`,
  MALLOC_TRIM_THRESHOLD_: `${1024 * 1024}`,
};
const STANDARD_ERROR_BYTES = 2048;
/** Requests have priority over recordings, but a busy machine still transcribes. */
const NICE = 10;

export interface WorkerProcessOptions {
  /** A test double for the worker's main file. */
  readonly program?: string | undefined;
  /** Transcribes the segments, when the worker does not do so itself. */
  readonly engine?: SpeechEngine | undefined;
  /** A worker that sends no message for this long is killed. */
  readonly stallMs: number;
}

interface Job {
  readonly resolve: (transcript: RecordingTranscript) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: (seconds: number) => void;
  readonly stallMs: number;
  /** Aborts the engine's requests when the job ends. */
  readonly abort: AbortController;
  stallTimer: NodeJS.Timeout | undefined;
}

/** The parent's side of a worker process. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #options: WorkerProcessOptions;
  #job: Job | undefined;
  #isAlive = true;
  #residentBytes = 0;
  #recognition: Recognition | undefined;
  /** The end of what the process has written there. */
  #standardError = '';

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    this.#child = fork(options.program ?? PROGRAM, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: NODE_OPTIONS,
      // Keeps the service's secrets away from native code.
      env: ALLOCATOR,
    });
    if (this.#child.pid !== undefined) lowerPriority(this.#child.pid);
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.#standardError = (this.#standardError + bytes.toString('utf8')).slice(-STANDARD_ERROR_BYTES);
    });
    this.#child.on('message', (message: FromWorker) => void this.#receive(message));
    this.#child.on('error', (error) => this.#fail(error.message));
    this.#child.on('exit', () => {
      this.#isAlive = false;
    });
    // 'close' follows 'exit' once standard error has been read.
    this.#child.on('close', (code, signal) => this.#fail(signal ?? `exit code ${code}`));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Whether it has not yet transcribed with other models or another engine. */
  isFor(recognition: Recognition): boolean {
    return this.#recognition === undefined || isDeepStrictEqual(this.#recognition, recognition);
  }

  /** The memory of the process after its last recording. */
  get residentBytes(): number {
    return this.#residentBytes;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * One recording at a time. Faults: those of the worker and of the engine; ENGINE_CRASHED or ENGINE_STALLED when the
   * process was lost.
   */
  transcribe(
    message: Extract<ToWorker, { type: 'transcribe' }>,
    options: { onProgress: (seconds: number) => void; duration: number },
  ): Promise<RecordingTranscript> {
    const { promise, resolve, reject } = Promise.withResolvers<RecordingTranscript>();
    const { onProgress, duration } = options;
    // A long recording may take long to open.
    const stallMs = this.#options.stallMs + 50 * duration;
    const job: Job = { resolve, reject, onProgress, stallMs, abort: new AbortController(), stallTimer: undefined };
    this.#job = job;
    this.#recognition = message.recognition;
    this.#restartStallTimer(job);
    this.#send(message);
    return promise;
  }

  /** Immediately, also during a recording. */
  kill(): void {
    this.#isAlive = false;
    this.#child.kill('SIGKILL');
  }

  async #receive(message: FromWorker): Promise<void> {
    const job = this.#job;
    if (job === undefined) return;
    this.#restartStallTimer(job);
    switch (message.type) {
      case 'progress':
        job.onProgress(message.seconds);
        break;
      case 'segment':
        await this.#transcribeSegment(job, message);
        break;
      case 'done':
        this.#residentBytes = message.residentBytes;
        this.#end(() => job.resolve(message.transcript));
        break;
      case 'fault':
        this.#end(() => job.reject(new Fault(message.kind, message.code, message.message)));
        break;
      case 'error': {
        const error = new Error(message.message);
        if (message.stack !== undefined) error.stack = message.stack;
        this.#end(() => job.reject(error));
        // After a bug the worker's state cannot be trusted.
        this.kill();
      }
    }
  }

  /** The stall timer is stopped meanwhile, because engines have their own time limits. */
  async #transcribeSegment(job: Job, { samples, language }: Extract<FromWorker, { type: 'segment' }>): Promise<void> {
    clearTimeout(job.stallTimer);
    try {
      if (this.#options.engine === undefined) throw new Error('A worker with models requested an engine.');
      const text = await this.#options.engine.transcribe({ samples }, { language, signal: job.abort.signal });
      if (this.#job !== job) return;
      this.#restartStallTimer(job);
      this.#send({ type: 'text', ...text });
    } catch (error) {
      if (this.#job !== job) return;
      this.#end(() => job.reject(error));
      // The worker still waits for the text.
      this.kill();
    }
  }

  #restartStallTimer(job: Job): void {
    clearTimeout(job.stallTimer);
    job.stallTimer = setTimeout(() => {
      const message = `The speech engine made no progress for ${Math.round(job.stallMs / 1000)} s.`;
      this.#end(() => job.reject(new Fault('unavailable', 'ENGINE_STALLED', message)));
      this.kill();
    }, job.stallMs);
  }

  #end(settle: () => void): void {
    clearTimeout(this.#job?.stallTimer);
    this.#job?.abort.abort();
    this.#job = undefined;
    settle();
  }

  /** The process has ended or could not be started. */
  #fail(reason: string): void {
    this.#isAlive = false;
    const job = this.#job;
    if (job === undefined) return;
    const message = `The speech engine crashed (${reason}) while it transcribed the recording.`;
    const cause = new Error(
      this.#standardError === '' ? 'Nothing was written to standard error.' : this.#standardError,
    );
    this.#end(() => job.reject(new Fault('unavailable', 'ENGINE_CRASHED', message, { cause })));
  }

  #send(message: ToWorker): void {
    // If the process has ended, its 'close' event reports that.
    this.#child.send(message, () => {});
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICE);
  } catch {
    // The process has ended already, or the system has no priorities.
  }
}
