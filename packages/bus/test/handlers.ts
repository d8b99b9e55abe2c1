import type { Event } from '@call-analysis/events';
import type { FailureReason } from '../port.ts';
import type { Body } from './events.ts';

export function numberOf(event: Event): number {
  return (event.data as Body).n;
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

export function takeInto(heard: Event[] | undefined): (events: readonly Event[]) => Promise<void> {
  return async (events) => {
    heard?.push(...events);
  };
}

/** Takes down what was given up. */
export function obituaries(): {
  told: { event: Event; reason: FailureReason }[];
  giveUp(event: Event, reason: FailureReason): Promise<void>;
} {
  const told: { event: Event; reason: FailureReason }[] = [];
  return {
    told,
    async giveUp(event, reason) {
      told.push({ event, reason });
    },
  };
}

/** Has an event in hand for ever. */
export function hanging(): { hasBegun(): boolean; handle(): Promise<void> } {
  let begun = false;
  return {
    hasBegun: () => begun,
    handle() {
      begun = true;
      return new Promise(() => {});
    },
  };
}
