import type { Event } from '@call-analysis/events';
import type { FailureReason } from '../port.ts';

/** A handler that adds its events to the list. */
export function collectInto(received: Event[] | undefined): (events: readonly Event[]) => Promise<void> {
  return async (events) => {
    received?.push(...events);
  };
}

/** A `giveUp` that records its calls. */
export function recordGiveUps(): {
  givenUp: { event: Event; reason: FailureReason }[];
  giveUp(event: Event, reason: FailureReason): Promise<void>;
} {
  const givenUp: { event: Event; reason: FailureReason }[] = [];
  return {
    givenUp,
    async giveUp(event, reason) {
      givenUp.push({ event, reason });
    },
  };
}

/** A handler that never returns. */
export function hangingHandler(): { hasBegun(): boolean; handle(): Promise<void> } {
  let begun = false;
  return {
    hasBegun: () => begun,
    handle() {
      begun = true;
      return new Promise(() => {});
    },
  };
}
