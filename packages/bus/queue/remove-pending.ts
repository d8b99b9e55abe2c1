import type { Sql } from '@call-analysis/postgres';
import { isDeadQueue } from '../delivery/give-up.ts';
import { openParcel, repacked } from './event-batch.ts';
import type { RemovedEvents } from '../port.ts';

interface Found {
  readonly name: string;
  readonly id: string;
  readonly tier: string | null;
  readonly data: unknown;
}

/**
 * Looks through the jobs of one firm, of which a large batch has tens of thousands; no index is worth its cost to every
 * job for what is asked this seldom.
 */
export async function removePending(
  tx: Sql,
  schema: string,
  { firmUuid, subject, but }: { firmUuid: string; subject: string; but: string },
): Promise<RemovedEvents> {
  const found = await tx.query<Found>(
    `SELECT name, id, group_tier AS tier, data FROM ${schema}.job
      WHERE group_id = $1::text AND (data->'subjects' ? $2::text
        OR (data->>'subject' = $2::text AND data->>'type' <> $3::text))
      ORDER BY name, id`,
    [firmUuid, subject, but],
  );
  let removed = 0;
  let inProgress = 0;
  for (const job of found) {
    const parcel = openParcel(job.data);
    const left = parcel?.filter((event) => event.subject !== subject || event.type === but) ?? [];
    if (left.length === parcel?.length) continue;
    if (!(await reduce(tx, schema, job, left))) inProgress += 1;
    else removed += parcel === undefined ? 1 : parcel.length - left.length;
  }
  return { removed, inProgress };
}

/** False when the job was taken meanwhile, or changed by another that forgets. */
async function reduce(
  tx: Sql,
  schema: string,
  { name, id, tier }: Found,
  left: NonNullable<ReturnType<typeof openParcel>>,
): Promise<boolean> {
  // A dead letter is in hand while its death is told, which can be told without it.
  const idle = isDeadQueue(name) ? '' : `AND state <> 'active'`;
  const which = `name = $1 AND id = $2 ${idle} AND group_tier IS NOT DISTINCT FROM $3::text`;
  const rest = left.length === 0 ? null : repacked(left);
  const done =
    rest === null
      ? await tx.query(`DELETE FROM ${schema}.job WHERE ${which} RETURNING 1`, [name, id, tier])
      : await tx.query(`UPDATE ${schema}.job SET data = $4, group_tier = $5 WHERE ${which} RETURNING 1`, [
          name,
          id,
          tier,
          JSON.stringify(rest.stored),
          rest.tier,
        ]);
  return done.length > 0;
}
