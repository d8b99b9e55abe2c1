import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '@call-analysis/runtime';
import type { Settings } from '../config.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { Administration } from './administration.ts';

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
      if (await isReady(admin)) return await withService(admin);
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

async function isReady(admin: { ready(): Promise<void> }): Promise<boolean> {
  try {
    await admin.ready();
    return true;
  } catch {
    return false;
  }
}

/** Where people reach the service that runs here, or would run. PUBLIC_URL goes before. */
export async function serviceUrl(env: Environment): Promise<string> {
  const [{ readRemote, readSettings }, { urlOfService }] = await Promise.all([
    import('../config.ts'),
    import('../data-directory-lock.ts'),
  ]);
  if (readRemote(env) !== undefined) return 'http://127.0.0.1:8080';
  const { dataDirectory, http } = readSettings(env);
  const host = http.host === '0.0.0.0' || http.host === '::' ? '127.0.0.1' : http.host;
  return urlOfService(dataDirectory) ?? `http://${host}:${http.port}`;
}
