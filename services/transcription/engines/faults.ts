import { Fault } from '@call-analysis/fault';

/** The engine does not answer, or its answer is unusable; a retry may succeed. */
export function engineUnavailable(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_UNAVAILABLE', message, { cause });
}

/** The operator has to correct the configuration; a retry may succeed after that. */
export function engineMisconfigured(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_MISCONFIGURED', message, { cause });
}

/** The engine failed on this segment; a retry may succeed. */
export function engineFailed(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_FAILED', message, { cause });
}

/** The engine rejects this segment; a retry would fail too. */
export function engineRefused(message: string, cause?: unknown): Fault {
  return new Fault('invalid', 'ENGINE_REFUSED', message, { cause });
}
