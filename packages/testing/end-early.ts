/** npm forwards a signal that the terminal has sent to both. Only one that comes later than this is a second one. */
const ECHO_MS = 250;

/**
 * For commands that run for hours: aborts at the first SIGINT (Ctrl-C) or SIGTERM, so that the command can end with the
 * figures that it has. A second signal exits with 1.
 */
export function endEarly(what: string, say: (line: string) => void): AbortSignal {
  const over = new AbortController();
  let endedAt = Infinity;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (performance.now() - endedAt > ECHO_MS) process.exit(1);
      if (over.signal.aborted) return;
      endedAt = performance.now();
      say(`${signal}: ${what} end; a second signal stops everything without figures`);
      over.abort();
    });
  }
  return over.signal;
}
