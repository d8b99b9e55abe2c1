import { notFound } from '@call-analysis/fault';
import { service } from 'grpc-health-check';
import type { Implementation } from './answer.ts';
import type { Call, Method } from './methods.ts';

/** The standard health service without List. Asking has no effect, though its .proto file does not say so. */
export const health = {
  Check: { ...(service.Check as Method), options: { idempotency_level: 'NO_SIDE_EFFECTS' } },
  Watch: service.Watch as Method,
};

/** How long a good answer holds: the probes of many callers cost one look. */
const CACHE_MS = 1000;
/** How often it is looked for those who watch. */
const WATCH_MS = 2000;

export interface Health {
  readonly implementation: Implementation;
  /** Tells those who watch that the server is not serving any more, and ends their streams. */
  stop(): void;
}

/**
 * Answers SERVING while `ready` resolves. It is asked when somebody asks or watches, so an idle process looks at
 * nothing, and a bad answer is asked for again at once. The empty name stands for the whole process.
 */
export function implementHealth(options: { names: readonly string[]; ready: () => Promise<void> }): Health {
  let look: Promise<boolean> | undefined;
  let goodUntil = 0;
  const stopping = new AbortController();

  function isReady(): Promise<boolean> {
    if (performance.now() < goodUntil) return Promise.resolve(true);
    look ??= options
      .ready()
      .then(
        () => {
          goodUntil = performance.now() + CACHE_MS;
          return true;
        },
        () => false,
      )
      .finally(() => (look = undefined));
    return look;
  }

  const isKnown = (name: string) => name === '' || options.names.includes(name);
  const status = async () => (!stopping.signal.aborted && (await isReady()) ? 'SERVING' : 'NOT_SERVING');

  const handlers = {
    async check({ service: name }: { service: string }) {
      if (!isKnown(name)) throw notFound('service');
      return { status: await status() };
    },
    async *watch({ service: name }: { service: string }, call: Call) {
      let told: string | undefined;
      while (!call.signal.aborted) {
        const now = isKnown(name) ? await status() : 'SERVICE_UNKNOWN';
        if (now !== told) yield { status: now };
        told = now;
        if (stopping.signal.aborted) return;
        await pauseUntil(WATCH_MS, [stopping.signal, call.signal]);
      }
    },
  };
  return { implementation: { service: health, handlers }, stop: () => stopping.abort() };
}

/** Resolves when the time has passed or one of the signals aborts. */
function pauseUntil(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal.addEventListener('abort', end);
    if (signals.some(({ aborted }) => aborted)) end();
  });
}
