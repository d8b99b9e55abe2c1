import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Button } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Crumbs } from '../../widgets/page.tsx';
import { useKeys } from '../../widgets/use-events.ts';
import { extendList, noteOpened, useListOf } from '../calls/call-list.tsx';
import { firstPage } from '../calls/call-search.ts';
import { callTexts } from '../texts.ts';
import { callQuery } from './use-call.ts';

/** The way back to the list, and to the calls before and after this one in it. */
export function Neighbours({ uuid, words }: { uuid: string; words: string | undefined }) {
  const t = callTexts.use();
  const client = useQueryClient();
  const router = useRouter();
  const navigate = useNavigate();
  const list = useListOf(uuid);
  const at = list?.uuids.indexOf(uuid) ?? -1;
  const [before, after] = [list?.uuids[at - 1], list?.uuids[at + 1]];
  const more = list !== null && after === undefined ? list.more : null;
  useEffect(() => noteOpened(uuid), [uuid]);
  useEffect(() => {
    if (after !== undefined) void client.prefetchQuery(callQuery(after));
  }, [after, client]);
  useEffect(() => {
    if (more === null || list === null) return;
    const query = { ...firstPage(more.search), cursor: more.cursor };
    client.fetchQuery(get(['calls', 'continued', query], '/api/v1/calls', { query })).then(
      ({ items, next_cursor }) =>
        extendList(
          list,
          items.map((call) => call.uuid),
          next_cursor,
        ),
      // Without connection the list ends here, until the page is opened again.
      () => {},
    );
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [more?.cursor, client]);
  const search = words === undefined ? {} : { q: words };
  const go = (to: string | undefined) => {
    if (to !== undefined) void navigate({ to: '/calls/$uuid', params: { uuid: to }, search, replace: true });
  };
  useKeys({ p: () => go(before), n: () => go(after) });
  const step = (to: string | undefined, name: string, icon: 'left' | 'right') =>
    to === undefined ? (
      <Button icon={icon} isSmall label={name} disabled />
    ) : (
      <Link
        to="/calls/$uuid"
        params={{ uuid: to }}
        search={search}
        replace
        className="button button-icon button-small"
        aria-label={name}
      >
        <Icon name={icon} size={13} />
      </Link>
    );
  return (
    <div className="call-place">
      <Crumbs>
        {list === null ? (
          <Link to="/calls">{t('calls')}</Link>
        ) : (
          <a
            href={list.back}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              router.history.push(list.back);
            }}
          >
            {list.title}
          </a>
        )}
      </Crumbs>
      {list !== null && list.uuids.length > 1 && (
        <nav className="call-steps" aria-label={t('neighbours')}>
          <span className="muted number">
            {t(list.more === null ? 'placeOf' : 'placeOfMore', {
              at: format.number(at + 1),
              of: format.number(list.uuids.length),
            })}
          </span>
          {step(before, t('previousCall'), 'left')}
          {step(after, t('nextCall'), 'right')}
        </nav>
      )}
    </div>
  );
}
