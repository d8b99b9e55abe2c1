import { type Environment, StartFault } from '@call-analysis/runtime';
import type { Command } from 'commander';
import { readPlace } from './with-or-without-service.ts';

const ROTATE = `
To change the key, without stopping the service:
  1. Make a key:  echo "2026-12:$(openssl rand -base64 32)"
     Put its line first into the file that ENCRYPTION_KEY_FILE names, keep the others, restart the processes one by one.
  2. npm run -s admin -- encryption rotate
  3. Remove the old lines. Backups from before still need them.
Only data keys are written again, so it takes seconds. Prints { current, rotated }.`;

/** Adds `encryption status` and `encryption rotate`. */
export function addEncryptionCommands(program: Command, env: Environment, write: (value: unknown) => void): void {
  const encryption = program.command('encryption').description('the keys that encrypt stored data');
  encryption
    .command('status')
    .description('print which key encrypts each data key')
    .action(async () => {
      const dataKeys = await openDataKeys(env);
      write(dataKeys === null ? { enabled: false } : { enabled: true, ...(await dataKeys.status()) });
    });
  encryption
    .command('rotate')
    .description('encrypt the data keys with the first key of the key file')
    .addHelpText('after', ROTATE)
    .action(async () => {
      const dataKeys = await openDataKeys(env);
      if (dataKeys === null) throw new StartFault('ENCRYPTION_KEY_FILE is not set, so nothing is encrypted.');
      const rotated = await dataKeys.rotate();
      write({ current: (await dataKeys.status()).current, rotated });
    });
}

async function openDataKeys(env: Environment) {
  const [place, { openStore, requiredS3, S3Variables }, encryption] = await Promise.all([
    readPlace(env),
    import('@call-analysis/objects'),
    import('@call-analysis/encryption'),
  ]);
  if (place.remote !== undefined) {
    const { withSecrets } = await import('@call-analysis/runtime');
    const read = withSecrets(env, [S3Variables, encryption.EncryptionVariables]);
    const config = { ...requiredS3(read), encryption: encryption.encryptionKeysFrom(read) };
    return (await openStore(config)).dataKeys;
  }
  const { settings } = place;
  const directory = place.openDirectory();
  const store = settings.s3 ?? {
    store: 'disk' as const,
    directory: directory.objects,
    secret: directory.secrets.urlSecret,
  };
  return (await openStore({ ...store, encryption: settings.encryption })).dataKeys;
}
