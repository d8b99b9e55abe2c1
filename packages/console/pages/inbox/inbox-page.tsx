import './inbox.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { usePersonName } from '../../api/people.ts';
import * as format from '../../i18n/format.ts';
import { Icon, type IconName } from '../../widgets/icon.tsx';
import { Pager } from '../../widgets/pager.tsx';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { openFromList } from '../call/list/call-list.ts';
import { inboxTexts } from './texts.ts';
import { type InboxItem, useInbox } from './use-inbox.ts';

const SIZE = 20;

const ICONS: Readonly<Record<InboxItem['kind'], IconName>> = {
  mention: 'comment',
  assignment: 'person',
  dispute: 'flag',
  calibration: 'columns',
};

/** What waits for the person: mentions, assignments, disputes and calibrations. */
export function InboxPage() {
  const t = inboxTexts.use();
  useTitle(t('title'));
  const [page, setPage] = useState(1);
  const inbox = useInbox(page, SIZE);
  const { data } = inbox;
  const pages = Math.max(1, Math.ceil((data?.count ?? 0) / SIZE));
  // The last page is gone when its items are done.
  if (data !== undefined && page > pages) setPage(pages);
  return (
    <div className="page inbox">
      <div className="page-head">
        <h1>{t('title')}</h1>
        <p className="muted number" role="status">
          {data !== undefined && data.count > 0 && t('count', { n: data.count, count: format.number(data.count) })}
        </p>
      </div>
      <LoadingOrFailed query={inbox} />
      {data?.count === 0 && (
        <State title={t('empty.title')} text={t('empty.text')}>
          <Link to="/review" className="button">
            {t('empty.queue')}
          </Link>
        </State>
      )}
      {data !== undefined && data.items.length > 0 && (
        <ul className="card inbox-items">
          {data.items.map((item) => (
            <Item
              key={`${item.kind} ${item.uuid}`}
              item={item}
              uuids={[...new Set(data.items.flatMap(({ call_uuid }) => call_uuid ?? []))]}
            />
          ))}
        </ul>
      )}
      <Pager name={t('title')} earlier={t('newer')} later={t('older')} page={page} pages={pages} onPage={setPage} />
    </div>
  );
}

function Item({ item, uuids }: Pick<TargetProps, 'item' | 'uuids'>) {
  const t = inboxTexts.use();
  const nameOf = usePersonName();
  const { kind, by, at, due, text, operator_name, start_time } = item;
  const isLate = due !== null && Date.parse(due) < Date.now();
  return (
    <li className="inbox-item">
      <Icon name={ICONS[kind]} />
      <div>
        <Target item={item} uuids={uuids}>
          <span className="foreign">{t(`kind.${kind}`, { name: nameOf(by) })}</span>
        </Target>
        {text !== null && <p className="foreign inbox-text">{text}</p>}
        <p className="muted inbox-facts">
          {operator_name !== null && start_time !== null && (
            <span className="foreign">
              {t('call', { operator: operator_name, at: format.shortDateTime(start_time) })}
            </span>
          )}
          <time dateTime={at}>{format.shortDateTime(at)}</time>
          {due !== null && (
            <span className={isLate ? 'inbox-late' : undefined}>
              {t(isLate ? 'late' : 'due', { at: format.shortDateTime(due) })}
            </span>
          )}
        </p>
      </div>
    </li>
  );
}

interface TargetProps {
  readonly item: InboxItem;
  /** The calls of the list. */
  readonly uuids: readonly string[];
  readonly children: ReactNode;
}

function Target({ item: { uuid, call_uuid, question_uuid }, uuids, children }: TargetProps) {
  const t = inboxTexts.use();
  if (call_uuid === null)
    return (
      <Link to="/calibrations/$uuid" params={{ uuid }} className="inbox-link">
        {children}
      </Link>
    );
  return (
    <Link
      to="/calls/$uuid"
      params={{ uuid: call_uuid }}
      search={question_uuid === null ? {} : { question: question_uuid }}
      className="inbox-link"
      onClick={() => openFromList({ title: t('title'), uuids, opened: call_uuid })}
    >
      {children}
    </Link>
  );
}
