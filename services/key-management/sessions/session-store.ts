import type { Prisma, PrismaClient } from '../generated/client.ts';

export interface Session {
  readonly uuid: string;
  readonly userUuid: string;
  /** The session ends then unless it is refreshed before. */
  readonly idleUntil: Date;
  /** The session ends then in any case. */
  readonly expiresAt: Date;
}

/** Who somebody is at an identity provider: its `iss`, and its `sub` for the person. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** Sessions and one-time codes, as part of a transaction. Secrets are stored as hashes alone. */
export interface SessionRows {
  addSignInCode(code: { hash: Buffer; userUuid: string; expiresAt: Date }): Promise<void>;
  /**
   * Removes the code, locks its user as `lockUser` does, and returns the user's uuid. Null when it is unknown or has expired. Of two concurrent
   * calls one gets it.
   */
  takeSignInCode(hash: Buffer, now: Date): Promise<string | null>;
  /** The user of an identity, also when the user was removed. */
  findProviderIdentity(identity: ProviderIdentity): Promise<{ userUuid: string } | null>;
  addProviderIdentity(identity: ProviderIdentity, userUuid: string): Promise<void>;
  addSession(session: Session & { hash: Buffer }): Promise<void>;
  /** Extends a session that has not ended, at most until it expires. */
  extendSession(hash: Buffer, now: Date, idleUntil: Date): Promise<Session | null>;
  endSession(hash: Buffer): Promise<Session | null>;
  /** Ends all sessions of a user and removes the user's codes. */
  endSessionsOf(userUuid: string): Promise<void>;
}

const SESSION = { uuid: true, userUuid: true, idleUntil: true, expiresAt: true } as const;

export function sessionRows(tx: Prisma.TransactionClient): SessionRows {
  return {
    async addSignInCode({ hash, ...code }) {
      await tx.signInCode.create({ data: { ...code, hash: new Uint8Array(hash) } });
    },
    async takeSignInCode(hash, now) {
      // The user first: revoking the user's tokens removes the codes too, in this order.
      await tx.$queryRaw`
        SELECT 1 FROM firm_user WHERE uuid = (SELECT user_uuid FROM sign_in_code WHERE hash = ${new Uint8Array(hash)})
        FOR NO KEY UPDATE`;
      // One statement, so that the code is used once.
      const taken = await tx.$queryRaw<{ user_uuid: string }[]>`
        DELETE FROM sign_in_code WHERE hash = ${new Uint8Array(hash)} AND expires_at > ${now} RETURNING user_uuid`;
      return taken[0]?.user_uuid ?? null;
    },
    findProviderIdentity: ({ issuer, subject }) =>
      tx.providerIdentity.findUnique({
        where: { issuer_subject: { issuer, subject } },
        select: { userUuid: true },
      }),
    async addProviderIdentity({ issuer, subject }, userUuid) {
      await tx.providerIdentity.create({ data: { issuer, subject, userUuid } });
    },
    async addSession({ hash, ...session }) {
      await tx.session.create({ data: { ...session, hash: new Uint8Array(hash) } });
    },
    async extendSession(hash, now, idleUntil) {
      const [found] = await tx.session.updateManyAndReturn({
        where: { hash: new Uint8Array(hash), idleUntil: { gt: now }, expiresAt: { gt: now } },
        data: { idleUntil },
        select: SESSION,
      });
      return found ?? null;
    },
    async endSession(hash) {
      const where = { hash: new Uint8Array(hash) };
      const found = await tx.session.findUnique({ where, select: SESSION });
      const { count } = await tx.session.deleteMany({ where });
      return count === 0 ? null : found;
    },
    async endSessionsOf(userUuid) {
      await tx.session.deleteMany({ where: { userUuid } });
      await tx.signInCode.deleteMany({ where: { userUuid } });
    },
  };
}

export async function hasSession(prisma: PrismaClient, uuid: string, userUuid: string): Promise<boolean> {
  const now = new Date();
  const where = { uuid, userUuid, expiresAt: { gt: now } };
  return (await prisma.session.count({ where })) > 0;
}

export async function pruneSessions(prisma: PrismaClient, now: Date): Promise<void> {
  await prisma.signInCode.deleteMany({ where: { expiresAt: { lte: now } } });
  await prisma.session.deleteMany({ where: { OR: [{ expiresAt: { lte: now } }, { idleUntil: { lte: now } }] } });
}
