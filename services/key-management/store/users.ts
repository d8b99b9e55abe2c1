import type { Page } from '@call-analysis/postgres';
import type { Role, User } from '../domain.ts';
import type { Prisma } from '../generated/client.ts';

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
