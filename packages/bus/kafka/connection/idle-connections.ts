import { createRequire } from 'node:module';

/** The client's queue of requests on one connection, as far as it is mended here. */
interface RequestQueue {
  /** Milliseconds since the epoch; in the past where the broker asks for no pause. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/**
 * Stops the client from waking up a thousand times a second on every connection, with a warning of Node's each time that
 * it begins: its timer for requests that the broker asked to put off runs where nothing was put off, too
 * (tulios/kafkajs#1751). Requests that wait for those before them are sent when an answer comes, without any timer.
 */
export function restIdleConnections(): void {
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
