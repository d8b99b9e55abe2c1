import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'transcription',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Turns recordings into text.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
