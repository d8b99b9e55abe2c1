import type { Fault } from '@call-analysis/fault';
import { unreadable } from '../faults.ts';

/** The one way in which a Speex stream fails. `what` ends a sentence that a caller reads. */
export function broken(what: string): Fault {
  return unreadable(`The Speex stream is broken: ${what}.`);
}
