import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'gateway',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Serves the API to the world: authentication, rate limits, routes, documentation.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
