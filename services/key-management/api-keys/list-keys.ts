import { type Caller, type Pages, requireRole } from '../domain.ts';
import type { ListedKey, Store } from '../store.ts';

/** One page of the active keys of all firms, newest first, and how many there are. Faults: FORBIDDEN. */
export async function listKeys(
  { store }: { store: Store },
  caller: Caller,
  pages: Pages,
): Promise<{ count: number; items: readonly ListedKey[] }> {
  requireRole(caller, ['SUPERUSER'], 'Listing API keys');
  return store.activeKeys(pages);
}
