import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { v8Flags } from '../../deploy/v8-flags.ts';
import { atMost, type Figure, median } from '../harness/figure.ts';

const CONNECTIONS = 50;
/** V8 compiles what is used often, in the background. */
const WARM_UP_SECONDS = 4;

/**
 * The processor time of one GET without a backend: request id, trace, rate limits by address and firm, security headers,
 * metrics and a log line, through a router with all other endpoints. Compared with plain express, which only returns the
 * same body. Each is its own process with the flags of `npm start`. They are loaded alternately.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const servers = [await startServer('gateway'), await startServer('express')] as const;
  try {
    for (const server of servers) await server.microseconds(WARM_UP_SECONDS);
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let round = 0; round < (quick ? 3 : 12); round++) {
      ours.push(await servers[0].microseconds(1));
      theirs.push(await servers[1].microseconds(1));
    }
    return [
      atMost(2.5, {
        name: 'processor time of a request without work',
        value: median(ours),
        unit: 'µs',
        yardstick: { name: 'plain express, µs', value: median(theirs) },
        ratios: ours.map((each, round) => each / theirs[round]!),
      }),
    ];
  } finally {
    for (const { stop } of servers) stop();
  }
}

async function startServer(kind: string) {
  const child = fork(fileURLToPath(new URL('./request-server.ts', import.meta.url)), [kind], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
    execArgv: [...v8Flags],
  });
  const [url] = (await once(child, 'message')) as [string];
  const used = async () => {
    child.send('processor time');
    return ((await once(child, 'message')) as [number])[0];
  };
  return {
    /** For each request, of all threads of the server. */
    async microseconds(duration: number): Promise<number> {
      const before = await used();
      const { non2xx, errors, requests } = await autocannon({ url: `${url}/bare`, connections: CONNECTIONS, duration });
      if (non2xx + errors > 0) throw new Error(`${non2xx} refused, ${errors} failed`);
      return ((await used()) - before) / requests.total;
    },
    stop: () => child.disconnect(),
  };
}
