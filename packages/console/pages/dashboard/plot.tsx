import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import * as format from '../../i18n/format.ts';
import { colourOf, useScheme } from '../../widgets/use-media.ts';

interface Props {
  readonly label: string;
  /** "2026-10-03". */
  readonly days: readonly string[];
  readonly values: readonly (number | null)[];
  /** The spread of the values of each day, from the lower to the higher. */
  readonly band: readonly [low: readonly (number | null)[], high: readonly (number | null)[]] | null;
  /** The last day is not over. */
  readonly isUnfinished: boolean;
  /** The highest value that there can be. */
  readonly most: number | null;
  /** What to say of a day: its date, its value and the calls behind it. */
  readonly describe: (index: number) => readonly string[];
  readonly onOpen: (day: string) => void;
}

const HEIGHT = 220;
/** Of the readout beside the day that it describes. */
const GAP = 14;

/**
 * A line over days. The pointer or the arrow keys choose a day, whose numbers are shown and read out; a click or Enter opens
 * its calls. uPlot draws on a canvas, so colours are read when it is made.
 */
export default function Plot({ label, days, values, band, isUnfinished, most, describe, onOpen }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const [shown, setShown] = useState<{ index: number; left: number } | null>(null);
  const scheme = useScheme();
  useEffect(() => {
    const element = frame.current!;
    const colour = (name: string) => colourOf(element, `var(${name})`);
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    const line = { stroke: colour('--accent'), width: 2, spanGaps: true, points: { show: days.length < 40 } };
    const edge = { stroke: colour('--muted'), width: 1, spanGaps: true, points: { show: false } };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false },
        scales: { x: { time: false }, y: { range: (_, __, highest) => [0, most ?? Math.max(1, highest * 1.1)] } },
        axes: [
          {
            ...axis,
            size: 30,
            // Pixels between two: as wide as a day and a month in any language.
            space: 72,
            values: (_, ticks) => ticks.map((at) => (days[at] === undefined ? '' : format.dayOfMonth(days[at]))),
          },
          { ...axis, size: 46, values: (_, ticks) => ticks.map((value) => format.number(value, 1)) },
        ],
        // In the order in which they are drawn: the lines over the band.
        series: [{}, ...(band === null ? [] : [edge, edge]), line, { ...line, dash: [5, 5] }],
        bands: band === null ? [] : [{ series: [2, 1], fill: colour('--accent-soft') }],
        hooks: {
          setCursor: [
            ({ cursor, over }) => {
              const { idx, left = -1 } = cursor;
              setShown(typeof idx !== 'number' || left < 0 ? null : { index: idx, left: over.offsetLeft + left });
            },
          ],
        },
      },
      [days.map((_, index) => index), ...(band ?? []), ...lines(values, isUnfinished)] as UPlot.AlignedData,
      element,
    );
    chart.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
      chart.current = null;
    };
    // What says the same is not drawn again.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [JSON.stringify([days, values, band]), isUnfinished, most, scheme]);
  const show = (index: number) => {
    const plot = chart.current;
    if (plot === null) return;
    const left = plot.valToPos(index, 'x');
    // Fires the hook, as the pointer does.
    plot.setCursor({ left, top: 0 });
  };
  const last = days.length - 1;
  const at = shown?.index ?? last;
  const open = () => shown !== null && days[shown.index] !== undefined && onOpen(days[shown.index]!);
  const moves: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
  const isRight = shown !== null && shown.left > (frame.current?.clientWidth ?? 0) / 2;
  return (
    // A slider over the days: screen readers read its value out.
    <div
      ref={frame}
      className="dashboard-plot"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={describe(at).join(', ')}
      onClick={open}
      onFocus={(event) => event.target.matches(':focus-visible') && show(at)}
      onBlur={() => setShown(null)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') open();
        const next = moves[event.key];
        if (next === undefined) return;
        event.preventDefault();
        show(Math.min(last, Math.max(0, next)));
      }}
    >
      {shown !== null && (
        <div
          className="dashboard-readout number"
          style={isRight ? { right: `calc(100% - ${shown.left - GAP}px)` } : { left: shown.left + GAP }}
        >
          {describe(shown.index).map((text, index) =>
            index === 0 ? <strong key={text}>{text}</strong> : <span key={text}>{text}</span>,
          )}
        </div>
      )}
    </div>
  );
}

/** The line of the days that are over, and the dashed one to the day that is not. */
function lines(values: readonly (number | null)[], isUnfinished: boolean): (number | null)[][] {
  const last = values.length - 1;
  if (!isUnfinished) return [[...values], values.map(() => null)];
  return [
    values.map((value, index) => (index === last ? null : value)),
    values.map((value, index) => (index >= last - 1 ? value : null)),
  ];
}
