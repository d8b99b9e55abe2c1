import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { type Database, type Sql, sqlState } from '@call-analysis/postgres';
import type { Actor } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { Limits } from '../limits.ts';
import type { IngestPrisma } from '../prisma.ts';

export interface UploadSession {
  readonly uuid: string;
  readonly metadataKey: string;
  readonly audioKey: string | null;
  readonly expiresAt: Date;
}

export type Owner = Pick<Actor, 'firmUuid' | 'userUuid'>;

/** Every storage key of a user begins with this. */
export function keyPrefix(country: string, owner: Owner): string {
  return `${country}/${owner.firmUuid}/${owner.userUuid}/`;
}

const LOCK_NOT_AVAILABLE = '55P03';
/** How often a request looks whether another process has finished with its upload session. */
const LOOK_EVERY_MS = 200;
/** The most changes that one statement folds. */
const CHANGES_PER_STATEMENT = 10_000;

/** Another request, of another process perhaps, is processing the upload session. */
export class SessionTaken extends Error {}

/** Throws SessionTaken when another transaction has locked it: waiting would hold a connection that other uploads need. */
export async function lockSession(sql: Sql, uuid: string): Promise<void> {
  try {
    await sql.query('SELECT 1 FROM upload_session WHERE uuid = $1 FOR UPDATE NOWAIT', [uuid]);
  } catch (error) {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new SessionTaken() : error;
  }
}

/** Waits without a connection while another process is processing the upload session. */
export async function untilFree(db: Sql, uuid: string): Promise<void> {
  for (;;) {
    try {
      return await lockSession(db, uuid);
    } catch (error) {
      if (!(error instanceof SessionTaken)) throw error;
      await pause(LOOK_EVERY_MS);
    }
  }
}

