import { noSuch, type User } from '../domain.ts';
import type { Store } from '../store.ts';

/** A firm's users, including its API user and without removed users, oldest first. Fault: NOT_FOUND. */
export async function listUsers({ store }: { store: Store }, firmUuid: string): Promise<readonly User[]> {
  if ((await store.findFirm(firmUuid)) === null) throw noSuch('firm');
  return store.listUsers(firmUuid);
}
