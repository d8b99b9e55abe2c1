// A process of the relay's tests: relays an outbox until it is killed.
import type { BusConfig } from '../config.ts';
import { openBus } from '../open.ts';

const bus = await openBus(JSON.parse(process.argv[2] ?? '') as BusConfig, {
  name: 'relay-worker',
  log: { info: (_fields, message) => process.stdout.write(`${message}\n`), warn() {}, error() {} },
});
process.once('SIGTERM', () => void bus.close());
