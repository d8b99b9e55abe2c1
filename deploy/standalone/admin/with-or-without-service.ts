import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '@call-analysis/runtime';
import type { Settings } from '../config.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { Administration } from './administration.ts';

/**
 * The address of the system that the environment names or, when it names none, the settings of this machine. Modules are
 * loaded when they are needed, so that --help and usage errors need none of them.
 */
export async function readPlace(env: Environment) {
  const [{ readRemote, readSettings }, { openDataDirectory }] = await Promise.all([
    import('../config.ts'),
    import('../data-directory.ts'),
  ]);
  const remote = readRemote(env);
  if (remote !== undefined) return { remote };
  const settings = readSettings(env);
  return { remote, settings, openDirectory: () => openDataDirectory(settings.dataDirectory) };
}

/** How long to wait for a service that is starting or stopping. Meanwhile it accepts no commands. */
const RETRY_MS = 60_000;
const POLL_MS = 100;

/** Runs `withService` when the service runs and `withoutService` when none does; waits while one starts or stops. */
export async function withOrWithoutService<Result>(
  settings: Settings,
  directory: DataDirectory,
  withService: (admin: Administration) => Promise<Result>,
  withoutService: () => Promise<Result>,
): Promise<Result> {
  const { dialAdministration } = await import('./administration.ts');
  const giveUpAt = Date.now() + RETRY_MS;
  for (;;) {
    const admin = dialAdministration(directory.socket('key-management'), settings, directory.secrets.jwtSecret);
    try {
      const isReady = await admin.ready().then(
        () => true,
        () => false,
      );
      if (isReady) return await withService(admin);
    } finally {
      admin.close();
    }
    try {
      return await withoutService();
    } catch (error) {
      const { LockedFault } = await import('../data-directory-lock.ts');
      if (!(error instanceof LockedFault) || Date.now() > giveUpAt) throw error;
    }
    await pause(POLL_MS);
  }
}

/**
 * Where people reach the service when PUBLIC_URL, which sign-in links prefer, is not set: the service that runs here, or the
 * address that it would have. Of a system elsewhere it is not known.
 */
export async function serviceUrl(env: Environment): Promise<string> {
  const [place, { urlOfService }] = await Promise.all([readPlace(env), import('../data-directory-lock.ts')]);
  if (place.remote !== undefined) return 'http://127.0.0.1:8080';
  const { dataDirectory, http } = place.settings;
  const host = http.host === '0.0.0.0' || http.host === '::' ? '127.0.0.1' : http.host;
  return urlOfService(dataDirectory) ?? `http://${host}:${http.port}`;
}
