import { useQuery } from '@tanstack/react-query';
import { allPages, api, type Schemas, send } from '../api/client.ts';
import { shellTexts } from '../i18n/texts.ts';
import { useSession } from '../session/session.ts';

export type Person = Schemas['Person'];

const STALE_MS = 60_000;

const peopleQuery = {
  queryKey: ['people'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    allPages((query) => send(api.GET('/api/v1/people', { params: { query }, signal }))),
  staleTime: STALE_MS,
};

/** The people of the firm by name; the API user is none. */
export function usePeople(isWanted = true): readonly Person[] {
  const { data = [] } = useQuery({ ...peopleQuery, enabled: isWanted });
  return data.filter(({ is_api_user }) => !is_api_user).toSorted((a, b) => a.name.localeCompare(b.name));
}

/** What to call a person: "you", a name, or "a colleague" where the person was removed. */
export function usePersonName(): (uuid: string) => string {
  const t = shellTexts.use();
  const { userUuid } = useSession();
  const { data = [] } = useQuery(peopleQuery);
  return (uuid) => (uuid === userUuid ? t('you') : (data.find((each) => each.uuid === uuid)?.name ?? t('someone')));
}
