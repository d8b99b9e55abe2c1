/** The package has no types. */
declare module 'on-headers' {
  import type { ServerResponse } from 'node:http';
  /** Calls the listener when the head of the response is about to be written. */
  export default function onHeaders(response: ServerResponse, listener: () => void): void;
}