export function uploads(prisma: IngestPrisma, db: Database) {
  return {
    /**
     * Opens a session with the key `<prefix><filename>` for each file. When an open session of the user has that key,
     * the file is renamed, so that one upload cannot overwrite another.
     */
    async open(
      owner: Owner,
      files: { prefix: string; metadata: string; audios: string | null; campaignUuid: string | null },
      lifetimeSeconds: number,
    ): Promise<UploadSession> {
      const now = new Date();
      return db.transaction(async (tx) => {
        // Of two concurrent requests for one name, the second must see the key of the first.
        await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [owner.userUuid]);
        const freeKey = async (filename: string) => {
          for (let name = filename; ; name = renamed(filename)) {
            const key = files.prefix + name;
            const held = await tx.query(
              'SELECT 1 FROM upload_session WHERE (metadata_key = $1 OR audio_key = $1) AND expires_at > $2 LIMIT 1',
              [key, now],
            );
            if (held.length === 0) return key;
          }
        };
        const session = {
          uuid: uuidv7(),
          metadataKey: await freeKey(files.metadata),
          audioKey: files.audios === null ? null : await freeKey(files.audios),
          expiresAt: new Date(now.getTime() + lifetimeSeconds * 1000),
        };
        await tx.query(
          `INSERT INTO upload_session (uuid, firm_uuid, user_uuid, metadata_key, audio_key, created_at, expires_at,
             campaign_uuid)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
          [
            session.uuid,
            owner.firmUuid,
            owner.userUuid,
            session.metadataKey,
            session.audioKey,
            now,
            session.expiresAt,
            files.campaignUuid,
          ],
        );
        return session;
      });
    },

    /** The user's newest session with this key, in this campaign or in none. */
    async findByKey(owner: Owner, metadataKey: string, campaignUuid: string | null): Promise<UploadSession | null> {
      return prisma.uploadSession.findFirst({
        where: { firmUuid: owner.firmUuid, userUuid: owner.userUuid, metadataKey, campaignUuid },
        orderBy: { createdAt: 'desc' },
        select: { uuid: true, metadataKey: true, audioKey: true, expiresAt: true },
      });
    },

    /** How many bytes of recordings and archives are stored for the firm. */
    async storedBytes(firmUuid: string, sql: Sql = db): Promise<number> {
      const [row] = await sql.query<{ bytes: number }>(
        'SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM stored_bytes WHERE firm_uuid = $1',
        [firmUuid],
      );
      return row!.bytes;
    },

    /** Adds up the changes of stored bytes, so that they stay quick to read. Several processes may do it at once. */
    async foldStoredBytes(): Promise<void> {
      for (let folded = CHANGES_PER_STATEMENT; folded === CHANGES_PER_STATEMENT;) {
        const [result] = await db.query<{ folded: number }>(
          `WITH taken AS (
             DELETE FROM stored_bytes WHERE id IN (
               SELECT id FROM stored_bytes WHERE firm_uuid IN (
                 SELECT firm_uuid FROM stored_bytes GROUP BY firm_uuid HAVING count(*) > 1)
               ORDER BY id LIMIT ${CHANGES_PER_STATEMENT} FOR UPDATE SKIP LOCKED)
             RETURNING firm_uuid, bytes),
           added AS (
             INSERT INTO stored_bytes (firm_uuid, bytes) SELECT firm_uuid, sum(bytes) FROM taken GROUP BY firm_uuid)
           SELECT count(*)::int AS folded FROM taken`,
        );
        folded = result?.folded ?? 0;
      }
    },

    /** The keys of a firm's processed uploads whose files can be removed: no later session has the same keys. */
    async done(tx: Sql, firmUuid: string): Promise<string[]> {
      const rows = await tx.query<{ key: string }>(
        `SELECT key FROM upload_session AS session
         CROSS JOIN LATERAL (VALUES (session.metadata_key), (session.audio_key)) AS given (key)
         WHERE session.firm_uuid = $1 AND session.swept_at IS NULL AND key IS NOT NULL
           AND EXISTS (SELECT FROM batch WHERE batch.session_uuid = session.uuid)
           AND NOT EXISTS (SELECT FROM upload_session AS later WHERE later.created_at > session.created_at
             AND later.uuid <> session.uuid AND (later.metadata_key = key OR later.audio_key = key))`,
        [firmUuid],
      );
      return rows.map(({ key }) => key);
    },

    /**
     * Expired sessions whose files have not been removed, or were last removed less than a day after they expired although
     * that day is over.
     */
    async toSweep(now: Date, limit: number): Promise<UploadSession[]> {
      const columns = 'uuid, metadata_key AS "metadataKey", audio_key AS "audioKey", expires_at AS "expiresAt"';
      return db.query<UploadSession>(
        `(SELECT ${columns} FROM upload_session WHERE swept_at IS NULL AND expires_at < $1 ORDER BY expires_at LIMIT $2)
         UNION ALL (SELECT ${columns} FROM upload_session
         WHERE swept_at - expires_at < interval '1 day' AND expires_at < $1::timestamptz - interval '1 day'
         ORDER BY expires_at LIMIT $2)`,
        [now, limit],
      );
    },

    /** Whether a session that has not expired has this key, and may still put a file there. */
    async isHeld(key: string, now: Date): Promise<boolean> {
      const holder = await prisma.uploadSession.findFirst({
        where: { OR: [{ metadataKey: key }, { audioKey: key }], expiresAt: { gt: now } },
        select: { uuid: true },
      });
      return holder !== null;
    },

    async markSwept(uuid: string, now: Date): Promise<void> {
      await prisma.uploadSession.update({ where: { uuid }, data: { sweptAt: now } });
    },
  };
}

/** For a key that an open session already has. */
function renamed(filename: string): string {
  const dot = filename.lastIndexOf('.');
  return `${filename.slice(0, dot)}-${randomBytes(3).toString('hex')}${filename.slice(dot)}`;
}

export type Uploads = ReturnType<typeof uploads>;

export interface StorageDeps {
  readonly uploads: Uploads;
  readonly limits: Pick<Limits, 'storageQuotaBytes'>;
}

/**
 * Throws Fault STORAGE_QUOTA_EXCEEDED when the firm's stored recordings and archives, with `addedBytes` more, exceed the
 * quota. Uploads within the same moments may exceed it together. `sql`: the transaction of the caller, if it has one.
 */
export async function requireStorage(
  { uploads, limits }: StorageDeps,
  firmUuid: string,
  addedBytes: number,
  sql?: Sql,
): Promise<void> {
  const quota = limits.storageQuotaBytes;
  if (quota === null) return;
  const bytes = await uploads.storedBytes(firmUuid, sql);
  if (bytes + addedBytes > quota) throw quotaExceeded(quota, bytes, addedBytes);
}

function quotaExceeded(quota: number, used: number, added: number): Fault {
  return new Fault(
    'invalid',
    'STORAGE_QUOTA_EXCEEDED',
    `Your firm's storage quota is ${quota} bytes. It stores ${used} bytes, and this upload has ${added}. ` +
      'Erase calls that are no longer needed, or ask the operator of the service for a larger quota.',
    { details: { quota_bytes: quota, used_bytes: used, upload_bytes: added } },
  );
}
