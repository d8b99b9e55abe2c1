import { keepPreviousData, type QueryKey, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState, Fragment } from 'react';
import type { Page } from '../api/client.ts';
import * as format from '../i18n/format.ts';
import { shellTexts } from '../i18n/texts.ts';
import { Button } from './controls.tsx';
import { LoadingOrFailed, type Query } from './page.tsx';

type Fetch<Item> = (context: { signal: AbortSignal }) => Promise<Page<Item>>;

interface Options {
  /** Items of a page. */
  readonly size?: number;
  readonly refetchInterval?: number;
  readonly staleTime?: number;
}

const SIZE = 20;

/** A list of the API, page by page. It begins at its first page when what is asked for changes. */
export function usePages<Item>(
  of: (query: { page: number; size: number }) => { queryKey: QueryKey; queryFn: Fetch<Item> },
  { size = SIZE, ...options }: Options = {},
) {
  const asked = JSON.stringify(of({ page: 1, size }).queryKey);
  const [at, setAt] = useState({ asked, page: 1 });
  const wanted = at.asked === asked ? at.page : 1;
  const query = useQuery({ ...of({ page: wanted, size }), placeholderData: keepPreviousData, ...options });
  const pages = Math.max(1, Math.ceil((query.data?.count ?? 0) / size));
  // The last page is gone when its items are done.
  if (query.data !== undefined && !query.isPlaceholderData && wanted > pages) setAt({ asked, page: pages });
  return {
    query,
    count: query.data?.count,
    items: query.data?.items ?? [],
    page: wanted,
    pages,
    setPage: (page: number) => setAt({ asked, page }),
  };
}

export type Pages<Item> = ReturnType<typeof usePages<Item>>;

interface ListProps<Item> {
  /** The name of the list, for screen readers. */
  readonly label: string;
  readonly pages: Pages<Item>;
  /** What is shown where there is nothing. */
  readonly none: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}

/** The items of a list with all that a list needs: that it is fetched, has failed or has none, and its pages. */
export function List<Item>({
  label,
  pages: { query, count, items, page, pages, setPage },
  none,
  children,
}: ListProps<Item>) {
  const t = shellTexts.use();
  return (
    <>
      <LoadingOrFailed query={query} />
      {count === 0 && none}
      {items.length > 0 && children(items)}
      {pages > 1 && (
        <nav className="pager" aria-label={t('pages', { name: label })}>
          <Button icon="left" label={t('pages.before')} disabled={page <= 1} onClick={() => setPage(page - 1)} />
          <span className="number">
            {format.number(page)} / {format.number(pages)}
          </span>
          <Button icon="right" label={t('pages.after')} disabled={page >= pages} onClick={() => setPage(page + 1)} />
        </nav>
      )}
    </>
  );
}

export function PagedTable<Item>(props: Omit<ListProps<Item>, 'children'> & Omit<TableProps<Item>, 'items'>) {
  const { pages, none, ...table } = props;
  return (
    <List label={props.label} pages={pages} none={none}>
      {(items) => <Table {...table} items={items} />}
    </List>
  );
}

interface QueryProps {
  readonly query: Query;
  /** What is said where it has nothing. */
  readonly none: string;
}

/** What a query has found as a table, or that it is fetched, has failed or has nothing. */
export function QueryTable<Item>({ query, none, ...table }: QueryProps & TableProps<Item>) {
  if (query.data === undefined) return <LoadingOrFailed query={query} />;
  return table.items.length === 0 ? <p className="muted">{none}</p> : <Table {...table} />;
}

type Cell<Item> = (item: Item) => ReactNode;

interface ColumnOptions {
  /** Of the cells. */
  readonly className?: string | undefined;
  /** What is shown instead of the title. */
  readonly head?: ReactNode;
}

interface Column<Item> extends ColumnOptions {
  readonly title: string;
  readonly kind: 'name' | 'number' | 'actions' | null;
  readonly cell: Cell<Item>;
}

function columnsOf<Item>() {
  const of =
    (kind: Column<Item>['kind'], className?: string) =>
    (title: string, cell: Cell<Item>, options: ColumnOptions = {}): Column<Item> => ({
      title,
      kind,
      cell,
      className,
      ...options,
    });
  return {
    /** Heads its row. */
    name: of('name', 'foreign'),
    /** Aligned to the end. */
    number: of('number', 'number'),
    /** What callers sent. */
    text: of(null, 'foreign'),
    /** In the console's words. */
    plain: of(null),
    /** Without its title beside it on a narrow screen. */
    actions: of('actions'),
  };
}

export type Columns<Item> = ReturnType<typeof columnsOf<Item>>;

export interface TableProps<Item> {
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly className?: string;
  readonly columns: (kinds: Columns<Item>) => readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly keyOf: (item: Item, index: number) => string | number;
  /** What a row opens to by its name; null where there is nothing. */
  readonly details?: (item: Item) => ReactNode;
  readonly foot?: ReactNode;
}

/** A table of items, one a row. It scrolls sideways and becomes a list on a narrow screen. */
export function Table<Item>({ label, className = 'scroll-x', items, keyOf, details, foot, ...rest }: TableProps<Item>) {
  const [open, setOpen] = useState<string | number | null>(null);
  const columns = rest.columns(columnsOf<Item>());
  return (
    <div className={className} tabIndex={0} role="region" aria-label={label}>
      <table role="table" className="table table-stack">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, head = title, kind }, at) => (
              <th
                key={`${at} ${title}`}
                role="columnheader"
                scope="col"
                className={kind === 'number' ? 'number' : undefined}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {items.map((item, index) => {
            const key = keyOf(item, index);
            const opened = details?.(item) || null;
            const isOpen = open === key && opened !== null;
            return (
              <Fragment key={key}>
                <tr role="row">
                  {columns.map(({ title, kind, className: ofCell, cell }, at) =>
                    kind === 'name' ? (
                      <th key={`${at} ${title}`} role="rowheader" scope="row" className={ofCell}>
                        {opened === null ? (
                          cell(item)
                        ) : (
                          <button
                            type="button"
                            className="link"
                            aria-expanded={isOpen}
                            onClick={() => setOpen(isOpen ? null : key)}
                          >
                            {cell(item)}
                          </button>
                        )}
                      </th>
                    ) : (
                      <td
                        key={`${at} ${title}`}
                        role="cell"
                        className={ofCell}
                        data-column={kind === 'actions' ? undefined : title}
                      >
                        {cell(item)}
                      </td>
                    ),
                  )}
                </tr>
                {isOpen && (
                  <tr role="row">
                    <td role="cell" colSpan={columns.length}>
                      {opened}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
        {foot}
      </table>
    </div>
  );
}
