import { Fault } from '@call-analysis/fault';

/** The engine does not answer, or not as it should; it may later. */
export function engineUnavailable(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_UNAVAILABLE', message, { cause });
}

/** The operator has to put something right; the same piece may be heard after that. */
export function engineMisconfigured(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_MISCONFIGURED', message, { cause });
}

/** The engine failed over this piece; another try may end otherwise. */
export function engineFailed(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'ENGINE_FAILED', message, { cause });
}

/** The engine will never hear this piece. */
export function engineRefused(message: string, cause?: unknown): Fault {
  return new Fault('invalid', 'ENGINE_REFUSED', message, { cause });
}
