import { dialAdministration } from './admin/administration.ts';
import type { Settings } from './config.ts';
import type { Standalone } from './start.ts';

/** A link that signs the first SUPERUSER in. Null when there is none, or when no link can be made: the service runs anyway. */
export async function signInLink(running: Standalone, settings: Settings): Promise<string | null> {
  const admin = dialAdministration(running.keyManagement, settings, running.directory.secrets.jwtSecret);
  try {
    return (await admin.signInLink(null, running.url))?.link ?? null;
  } catch {
    return null;
  } finally {
    admin.close();
  }
}
