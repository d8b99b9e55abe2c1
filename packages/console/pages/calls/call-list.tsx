import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { currentSession, onUserChange } from '../../session/session.ts';
import { createStore, storedJson } from '../../store.ts';
import type { CallSearch } from './call-search.ts';

/** The list that a call was opened from. It is kept in the tab, so that it survives a reload, and calls that leave the list stay. */
export interface CallList {
  /** Whose list it is. */
  readonly userUuid: string;
  /** Its page: a path with its query. */
  readonly back: string;
  /** The heading of its page. */
  readonly title: string;
  readonly uuids: readonly string[];
  /** What continues it; null where it is complete. */
  readonly more: { readonly search: CallSearch; readonly cursor: string } | null;
  /** The call that was opened last. */
  readonly opened: string;
}

const KEY = 'console.call-list';
const kept = createStore(storedJson(sessionStorage, KEY) as CallList | null);
onUserChange(() => {
  kept.set(null);
  sessionStorage.removeItem(KEY);
});

/** Also after a reload it is no other user's. */
function own(list: CallList | null): CallList | null {
  return list !== null && list.userUuid === currentSession()?.userUuid ? list : null;
}

function store(list: CallList): void {
  kept.set(list);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // There is no room. The call opens without its neighbours after a reload.
  }
}

/** For a link in a list, when a call is opened by it. */
export function openFromList(
  list: Pick<CallList, 'title' | 'uuids' | 'opened'> & Partial<Pick<CallList, 'more'>>,
): void {
  store({ userUuid: currentSession()?.userUuid ?? '', more: null, ...list, back: location.pathname + location.search });
}

export function noteOpened(opened: string): void {
  const list = own(kept.get());
  if (list !== null && list.opened !== opened && list.uuids.includes(opened)) store({ ...list, opened });
}

export function extendList(list: CallList, uuids: readonly string[], cursor: string | null): void {
  const known = new Set(list.uuids);
  const more = cursor === null || list.more === null ? null : { ...list.more, cursor };
  store({ ...list, uuids: [...list.uuids, ...uuids.filter((uuid) => !known.has(uuid))], more });
}

/** Null where the call was opened from no list. */
export function useListOf(uuid: string): CallList | null {
  const list = own(kept.use());
  return list !== null && list.uuids.includes(uuid) ? list : null;
}

/** The list of this page, from which a call was opened before. */
export function listToReturnTo(): CallList | null {
  const list = own(kept.get());
  return list !== null && list.back === location.pathname + location.search ? list : null;
}

interface Props {
  readonly uuid: string;
  /** The heading and the calls of the list in which it stands: the calls before and after it are found there. */
  readonly list: { readonly title: string; readonly uuids: readonly string[] };
  /** The question to open first. */
  readonly question?: string | null | undefined;
  readonly className?: string;
  readonly children: ReactNode;
}

export function CallLink({ uuid, list, question = null, className, children }: Props) {
  return (
    <Link
      to="/calls/$uuid"
      params={{ uuid }}
      search={question === null ? {} : { question }}
      className={className}
      onClick={() => openFromList({ ...list, opened: uuid })}
    >
      {children}
    </Link>
  );
}
