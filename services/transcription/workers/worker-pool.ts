import { Fault } from '@call-analysis/fault';
import type { Format } from '@call-analysis/recordings';
import type { Recognition } from './messages.ts';
import type { RecordingTranscript } from './transcribe-recording.ts';
import { WorkerProcess, type WorkerProcessOptions } from './worker-process.ts';

export interface WorkerPoolOptions {
  /** The largest number of workers. Each transcribes one recording at a time. */
  readonly size: number;
  /** Asked before each recording, because models are added and removed while the service runs. */
  readonly recognition: () => Recognition;
  /** Transcribes the segments when `recognition` is by an engine. */
  readonly engine?: WorkerProcessOptions['engine'];
  /** A worker that is idle for this long ends. */
  readonly idleMs?: number;
  readonly stallMs?: number;
  /** A worker that holds more memory after a recording is replaced; the models that are configured come on top. */
  readonly maxResidentBytes?: number;
  /** A test double for the worker's main file. */
  readonly program?: string;
}

interface RecordingJob {
  readonly file: string;
  readonly format: Format;
  /** Seconds, as far as it is known. */
  readonly duration: number;
  /** Called with the number of seconds that are transcribed. */
  readonly onProgress?: (seconds: number) => void;
  /** Aborts immediately, by ending the worker. */
  readonly signal?: AbortSignal;
}

const IDLE_MS = 30_000;
/** The bundled model needs half of this; its runtime keeps what the largest segment needed. */
const MAX_RESIDENT_BYTES = 400 * 1024 * 1024;
/** A large model on a busy machine may need a minute or two for one segment. */
const STALL_MS = 180_000;

/**
 * Transcribes recordings in worker processes, so that native code neither blocks nor crashes this process. Workers
 * start when they are needed, are reused, and end with this process.
 */
export class TranscriptionWorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #idle: { worker: WorkerProcess; timer: NodeJS.Timeout }[] = [];
  readonly #busy = new Set<WorkerProcess>();
  readonly #waiting: { resolve: (worker: WorkerProcess) => void; reject: (error: Fault) => void }[] = [];
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  get pids(): number[] {
    const workers = [...this.#idle.map(({ worker }) => worker), ...this.#busy];
    return workers.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Numbers of busy and idle workers, and of recordings that wait for a worker. */
  get usage(): { busy: number; idle: number; waiting: number } {
    return { busy: this.#busy.size, idle: this.#idle.length, waiting: this.#waiting.length };
  }

  /** Waits for a free worker. Faults: those of WorkerProcess, and ENGINE_CLOSED once the pool is closed. */
  async transcribe({
    file,
    format,
    duration,
    onProgress = () => {},
    signal,
  }: RecordingJob): Promise<RecordingTranscript> {
    const worker = await this.#acquire();
    const abort = () => worker.kill();
    try {
      signal?.throwIfAborted();
      signal?.addEventListener('abort', abort);
      const recognition = this.#options.recognition();
      return await worker.transcribe({ type: 'transcribe', file, format, recognition }, { onProgress, duration });
    } catch (error) {
      if (this.#isClosed) throw closedFault();
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#release(worker);
    }
  }

  /** Ends all workers immediately, including busy ones. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closedFault());
    for (const { worker, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      worker.kill();
    }
    for (const worker of this.#busy) worker.kill();
  }

  async #acquire(): Promise<WorkerProcess> {
    if (this.#isClosed) throw closedFault();
    const recognition = this.#options.recognition();
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      clearTimeout(idle.timer);
      // Other models that it has loaded would stay in memory.
      if (!idle.worker.isFor(recognition)) idle.worker.kill();
      if (!idle.worker.isAlive) continue;
      this.#busy.add(idle.worker);
      return idle.worker;
    }
    if (this.#busy.size < this.#options.size) return this.#start();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #start(): WorkerProcess {
    const { program, engine, stallMs = STALL_MS } = this.#options;
    const worker = new WorkerProcess({ program, engine, stallMs });
    this.#busy.add(worker);
    return worker;
  }

  #maxResidentBytes(recognition: Recognition): number {
    const models = recognition.by === 'models' ? recognition.models : [];
    const bytes = models.reduce((sum, model) => sum + (model.bytes ?? 0), 0);
    return (this.#options.maxResidentBytes ?? MAX_RESIDENT_BYTES) + MEMORY_PER_MODEL_BYTE * bytes;
  }

  #release(worker: WorkerProcess): void {
    this.#busy.delete(worker);
    if (this.#isClosed) {
      worker.kill();
      return;
    }
    const recognition = this.#options.recognition();
    if (worker.residentBytes > this.#maxResidentBytes(recognition) || !worker.isFor(recognition)) worker.kill();
    const next = this.#waiting.shift();
    if (next !== undefined) {
      if (worker.isAlive) this.#busy.add(worker);
      next.resolve(worker.isAlive ? worker : this.#start());
      return;
    }
    if (!worker.isAlive) return;
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((each) => each.worker === worker),
        1,
      );
      worker.kill();
    }, this.#options.idleMs ?? IDLE_MS);
    // An idle worker does not keep this process alive.
    timer.unref();
    this.#idle.push({ worker, timer });
  }
}

/** A model's files are in memory while it is used, and most of them a second time while it is loaded. */
const MEMORY_PER_MODEL_BYTE = 1.5;

function closedFault(): Fault {
  return new Fault(
    'unavailable',
    'ENGINE_CLOSED',
    'The service is stopping. The recording is transcribed after its next start.',
  );
}
