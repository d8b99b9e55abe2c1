import { start as startKeyManagement } from '@call-analysis/key-management';
import { Closing, createLog } from '@call-analysis/runtime';
import type { Settings } from './config.ts';
import type { DataDirectory } from './data-directory.ts';
import { openDatabase } from './database.ts';

/**
 * Does `work` with a key-management of our own at the address, started for it alone. HeldFault while another process
 * has the data directory. What was woken is put to sleep again, also when the work fails or the process is told to end.
 */
export async function wake<Result>(
  settings: Settings,
  directory: DataDirectory,
  work: (address: string) => Promise<Result>,
): Promise<Result> {
  const log = createLog({ name: 'admin', level: 'silent' });
  const closing = new Closing(log);
  let opening: Promise<unknown> = Promise.resolve();
  const interrupt = async (signal: NodeJS.Signals) => {
    // A database that is just being started cannot be stopped yet.
    await opening.catch(() => {});
    // The codes that a shell expects of a process that a signal ended.
    await closing.close().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const opened = openDatabase(settings, directory, 'admin', { log, closing });
    opening = opened;
    const database = await opened;
    const keys = await startKeyManagement(
      {
        databaseUrl: database.url('key_management'),
        bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus', exclusive: true },
        listen: directory.socket('admin'),
        pepper: settings.apiKeyPepper ?? directory.secrets.apiKeyPepper,
      },
      { log },
    );
    closing.add('key-management', () => keys.close());
    return await work(keys.address);
  } finally {
    await closing.close();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
