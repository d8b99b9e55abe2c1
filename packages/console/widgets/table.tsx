import type { ReactNode } from 'react';

interface Head {
  readonly title: string;
  /** `name` heads its row, `number` is aligned to the end, `unlabelled` has no title beside it on a narrow screen. */
  readonly kind?: 'name' | 'number' | 'unlabelled';
}

export interface Column<Item> extends Head {
  /** Of the cells. */
  readonly className?: string;
  readonly cell: (item: Item) => ReactNode;
}

interface FrameProps {
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly className?: string;
  readonly heads: readonly Head[];
  /** The body of the table, and its foot. */
  readonly children: ReactNode;
}

/** A table with its head, which scrolls sideways and becomes a list on a narrow screen. */
export function TableFrame({ label, className = 'scroll-x', heads, children }: FrameProps) {
  return (
    <div className={className} tabIndex={0} role="region" aria-label={label}>
      <table role="table" className="table table-stack">
        <thead role="rowgroup">
          <tr role="row">
            {heads.map(({ title, kind }) => (
              <th key={title} role="columnheader" scope="col" className={kind === 'number' ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </div>
  );
}

interface Props<Item> {
  readonly label: string;
  readonly className?: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly keyOf: (item: Item, index: number) => string | number;
}

/** A table of items, one a row. */
export function Table<Item>({ label, className = 'table-frame', columns, items, keyOf }: Props<Item>) {
  return (
    <TableFrame label={label} className={className} heads={columns}>
      <tbody role="rowgroup">
        {items.map((item, index) => (
          <tr role="row" key={keyOf(item, index)}>
            {columns.map((column) => (
              <Cell key={column.title} column={column} item={item} />
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

function Cell<Item>({ column: { title, kind, className, cell }, item }: { column: Column<Item>; item: Item }) {
  const classes = [kind === 'number' && 'number', className].filter(Boolean).join(' ') || undefined;
  if (kind === 'name')
    return (
      <th role="rowheader" scope="row" className={classes}>
        {cell(item)}
      </th>
    );
  return (
    <td role="cell" className={classes} data-column={kind === 'unlabelled' ? undefined : title}>
      {cell(item)}
    </td>
  );
}
