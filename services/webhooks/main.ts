import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'webhooks',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Sends events to the addresses that firms have registered; keeps those addresses and the deliveries.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
