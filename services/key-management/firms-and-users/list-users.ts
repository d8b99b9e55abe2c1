import { noSuch, type Page, type User } from '../domain.ts';
import type { Store } from '../store/store.ts';

/** A firm's users, including its API user and without removed users, oldest first. Fault: NOT_FOUND. */
export async function listUsers(
  { store }: { store: Store },
  firmUuid: string,
  page?: Page,
): Promise<{ count: number; users: readonly User[] }> {
  const found = await store.listUsers(firmUuid, page);
  if (found.count === 0 && (await store.findFirm(firmUuid)) === null) throw noSuch('firm');
  return found;
}
