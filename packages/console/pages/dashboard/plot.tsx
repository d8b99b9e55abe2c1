import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import UPlot from 'uplot';
import * as format from '../../i18n/format.ts';

interface Props {
  /** "2026-10-03". */
  readonly days: readonly string[];
  readonly values: readonly (readonly (number | null)[])[];
  readonly labels: readonly string[];
  /** The highest value that there can be. */
  readonly most: number | null;
}

const HEIGHT = 220;
const DARK = '(prefers-color-scheme: dark)';

/** Lines over days. uPlot draws on a canvas, so colours are read when it is made. The table beside it says the same. */
export default function Plot({ days, values, labels, most }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const scheme = useScheme();
  useEffect(() => {
    const element = frame.current!;
    const colour = (name: string) => resolved(element, name);
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false }, y: { range: (_, __, highest) => [0, most ?? Math.max(1, highest * 1.1)] } },
        axes: [
          {
            ...axis,
            size: 30,
            values: (_, ticks) => ticks.map((at) => (Number.isInteger(at) ? nameOf(days[at]) : '')),
          },
          { ...axis, size: 46, values: (_, ticks) => ticks.map((value) => format.number(value, 1)) },
        ],
        series: [
          {},
          ...labels.map((label, index) => ({
            label,
            stroke: colour(index === 0 ? '--accent' : '--muted'),
            width: index === 0 ? 2 : 1,
            points: { show: days.length < 40 },
            spanGaps: true,
            ...(index > 0 && { dash: [4, 4] }),
          })),
        ],
      },
      [days.map((_, index) => index), ...values.map((each) => [...each])] as UPlot.AlignedData,
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [days, values, labels, most, scheme]);
  return <div ref={frame} className="dashboard-plot" role="img" aria-label={labels.join(', ')} />;
}

function nameOf(day: string | undefined): string {
  return day === undefined ? '' : format.dayOfMonth(day);
}

/** A canvas does not know `light-dark()`, so the browser resolves it. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The colours in use, now and when the user or the browser changes them: for what is drawn and does not follow CSS. */
function useScheme(): string {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(DARK);
      list.addEventListener('change', listener);
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
      return () => {
        list.removeEventListener('change', listener);
        observer.disconnect();
      };
    },
    () => document.documentElement.dataset['theme'] ?? (matchMedia(DARK).matches ? 'dark' : 'light'),
  );
}
