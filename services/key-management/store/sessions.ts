import type { Prisma, PrismaClient, ProviderIdentity as Identity } from '../generated/client.ts';

/** Who somebody is at an identity provider: its `iss`, and its `sub` for the person. */
export type ProviderIdentity = Pick<Identity, 'issuer' | 'subject'>;

const SESSION = { uuid: true, userUuid: true, idleUntil: true, expiresAt: true } as const;
type Session = Prisma.SessionGetPayload<{ select: typeof SESSION }>;

/** Sessions and one-time codes. Secrets are stored as hashes alone. */
export function sessionRows(tx: Prisma.TransactionClient) {
  return {
    async addSignInCode({ hash, ...code }: { hash: Buffer; userUuid: string; expiresAt: Date }): Promise<void> {
      await tx.signInCode.create({ data: { ...code, hash: new Uint8Array(hash) } });
    },
    /**
     * Removes the code, locks its user as `lockUser` does, and returns the user's uuid. Null when it is unknown or has
     * expired. Of two concurrent calls one gets it.
     */
    async takeSignInCode(hash: Buffer, now: Date): Promise<string | null> {
      // The user first: revoking the user's tokens removes the codes too, in this order.
      await tx.$queryRaw`
        SELECT 1 FROM firm_user WHERE uuid = (SELECT user_uuid FROM sign_in_code WHERE hash = ${new Uint8Array(hash)})
        FOR NO KEY UPDATE`;
      // One statement, so that the code is used once.
      const taken = await tx.$queryRaw<{ user_uuid: string }[]>`
        DELETE FROM sign_in_code WHERE hash = ${new Uint8Array(hash)} AND expires_at > ${now} RETURNING user_uuid`;
      return taken[0]?.user_uuid ?? null;
    },
    /** The user of an identity, also when the user was removed. */
    findProviderIdentity: ({ issuer, subject }: ProviderIdentity): Promise<{ userUuid: string } | null> =>
      tx.providerIdentity.findUnique({
        where: { issuer_subject: { issuer, subject } },
        select: { userUuid: true },
      }),
    async addProviderIdentity({ issuer, subject }: ProviderIdentity, userUuid: string): Promise<void> {
      await tx.providerIdentity.create({ data: { issuer, subject, userUuid } });
    },
    async addSession({ hash, ...session }: Session & { hash: Buffer }): Promise<void> {
      await tx.session.create({ data: { ...session, hash: new Uint8Array(hash) } });
    },
    /** Extends a session that has not ended, at most until it expires. */
    async extendSession(hash: Buffer, now: Date, idleUntil: Date): Promise<Session | null> {
      const [found] = await tx.session.updateManyAndReturn({
        where: { hash: new Uint8Array(hash), idleUntil: { gt: now }, expiresAt: { gt: now } },
        data: { idleUntil },
        select: SESSION,
      });
      return found ?? null;
    },
    async endSession(hash: Buffer): Promise<Session | null> {
      const where = { hash: new Uint8Array(hash) };
      const found = await tx.session.findUnique({ where, select: SESSION });
      const { count } = await tx.session.deleteMany({ where });
      return count === 0 ? null : found;
    },
    /** Ends all sessions of a user and removes the user's codes. */
    async endSessionsOf(userUuid: string): Promise<void> {
      await tx.session.deleteMany({ where: { userUuid } });
      await tx.signInCode.deleteMany({ where: { userUuid } });
    },
  };
}

export function sessionReads(prisma: PrismaClient) {
  return {
    /** Whether the session is the user's and has not ended. */
    async hasSession(uuid: string, userUuid: string): Promise<boolean> {
      const where = { uuid, userUuid, expiresAt: { gt: new Date() } };
      return (await prisma.session.count({ where })) > 0;
    },
    /** Removes what has expired. */
    async pruneSessions(now: Date): Promise<void> {
      await prisma.signInCode.deleteMany({ where: { expiresAt: { lte: now } } });
      await prisma.session.deleteMany({ where: { OR: [{ expiresAt: { lte: now } }, { idleUntil: { lte: now } }] } });
    },
  };
}
