import type { Page } from '@call-analysis/postgres';
import type { Firm, Role, User } from '../domain.ts';
import type { Firm as FirmRow, Prisma } from '../generated/client.ts';

const SEGMENT_TYPES = { segmentTypes: { orderBy: { position: 'asc' } } } as const;

/** Settings that are not given have the defaults of the table. */
export type NewFirm = Pick<Firm, 'uuid' | 'name' | 'country' | 'segmentTypes'> &
  Partial<Pick<Firm, 'language' | 'timeZone'>>;

export function firmReads(client: Prisma.TransactionClient) {
  return {
    async findFirm(uuid: string): Promise<Firm | null> {
      const row = await client.firm.findUnique({ where: { uuid }, include: SEGMENT_TYPES });
      return row === null ? null : toFirm(row);
    },
    /** Oldest first. */
    async listFirms(): Promise<Firm[]> {
      const rows = await client.firm.findMany({
        include: SEGMENT_TYPES,
        orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
      });
      return rows.map(toFirm);
    },
  };
}

export function firmRows(tx: Prisma.TransactionClient) {
  return {
    findFirm: firmReads(tx).findFirm,
    async addFirm({ segmentTypes, ...firm }: NewFirm): Promise<Firm> {
      const row = await tx.firm.create({ data: firm });
      const names = segmentTypes.map((name) => ({ firmUuid: firm.uuid, name }));
      // Positions come from a sequence, which follows the order of the rows in one insert.
      await tx.segmentType.createMany({ data: names });
      return toFirm({ ...row, segmentTypes: names });
    },
    /** Until the transaction ends, no other one that locks the firm changes it or its users. */
    async lockFirm(uuid: string): Promise<void> {
      await tx.$queryRaw`SELECT 1 FROM firm WHERE uuid = ${uuid}::uuid FOR NO KEY UPDATE`;
    },
    async changeFirm({ uuid, segmentTypes: _segmentTypes, ...data }: Firm): Promise<void> {
      await tx.firm.update({ where: { uuid }, data });
    },
    async setSegmentTypes(firmUuid: string, names: readonly string[]): Promise<void> {
      await tx.segmentType.deleteMany({ where: { firmUuid } });
      await tx.segmentType.createMany({ data: names.map((name) => ({ firmUuid, name })) });
    },
    /** False when the firm already has it. */
    async addSegmentType(firmUuid: string, name: string): Promise<boolean> {
      const { count } = await tx.segmentType.createMany({ data: [{ firmUuid, name }], skipDuplicates: true });
      return count > 0;
    },
  };
}

/** Only values that requests.ts has parsed are stored. */
function toFirm({
  createdAt: _createdAt,
  segmentTypes,
  ...row
}: FirmRow & { readonly segmentTypes: readonly { readonly name: string }[] }): Firm {
  return { ...row, segmentTypes: segmentTypes.map(({ name }) => name) } as Firm;
}

export function userReads(client: Prisma.TransactionClient) {
  return {
    /** Null also for a removed user. */
    findUser: (uuid: string): Promise<User | null> => client.user.findUnique({ where: { uuid, deletedAt: null } }),
    /** Oldest first, without removed users. Without a page, all of them. */
    async listUsers(firmUuid: string, page?: Page): Promise<{ count: number; users: User[] }> {
      const where = { firmUuid, deletedAt: null };
      const count = await client.user.count({ where });
      const skip = page === undefined ? 0 : (page.page - 1) * page.size;
      if (skip >= count) return { count, users: [] };
      const users = await client.user.findMany({
        where,
        orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
        skip,
        ...(page !== undefined && { take: page.size }),
      });
      return { count, users };
    },
  };
}

export function userRows(tx: Prisma.TransactionClient) {
  return {
    findUser: userReads(tx).findUser,
    /** Until the transaction ends, no other one changes the user, revokes the user's tokens or ends all sessions. */
    async lockUser(uuid: string): Promise<void> {
      await tx.$queryRaw`SELECT 1 FROM firm_user WHERE uuid = ${uuid}::uuid FOR NO KEY UPDATE`;
    },
    /** The oldest one that was not removed. */
    findFirstSuperuser: (): Promise<User | null> =>
      tx.user.findFirst({
        where: { role: 'SUPERUSER', webApiOnly: false, deletedAt: null },
        orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
      }),
    async revokeTokens(uuid: string, before: Date): Promise<void> {
      await tx.user.update({ where: { uuid }, data: { tokensRevokedBefore: before } });
    },
    /** The uuid of the firm's API user. */
    async findApiUser(firmUuid: string): Promise<string | null> {
      const user = await tx.user.findFirst({ where: { firmUuid, webApiOnly: true, deletedAt: null } });
      return user?.uuid ?? null;
    },
    async addUser({ operatorIds, ...user }: User): Promise<void> {
      await tx.user.create({ data: { ...user, operatorIds: [...operatorIds] } });
    },
    async changeUser(
      uuid: string,
      { name, role, operatorIds }: Pick<User, 'name' | 'role' | 'operatorIds'>,
    ): Promise<void> {
      await tx.user.update({ where: { uuid }, data: { name, role, operatorIds: [...operatorIds] } });
    },
    /** The firm's people who have the role. */
    countPeople: (firmUuid: string, role: Role): Promise<number> =>
      tx.user.count({ where: { firmUuid, role, webApiOnly: false, deletedAt: null } }),
    /** Marks the user as removed. Null when there is no such user, or the user was removed before. */
    async removeUser(uuid: string, at: Date): Promise<User | null> {
      const [removed] = await tx.user.updateManyAndReturn({
        where: { uuid, deletedAt: null },
        data: { deletedAt: at },
      });
      return removed ?? null;
    },
  };
}
