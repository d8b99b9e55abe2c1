// A process of the relay's tests: relays an outbox until it is killed.
import { BusConfig } from '../config.ts';
import { openBus } from '../open.ts';

const bus = await openBus(BusConfig.parse(JSON.parse(process.argv[2] ?? '')), {
  name: 'relay-worker',
  log: { info: (_fields, message) => process.stdout.write(`${message}\n`), warn() {}, error() {} },
});
process.once('SIGTERM', () => void bus.close());
