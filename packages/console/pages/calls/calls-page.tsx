import './calls.css';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, useEffect } from 'react';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay, useSession } from '../../session/session.ts';
import { Button, Popup } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { later } from '../../widgets/later.tsx';
import { useTitle, Failed, Loading, State } from '../../widgets/page.tsx';
import { useTyped } from '../../widgets/use-typed.ts';
import { callsTexts } from '../texts.ts';
import { openFromList } from './call-list.tsx';
import { type CallSearch, DEFAULT_SORT, isFiltered, type Sort } from './call-search.ts';
import { ExportButton } from './export-button.tsx';
import { FilterBar } from './filters/filter-bar.tsx';
import { CallsTable } from './table/calls-table.tsx';
import { ColumnChoice, SortChoice, storeColumns, storedColumns } from './table/columns.tsx';
import { useCalls } from './use-calls.ts';
import { storageKey, isSameSearch, useViews } from './views/views.tsx';

/** Loaded with the first selection. */
const SelectionBar = later(() => import('./selection/selection-bar.tsx'));
/** Loaded with the first search. */
const SearchedElsewhere = later(() => import('./elsewhere/searched-elsewhere.tsx'));
const LocalViews = later(() => import('./views/local-views.tsx'));

const route = getRouteApi('/calls');

/** The calls of the firm: find, sort, choose, and open one. */
export function CallsPage() {
  const t = callsTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/calls' });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [columns, setColumns] = useState(storedColumns);
  const calls = useCalls(search);
  const selectedCalls = calls.items.filter(({ uuid }) => selected.has(uuid));
  const mayProcess = useMay('process');
  const mayReview = useMay('review');
  const isOwn = useSession().role === 'OPERATOR';
  const title = t(isOwn ? 'titleOwn' : 'title');
  useTitle(title);
  const shell = shellTexts.use();
  const hasFailed = calls.error !== null && calls.items.length === 0;
  const change = (changed: Partial<CallSearch>) => {
    setSelected(new Set());
    void navigate({ search: { ...search, ...changed }, replace: true });
  };
  const sort = search.sort ?? DEFAULT_SORT;
  const onSort = (next: Sort) => change({ sort: next === DEFAULT_SORT ? undefined : next });
  return (
    <div className="page calls-page">
      <div className="page-head">
        <h1>{title}</h1>
        <p className="muted number" role="status">
          {calls.isPending || hasFailed
            ? ''
            : t(calls.isEstimate ? 'countAbout' : 'count', { n: calls.count, count: format.number(calls.count) })}
          {calls.isStale && <span className="calls-stale"> · {t('stale')}</span>}
        </p>
      </div>
      {mayReview && localStorage.getItem(storageKey()) !== null && <LocalViews />}
      <div className="calls-tools">
        <SearchField value={search.q ?? ''} onChange={(q) => change({ q: q === '' ? undefined : q })} />
        <div className="calls-choices">
          {mayReview && <SavedViews search={search} onOpen={(view) => void navigate({ search: view })} />}
          {mayReview && calls.count > 0 && <ExportButton search={search} />}
          <ColumnChoice
            columns={columns}
            onChange={(names) => {
              storeColumns(names);
              setColumns(names);
            }}
          />
        </div>
      </div>
      <FilterBar search={search} onChange={change}>
        <SortChoice sort={sort} columns={columns} onSort={onSort} />
      </FilterBar>
      {search.q !== undefined && (
        <SearchedElsewhere
          q={search.q}
          isNothingFound={!calls.isPending && !calls.isChanging && calls.items.length === 0}
          onChange={change}
        />
      )}
      {selectedCalls.length > 0 && (
        <SelectionBar
          selected={selectedCalls}
          search={search}
          matching={
            selectedCalls.length === calls.items.length && calls.count > calls.items.length ? calls.count : null
          }
          onClear={() => setSelected(new Set())}
        />
      )}
      {calls.isPending ? (
        <Loading />
      ) : hasFailed ? (
        <Failed error={calls.error} retry={calls.retry} />
      ) : calls.items.length === 0 ? (
        isFiltered(search) ? (
          <State title={t('none.title')} text={t('none.text')}>
            <Button onClick={() => void navigate({ search: {} })}>{t('none.clear')}</Button>
          </State>
        ) : (
          <State title={t('empty.title')} text={t(isOwn ? 'empty.textOwn' : 'empty.text')}>
            {mayProcess && (
              <Link to="/upload" className="button">
                {shell('nav.upload')}
              </Link>
            )}
          </State>
        )
      ) : (
        <CallsTable
          calls={calls.items}
          count={calls.count}
          columns={columns}
          sort={sort}
          onSort={onSort}
          selected={selected}
          onSelect={mayReview ? setSelected : null}
          onEnd={calls.loadMore}
          onOpen={(uuid) =>
            openFromList({
              title: t('title'),
              uuids: calls.items.map((call) => call.uuid),
              more: calls.cursor === null ? null : { search, cursor: calls.cursor },
              opened: uuid,
            })
          }
          words={search.q}
        />
      )}
    </div>
  );
}

const TYPING_MS = 300;

/** Searches the words of conversations when the user stops typing. */
function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = callsTexts.use();
  const { typed, setTyped, send } = useTyped(value, onChange);
  useEffect(() => {
    // The service refuses a search without a word.
    if (typed.trim() === value || (typed.trim() !== '' && !/[\p{L}\p{N}]/u.test(typed))) return;
    const timer = setTimeout(() => send(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="calls-search" role="search">
      <Icon name="search" />
      <input
        type="search"
        className="input"
        maxLength={255}
        value={typed}
        placeholder={t('search')}
        aria-label={t('search')}
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  );
}

const loadViews = () => import('./views/saved-views.tsx');
const ViewChoice = later(async () => ({ default: (await loadViews()).ViewChoice }));
const ViewsDialog = later(async () => ({ default: (await loadViews()).ViewsDialog }));

/** Filters under a name: the person's own, and those that others share with the firm. */
function SavedViews({ search, onOpen }: { search: CallSearch; onOpen: (search: CallSearch) => void }) {
  const t = callsTexts.use();
  const { data: views = [] } = useViews();
  const [isManaging, setManaging] = useState(false);
  const open = views.find((view) => isSameSearch(view.query, search));
  return (
    <>
      <Popup
        icon="star"
        label={<span className="wide-only foreign views-open">{open?.name ?? t('views')}</span>}
        name={open === undefined ? t('views') : t('views.open', { name: open.name })}
      >
        <ViewChoice {...{ views, open, search, onOpen }} onManage={() => setManaging(true)} />
      </Popup>
      {isManaging && <ViewsDialog views={views} onClose={() => setManaging(false)} />}
    </>
  );
}
