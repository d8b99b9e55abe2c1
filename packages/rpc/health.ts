import { notFound } from '@call-analysis/fault';
import { service } from 'grpc-health-check';
import type { Method } from './methods.ts';
import type { Implementation } from './answer.ts';

/** The standard health service, its Check alone. */
export const health = { Check: service.Check as Method };

/** How long a good answer holds: the probes of many callers cost one look. */
const CACHE_MS = 1000;

/**
 * Answers SERVING while `ready` resolves. It is asked when somebody asks, so an idle process looks at nothing, and
 * a bad answer is asked for again at once. The empty name stands for the whole process.
 */
export function implementHealth(options: {
  names: readonly string[];
  ready: () => Promise<void>;
  isStopping: () => boolean;
}): Implementation {
  let look: Promise<boolean> | undefined;
  let goodUntil = 0;

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

  return {
    service: health,
    handlers: {
      async check(request: { service: string }) {
        if (request.service !== '' && !options.names.includes(request.service)) throw notFound('service');
        return { status: !options.isStopping() && (await isReady()) ? 'SERVING' : 'NOT_SERVING' };
      },
    },
  };
}
