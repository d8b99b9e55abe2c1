import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { get } from '../../../api/client.ts';
import { Highlighted } from '../../../widgets/highlighted.tsx';
import { useMedia } from '../../../widgets/use-media.ts';
import { callsTexts } from '../../texts.ts';
import { listToReturnTo } from '../call-list.tsx';
import type { Sort } from '../call-search.ts';
import type { Call } from '../use-calls.ts';
import { columnOf, type ColumnName, NARROW } from './columns.tsx';

interface Props {
  readonly calls: readonly Call[];
  /** All that match, loaded or not. */
  readonly count: number;
  readonly columns: readonly ColumnName[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly selected: ReadonlySet<string>;
  /** Null where there is nothing to do with selected calls. */
  readonly onSelect: ((uuids: ReadonlySet<string>) => void) | null;
  readonly onEnd: () => void;
  /** A call is opened from the list. */
  readonly onOpen: (uuid: string) => void;
  /** The words that were searched for, which the call's page highlights. */
  readonly words: string | undefined;
}

const ROW_PX = 40;
/** On a narrow window a row has three lines. */
const NARROW_ROW_PX = 76;
/** The line under a row that shows the words that were searched for. */
const SNIPPET_PX = 24;
/** Rows before the end of the list at which more are fetched. */
const AHEAD = 40;

/** The calls as a table of which only the visible rows exist. */
export function CallsTable(props: Props) {
  const { calls, columns, selected, onSelect, onEnd } = props;
  const t = callsTexts.use();
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useMedia(NARROW);
  const rowHeight = (isNarrow ? NARROW_ROW_PX : ROW_PX) + (props.words === undefined ? 0 : SNIPPET_PX);
  const { from, to } = useVirtualRows(scroller, calls.length, rowHeight);
  const last = useRef<number | null>(null);
  useKeptPosition(scroller, calls, rowHeight);
  useReturn(scroller, calls, rowHeight, onEnd);
  useEffect(() => {
    if (to > calls.length - AHEAD) onEnd();
  });

  const toggle = (index: number, withRange: boolean) => {
    const next = new Set(selected);
    const isOn = !selected.has(calls[index]!.uuid);
    const [start, end] =
      withRange && last.current !== null ? [last.current, index].sort((a, b) => a - b) : [index, index];
    for (const { uuid } of calls.slice(start, end! + 1)) {
      if (isOn) next.add(uuid);
      else next.delete(uuid);
    }
    last.current = index;
    onSelect?.(next);
  };
  const areAll = calls.length > 0 && calls.every(({ uuid }) => selected.has(uuid));
  const tracks = [...(onSelect === null ? [] : ['40px']), ...columns.map((name) => columnOf(name).width)].join(' ');
  return (
    <div className="calls-scroll card" ref={scroller} tabIndex={0} role="region" aria-label={t('title')}>
      <div
        className="calls-table"
        role="table"
        aria-label={t('title')}
        aria-rowcount={props.count + 1}
        style={{ '--tracks': tracks } as React.CSSProperties}
      >
        <div role="rowgroup" className="calls-head">
          <div className="calls-row" role="row" aria-rowindex={1}>
            {onSelect !== null && (
              <Tick
                role="columnheader"
                label={t('selectAll')}
                isOn={areAll}
                onTick={() => onSelect(areAll ? new Set() : new Set(calls.map(({ uuid }) => uuid)))}
              />
            )}
            {columns.map((name) => (
              <Heading key={name} name={name} {...props} />
            ))}
          </div>
        </div>
        <div role="rowgroup" className="calls-body" style={{ height: calls.length * rowHeight }}>
          {calls.slice(from, to).map((call, at) => {
            const index = from + at;
            return (
              <div
                key={call.uuid}
                className="calls-row"
                role="row"
                aria-rowindex={index + 2}
                aria-selected={selected.has(call.uuid)}
                style={{ transform: `translateY(${index * rowHeight}px)`, height: rowHeight }}
              >
                {onSelect !== null && (
                  <Tick
                    role="cell"
                    label={t('select', { operator: call.operator_name })}
                    isOn={selected.has(call.uuid)}
                    onTick={(withRange) => toggle(index, withRange)}
                  />
                )}
                {columns.map((name, position) => (
                  <span
                    key={name}
                    role="cell"
                    className={columnOf(name).isNumber === true ? `number cell-${name}` : `cell-${name}`}
                  >
                    {position === 0 ? (
                      <Link
                        to="/calls/$uuid"
                        params={{ uuid: call.uuid }}
                        search={props.words === undefined ? {} : { q: props.words }}
                        className="calls-link"
                        data-call={call.uuid}
                        onClick={() => props.onOpen(call.uuid)}
                      >
                        {columnOf(name).cell(call)}
                      </Link>
                    ) : (
                      columnOf(name).cell(call)
                    )}
                  </span>
                ))}
                {props.words !== undefined && (
                  <span role="cell" className="calls-hit">
                    <Snippet call={call} />
                  </span>
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface TickProps {
  readonly role: 'cell' | 'columnheader';
  readonly label: string;
  readonly isOn: boolean;
  readonly onTick: (withShift: boolean) => void;
}

/** A check box as large as a finger needs. */
function Tick({ role, label, isOn, onTick }: TickProps) {
  return (
    <span role={role} className="calls-check">
      <label>
        <input
          type="checkbox"
          aria-label={label}
          checked={isOn}
          onChange={() => {}}
          onClick={({ shiftKey }) => onTick(shiftKey)}
        />
      </label>
    </span>
  );
}

function Heading({ name, sort, onSort }: Pick<Props, 'sort' | 'onSort'> & { name: ColumnName }) {
  const t = callsTexts.use();
  const column = columnOf(name);
  const className = column.isNumber === true ? 'number' : '';
  const by = column.sort;
  if (by === undefined) {
    return (
      <span role="columnheader" className={className}>
        {t(`column.${name}`)}
      </span>
    );
  }
  const isSorted = sort === by || sort === `-${by}`;
  const direction = sort === by ? 'ascending' : 'descending';
  return (
    <span role="columnheader" className={className} aria-sort={isSorted ? direction : 'none'}>
      <button type="button" className="calls-sort" onClick={() => onSort(sort === `-${by}` ? by : `-${by}`)}>
        {t(`column.${name}`)}
        <span aria-hidden="true">{isSorted ? (sort === by ? ' ↑' : ' ↓') : ''}</span>
      </button>
    </span>
  );
}

/** Calls that arrive above the visible rows do not move them. */
function useKeptPosition(scroller: RefObject<HTMLElement | null>, calls: readonly Call[], rowHeight: number): void {
  const before = useRef(calls);
  useLayoutEffect(() => {
    const first = before.current[0]?.uuid;
    const added = first === undefined ? -1 : calls.findIndex(({ uuid }) => uuid === first);
    before.current = calls;
    const { current } = scroller;
    if (current !== null && added > 0 && current.scrollTop > rowHeight) current.scrollTop += added * rowHeight;
  });
}

/** Coming back from a call, its row is in sight and its link has the focus. */
function useReturn(
  scroller: RefObject<HTMLElement | null>,
  calls: readonly Call[],
  rowHeight: number,
  onEnd: () => void,
): void {
  const [list] = useState(listToReturnTo);
  const opened = useRef(list?.opened ?? null);
  const isScrolled = useRef(false);
  useEffect(() => {
    const { current } = scroller;
    if (opened.current === null || list === null || current === null) return;
    const at = calls.findIndex(({ uuid }) => uuid === opened.current);
    if (at < 0) {
      // It is on a page that is not loaded again yet, or has left the list.
      if (calls.length > list.uuids.indexOf(opened.current)) opened.current = null;
      else onEnd();
      return;
    }
    if (!isScrolled.current) {
      isScrolled.current = true;
      const middle = at * rowHeight - current.clientHeight / 2;
      if (middle > 0) current.scrollTop = middle;
    }
    const link = current.querySelector<HTMLElement>(`[data-call="${opened.current}"]`);
    if (link === null) return;
    link.focus({ preventScroll: true });
    opened.current = null;
  });
}

/** Rows beyond the visible ones, so that quick scrolling shows no gaps. */
const SPARE = 8;

/** Which of many rows of one height are near the visible part of a scrolled element. */
function useVirtualRows(element: RefObject<HTMLElement | null>, count: number, rowHeight: number) {
  // Those that a window can show, until the element is measured.
  const [range, setRange] = useState(() => ({ from: 0, to: Math.ceil(innerHeight / rowHeight) }));
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => {
      const from = Math.max(0, Math.floor(current.scrollTop / rowHeight) - SPARE);
      const to = Math.ceil((current.scrollTop + current.clientHeight) / rowHeight) + SPARE;
      setRange((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    // It also measures once after the next layout, which measuring here would force.
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [element, rowHeight]);
  return { from: Math.min(range.from, Math.max(0, count - 1)), to: Math.min(range.to, count) };
}

/** Characters before the first hit. */
const BEFORE = 24;
const LENGTH = 220;

/** The matched words in the first utterance that contains them. */
function Snippet({ call }: { call: Call }) {
  const [first] = call.matches ?? [];
  const { data } = useQuery({
    ...get(['transcript', call.uuid], '/api/v1/calls/{uuid}', { path: { uuid: call.uuid } }),
    enabled: first !== undefined,
    staleTime: Infinity,
  });
  const text = first === undefined ? undefined : data?.transcript?.utterances[first.utterance]?.text;
  if (first === undefined || text === undefined) return null;
  const from = cutBefore(text, first.start_char);
  const hits = (call.matches ?? []).filter(({ utterance }) => utterance === first.utterance);
  return (
    <span className="calls-snippet foreign-line">
      {from > 0 && '…'}
      <Highlighted
        text={text.slice(from, from + LENGTH)}
        spans={hits.map(({ start_char, end_char }) => ({ start: start_char - from, end: end_char - from }))}
      />
    </span>
  );
}

/**
 * The start of the snippet of a hit: the beginning of a word, unless a word is longer than the space before the hit.
 */
function cutBefore(text: string, hit: number): number {
  const earliest = hit - BEFORE;
  if (earliest <= 0) return 0;
  const from = earliest + text.slice(earliest, hit).search(/\s/) + 1;
  // A cut never halves a character of two units.
  return /[\uDC00-\uDFFF]/.test(text.charAt(from)) ? from - 1 : from;
}
