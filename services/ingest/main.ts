import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'ingest',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Keeps uploads, batches, campaigns and the catalogue of calls.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
