import { runService } from '@call-analysis/runtime';
import { readConfig, variables } from './config.ts';

await runService({
  name: 'audio',
  args: process.argv.slice(2),
  env: process.env,
  about: 'Takes recordings in, alone and out of archives, and checks what they are.',
  variables,
  readConfig,
  load: () => import('./start.ts'),
});
