import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'analysis',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Turns conversations into answers, metrics and scores; keeps the scorecards.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
