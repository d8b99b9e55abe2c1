import './inbox.css';
import { Link } from '@tanstack/react-router';
import { api, send, type Schemas, get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useMay } from '../../session/session.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Icon, type IconName } from '../../widgets/icon.tsx';
import { List, usePages } from '../../widgets/list.tsx';
import { Page, State } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { CallLink } from '../calls/call-list.tsx';
import { inboxTexts } from '../texts.ts';

type InboxItem = Schemas['InboxItem'];

const POLL_MS = 30_000;

const ICONS: Readonly<Record<InboxItem['kind'], IconName>> = {
  mention: 'comment',
  assignment: 'person',
  dispute: 'flag',
  calibration: 'columns',
};

/** What waits for the person: mentions, assignments, disputes and calibrations. */
export default function InboxPage() {
  const t = inboxTexts.use();
  const inbox = usePages((query) => get(['inbox', query], '/api/v1/inbox', { query }), {
    refetchInterval: POLL_MS,
    staleTime: 0,
  });
  const mayReview = useMay('review');
  const uuids = [...new Set(inbox.items.flatMap(({ call_uuid }) => call_uuid ?? []))];
  const { count = 0 } = inbox;
  return (
    <Page
      title={t('title')}
      className="inbox"
      beside={
        <p className="muted number" role="status">
          {count > 0 && t('count', { n: count, count: format.number(count) })}
        </p>
      }
    >
      <List
        label={t('title')}
        pages={inbox}
        none={
          <State title={t('empty.title')} text={t('empty.text')}>
            {mayReview && (
              <Link to="/review" className="button">
                {t('empty.queue')}
              </Link>
            )}
          </State>
        }
      >
        {(items) => (
          <ul className="card inbox-items">
            {items.map((item) => (
              <Item key={`${item.kind} ${item.uuid}`} item={item} uuids={uuids} />
            ))}
          </ul>
        )}
      </List>
    </Page>
  );
}

/** `uuids`: the calls of the list. */
function Item({ item, uuids }: { item: InboxItem; uuids: readonly string[] }) {
  const t = inboxTexts.use();
  const nameOf = usePersonName();
  const { uuid, kind, by, at, due, text, operator_name, start_time, call_uuid } = item;
  const title = <span className="foreign">{t(`kind.${kind}`, { name: nameOf(by) })}</span>;
  const putAway = useAction(
    () => send(api.DELETE('/api/v1/inbox/mentions/{comment_uuid}', { params: { path: { comment_uuid: uuid } } })),
    { changes: [['inbox']] },
  );
  const isLate = due !== null && Date.parse(due) < Date.now();
  return (
    <li className="inbox-item">
      <Icon name={ICONS[kind]} />
      <div>
        {call_uuid === null ? (
          <Link to="/calibrations/$uuid" params={{ uuid }} className="inbox-link">
            {title}
          </Link>
        ) : (
          <CallLink
            uuid={call_uuid}
            list={{ title: t('title'), uuids }}
            question={item.question_uuid}
            className="inbox-link"
          >
            {title}
          </CallLink>
        )}
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
      {kind === 'mention' && (
        <Button isSmall disabled={putAway.isPending} onClick={() => putAway.mutate()}>
          {t('mention.read')}
        </Button>
      )}
    </li>
  );
}
