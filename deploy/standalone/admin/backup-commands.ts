import { type Environment, StartFault } from '@call-analysis/runtime';
import type { Command } from 'commander';
import { showProgress, type Terminal } from '../backup/progress.ts';
import { readPlace, withOrWithoutService } from './with-or-without-service.ts';

const BACKUP = `
Copies the database and the files of this machine's data directory as of one moment, also while the service runs. The
folder must be new or empty, outside of the data directory. Prints { directory, calls, objects, bytes, seconds }: at least
so many calls are in the backup. It holds everything that the data directory protects: keep it as safe.

  npm run -s admin -- backup /mnt/backups/2026-11-22
  npm run -s admin -- backup verify /mnt/backups/2026-11-22
  npm run -s admin -- restore /mnt/backups/2026-11-22 --data-dir ./restored
  DATA_DIR=./restored npm start`;

interface Tools {
  readonly env: Environment;
  readonly stderr: Terminal;
  readonly version: string;
  readonly write: (value: unknown) => void;
}

/** Adds `backup`, `backup verify` and `restore`. */
export function addBackupCommands(program: Command, { env, stderr, version, write }: Tools): void {
  const backup = program
    .command('backup')
    .description('copy everything on this machine to a folder, also while the service runs')
    .argument('<directory>', 'a new or empty folder')
    .addHelpText('after', BACKUP)
    .action(async (directory: string) => write(await backUpMachine(directory, version, env, stderr)));
  backup
    .command('verify')
    .description('read a backup and compare every file with its SHA-256')
    .argument('<directory>', 'the folder of the backup')
    .action(async (directory: string) => {
      const { verifyBackup } = await import('../backup/restore-backup.ts');
      write(await verifyBackup(directory, showProgress(stderr)));
    });
  program
    .command('restore')
    .description('make a data directory from a backup')
    .argument('<directory>', 'the folder of the backup')
    .requiredOption('--data-dir <directory>', 'the new data directory; it must not exist or be empty')
    .action(async (directory: string, { dataDir }: { dataDir: string }) => {
      const { restoreBackup } = await import('../backup/restore-backup.ts');
      write(await restoreBackup(directory, dataDir, showProgress(stderr)));
    });
}

async function backUpMachine(target: string, version: string, env: Environment, stderr: Terminal) {
  const place = await readPlace(env);
  const elsewhere = [
    place.remote !== undefined && 'KEY_MANAGEMENT_ADDRESS',
    place.settings?.databaseUrl !== undefined && 'DATABASE_URL',
    place.settings?.s3 !== undefined && 'S3_ENDPOINT',
    place.settings?.kafka !== undefined && 'KAFKA_BROKERS',
  ].filter((name) => typeof name === 'string');
  if (place.remote !== undefined || elsewhere.length > 0) {
    throw new StartFault(
      `${elsewhere.join(' and ')} is set, so not all data is on this machine. docs/operations.md, "Back-up and restore", says how each part is backed up.`,
    );
  }
  const { settings } = place;
  const directory = place.openDirectory();
  const [{ backUp }, { findOwnServer }] = await Promise.all([import('../backup/back-up.ts'), import('../database.ts')]);
  const work = async () => {
    const server = await findOwnServer(directory);
    if (server === null) throw new StartFault('The database of the service does not answer. Retry shortly.');
    return backUp(directory, server, target, { version, progress: showProgress(stderr) });
  };
  return withOrWithoutService(settings, directory, work, async () => {
    const { withDatabase } = await import('./start-briefly.ts');
    return withDatabase(settings, directory, work);
  });
}
