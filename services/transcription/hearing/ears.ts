import { Fault } from '@call-analysis/fault';
import type { Format } from '@call-analysis/recordings';
import { type EarOptions, EarProcess } from './ear-process.ts';
import type { HeardRecording } from './hear-recording.ts';
import type { Recognition } from './messages.ts';

export interface EarsOptions {
  /** How many recordings are heard at the same time, each in a process of its own. */
  readonly count: number;
  readonly recognition: Recognition;
  /** Hears the pieces when `recognition` is by an engine. */
  readonly engine?: EarOptions['engine'];
  /** An ear that nobody has asked anything for so long ends. */
  readonly idleMs?: number;
  readonly stallMs?: number;
  /** Stands in for what hears, in tests. */
  readonly program?: string;
}

export interface RecordingToHear {
  readonly file: string;
  readonly format: Format;
  /** Seconds, as far as it is known. */
  readonly duration: number;
  /** Told how many seconds have been heard. */
  readonly onProgress?: (seconds: number) => void;
  /** Breaks off at once; what hears is ended. */
  readonly signal?: AbortSignal;
}

const IDLE_MS = 30_000;
/** A large model on a busy machine may need a minute or two for one piece. */
const STALL_MS = 180_000;

/**
 * Hears recordings in processes of their own: what native code does there neither blocks nor kills this one. They begin
 * when they are needed, are kept while there is work, and end with this process.
 */
export class Ears {
  readonly #options: EarsOptions;
  readonly #idle: { ear: EarProcess; end: NodeJS.Timeout }[] = [];
  readonly #busy = new Set<EarProcess>();
  readonly #waiting: { resolve: (ear: EarProcess) => void; reject: (error: Fault) => void }[] = [];
  #isClosed = false;

  constructor(options: EarsOptions) {
    this.#options = options;
  }

  /** The processes there are now. */
  get pids(): number[] {
    return [...this.#idle.map(({ ear }) => ear), ...this.#busy].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Ears that hear, ears that wait to be asked, and recordings that wait for an ear. */
  get use(): { busy: number; idle: number; waiting: number } {
    return { busy: this.#busy.size, idle: this.#idle.length, waiting: this.#waiting.length };
  }

  /** Waits for a free ear. Fails as EarProcess does, and with ENGINE_CLOSED once it is closed. */
  async hear({ file, format, duration, onProgress = () => {}, signal }: RecordingToHear): Promise<HeardRecording> {
    const ear = await this.#take();
    const breakOff = () => ear.kill();
    try {
      signal?.throwIfAborted();
      signal?.addEventListener('abort', breakOff);
      const { recognition } = this.#options;
      return await ear.hear({ order: 'hear', file, format, recognition }, { onProgress, duration });
    } catch (error) {
      if (this.#isClosed) throw closed();
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', breakOff);
      this.#giveBack(ear);
    }
  }

  /** Ends all, in the middle of whatever they hear. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
    for (const { ear, end } of this.#idle.splice(0)) {
      clearTimeout(end);
      ear.kill();
    }
    for (const ear of this.#busy) ear.kill();
  }

  async #take(): Promise<EarProcess> {
    if (this.#isClosed) throw closed();
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      clearTimeout(idle.end);
      if (!idle.ear.isAlive) continue;
      this.#busy.add(idle.ear);
      return idle.ear;
    }
    if (this.#busy.size < this.#options.count) return this.#open();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #open(): EarProcess {
    const { program, engine, stallMs = STALL_MS } = this.#options;
    const ear = new EarProcess({ program, engine, stallMs });
    this.#busy.add(ear);
    return ear;
  }

  #giveBack(ear: EarProcess): void {
    this.#busy.delete(ear);
    if (this.#isClosed) {
      ear.kill();
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) {
      if (ear.isAlive) this.#busy.add(ear);
      next.resolve(ear.isAlive ? ear : this.#open());
      return;
    }
    if (!ear.isAlive) return;
    const end = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((each) => each.ear === ear),
        1,
      );
      ear.kill();
    }, this.#options.idleMs ?? IDLE_MS);
    // An idle ear is no reason to live on.
    end.unref();
    this.#idle.push({ ear, end });
  }
}

function closed(): Fault {
  return new Fault('unavailable', 'ENGINE_CLOSED', 'The service stops; the recording is heard when it starts again.');
}
