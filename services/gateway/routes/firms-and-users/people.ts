import { type FieldFault, invalidFields } from '@call-analysis/fault';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import type { Caller } from '../../authentication/caller.ts';

/** Throws VALIDATION_ERROR for those who are not people of the caller's firm. */
export async function requirePeople(
  keys: Pick<Client<typeof keyManagement>, 'findUser'>,
  { firmUuid }: Caller,
  fields: Readonly<Record<string, string | readonly string[] | null>>,
): Promise<void> {
  const named = Object.entries(fields).flatMap(([name, given]) =>
    given === null || typeof given === 'string'
      ? [{ field: name, uuid: given }]
      : given.map((uuid, at) => ({ field: `${name}.${at}`, uuid })),
  );
  const faults = await Promise.all(
    named.map(async ({ field, uuid }): Promise<FieldFault[]> => {
      if (uuid === null) return [];
      const { user } = await keys.findUser({ user_uuid: uuid, firm_uuid: firmUuid });
      if (user !== undefined && user !== null && !user.web_api_only) return [];
      return [{ field, code: 'INVALID', message: 'is not a user of this firm' }];
    }),
  );
  if (faults.flat().length > 0) throw invalidFields(faults.flat());
}
