import { setTimeout as pause } from 'node:timers/promises';
import { openTcpProxy } from '@call-analysis/testing';
import { eventsOf } from '../kafka/outbox/outbox.ts';
import { startRelay } from '../kafka/outbox/relay.ts';
import { numberOf } from './new-event.ts';

/**
 * Relays the outbox of the database with the URL in its argument, through a connection that breaks before Kafka acknowledges
 * the first request, and prints the numbers of the events of each request. Ends by SIGTERM, or by what nobody handles.
 */
const url = new URL(process.argv[2]!);
const proxy = await openTcpProxy({ port: Number(url.port) });
url.port = String(proxy.port);
let requests = 0;

const relay = startRelay(
  { schema: 'bus', name: 'test', log: { info() {}, warn() {}, error() {} }, logBackgroundError() {} },
  {
    url: url.href,
    sender: {
      refusal: undefined,
      suspendedTopics: () => [],
      async send(rows) {
        process.stdout.write(`${JSON.stringify(rows.flatMap(eventsOf).map(numberOf))}\n`);
        if (requests++ > 0) return [...rows];
        // The next rows are being read.
        proxy.blackhole();
        await pause(50);
        proxy.cut();
        await pause(200);
        proxy.heal();
        return [...rows];
      },
      async close() {},
    },
  },
);
process.once('SIGTERM', () => void relay.close().then(() => proxy.close()));
