import { rm } from 'node:fs/promises';
import { createLog } from '@call-analysis/runtime';
import { bareEnvironment } from '@call-analysis/testing';
import { readSettings, start } from '../../start.ts';
import { type RunningService, startedDirectory } from './service-process.ts';

/**
 * Starts the service in this process, for tests that neither end the process nor read its output: to load the service costs a
 * process of its own two seconds of processor time. It answers nothing while the test waits synchronously, as `execFileSync` does.
 * Without `dataDirectory`, on a new one in the state after a first start.
 * The service gets these variables, and no settings of the test's environment.
 */
export async function startServiceHere(
  dataDirectory?: string,
  variables: Record<string, string> = {},
): Promise<RunningService> {
  const directory = dataDirectory ?? (await startedDirectory());
  const settings = readSettings({ ...bareEnvironment(), PORT: '0', ...variables, DATA_DIR: directory });
  const running = await start(settings, { log: createLog({ name: 'test', level: 'silent' }) });
  return {
    url: running.url,
    directory,
    administration: { DATA_DIR: directory },
    async stop({ keep = false } = {}) {
      await running.close();
      if (!keep) await rm(directory, { recursive: true, force: true });
    },
  };
}
