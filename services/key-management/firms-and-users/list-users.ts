import { noSuch, type User } from '../domain.ts';
import type { Store } from '../store.ts';

/** A firm's users, its API user among them, oldest first, without those that were removed. Fault: NOT_FOUND. */
export async function listUsers({ store }: { store: Store }, firmUuid: string): Promise<readonly User[]> {
  if ((await store.findFirm(firmUuid)) === null) throw noSuch('firm');
  return store.usersOf(firmUuid);
}
