import { type Caller, type Page, requireRole } from '../domain.ts';
import type { ListedKey } from '../store/api-keys.ts';
import type { Store } from '../store/store.ts';

/** One page of the active keys of all firms, newest first, and their total number. Fault: FORBIDDEN. */
export async function listKeys(
  { store }: { store: Store },
  caller: Caller,
  page: Page,
): Promise<{ count: number; items: readonly ListedKey[] }> {
  requireRole(caller, ['SUPERUSER'], 'Listing API keys');
  return store.listActiveKeys(page);
}
