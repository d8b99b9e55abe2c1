import { createRequire } from 'node:module';

/** The part of the client's request queue that is patched here. There is one for each connection. */
interface RequestQueue {
  /** Milliseconds since the epoch; in the past unless the broker asked for a pause. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/**
 * Stops the client from waking up a thousand times a second on every connection, each time with a warning by Node: its timer
 * for requests that the broker asked to delay also runs when none is delayed (tulios/kafkajs#1751). Requests that wait for
 * earlier ones are sent when an answer arrives, without a timer.
 */
export function stopIdleTimers(): void {
  const { prototype }: { prototype: RequestQueue } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue');
  prototype.scheduleCheckPendingRequests = function schedule(this: RequestQueue) {
    const waitMs = this.throttledUntil - Date.now();
    if (waitMs <= 0 || this.throttleCheckTimeoutId !== null) return;
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, waitMs);
  };
}
