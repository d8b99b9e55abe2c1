import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'key-management',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Keeps firms, users, API keys and the audit log.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
