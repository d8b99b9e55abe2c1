import * as format from '../i18n/format.ts';
import { Icon } from './icon.tsx';

interface Props {
  /** The name of the list, for screen readers. */
  readonly name: string;
  readonly earlier: string;
  readonly later: string;
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

/** Goes through the pages of a list. Nothing where there is one page. */
export function Pager({ name, earlier, later, page, pages, onPage }: Props) {
  if (pages <= 1) return null;
  return (
    <nav className="pager" aria-label={name}>
      <button
        type="button"
        className="button button-icon"
        aria-label={earlier}
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      >
        <Icon name="left" />
      </button>
      <span className="number">
        {format.number(page)} / {format.number(pages)}
      </span>
      <button
        type="button"
        className="button button-icon"
        aria-label={later}
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      >
        <Icon name="right" />
      </button>
    </nav>
  );
}
