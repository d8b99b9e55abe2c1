// A process of the tests that kill: the service on the configuration in its first argument, until it is killed.
import { createLog } from '@call-analysis/runtime';
import { start } from '../start.ts';

const { config, sender } = JSON.parse(process.argv[2] ?? '') as {
  config: Parameters<typeof start>[0];
  sender: { leaseMs: number; pollMs: number };
};
const service = await start(config, { log: createLog({ name: 'webhooks', level: 'error' }), sender });
process.stdout.write('ready\n');
process.once('SIGTERM', () => void service.close());
