import { Fault } from '@call-analysis/fault';
import { type Database, DEADLOCKS_RETRIED } from '@call-analysis/postgres';
import type { Person } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { View, ViewFields, Views } from './view-store.ts';

const MAX_PER_PERSON = 200;

interface Deps {
  readonly db: Database;
  readonly views: Views;
}

/** Faults: TOO_MANY_VIEWS; FORBIDDEN for a REVIEWER's shared view. */
export async function createView({ db, views }: Deps, caller: Person, fields: ViewFields): Promise<View> {
  requireSharer(caller, fields);
  const at = new Date();
  const view = { uuid: uuidv7(), ...fields, by: caller.userUuid, created_at: at, updated_at: at };
  await db.transaction(async (tx) => {
    if ((await views.countLocked(tx, caller.firmUuid, caller.userUuid)) >= MAX_PER_PERSON) {
      const message = `A person has at most ${MAX_PER_PERSON} views. Delete one that is no longer used.`;
      throw new Fault('conflict', 'TOO_MANY_VIEWS', message);
    }
    await views.save(tx, caller.firmUuid, view);
  }, DEADLOCKS_RETRIED);
  return view;
}

/** Changes the given fields of the caller's own view; an ADMIN changes shared ones too. Faults: NOT_FOUND, FORBIDDEN. */
export async function changeView(
  { db, views }: Deps,
  caller: Person,
  uuid: string,
  fields: Partial<ViewFields>,
): Promise<View> {
  requireSharer(caller, fields);
  return db.transaction(async (tx) => {
    const view = await changeable(views, caller, uuid, tx);
    const changed = { ...view, ...fields, updated_at: new Date() };
    await views.save(tx, caller.firmUuid, changed);
    return changed;
  }, DEADLOCKS_RETRIED);
}

/** Faults as `changeView`. */
export async function deleteView({ db, views }: Deps, caller: Person, uuid: string): Promise<void> {
  await db.transaction(async (tx) => {
    await changeable(views, caller, uuid, tx);
    await views.remove(tx, caller.firmUuid, uuid);
  });
}

/** What a REVIEWER arranges is for the REVIEWER alone. */
function requireSharer({ role }: Person, { shared }: Partial<ViewFields>): void {
  if (role !== 'REVIEWER' || shared !== true) return;
  throw new Fault('forbidden', 'FORBIDDEN', 'A REVIEWER saves views for themselves. Ask an ADMIN to share one.');
}

async function changeable(
  views: Views,
  { firmUuid, userUuid, role }: Person,
  uuid: string,
  tx: Parameters<Views['get']>[3],
): Promise<View> {
  const view = await views.get(firmUuid, userUuid, uuid, tx);
  if (view.by !== userUuid && role !== 'ADMIN')
    throw new Fault('forbidden', 'FORBIDDEN', 'Only its owner and an ADMIN change a shared view. Save your own.');
  return view;
}
