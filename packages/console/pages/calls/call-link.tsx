import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { openFromList } from './call-list.ts';

interface Props {
  readonly uuid: string;
  /** The heading and the calls of the list in which it stands: the calls before and after it are found there. */
  readonly list: { readonly title: string; readonly uuids: readonly string[] };
  /** The question to open first. */
  readonly question?: string | null | undefined;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A link to a call in a list. */
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
