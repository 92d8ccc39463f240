import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { day, number, sayer } from '../messages/language.ts';

const say = sayer('chart');

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly label: string;
  /** Days, the oldest first. */
  readonly days: readonly string[];
  /** At most four. */
  readonly series: readonly Series[];
  /** Lines at which something ends. */
  readonly limit?: { readonly name: string; readonly value: number };
}

const HEIGHT = 200;
/** Lines differ in dash as well as in colour, for readers who cannot tell the colours apart. */
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const COLOURS = ['--accent', '--warn', '--bad', '--quiet'];

/** Values by day as lines, and behind them the same as a table. */
export function Chart({ label, days, series, limit }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const draw = () => plotIn(box, { label, days, series, ...(limit && { limit }) });
    let plot = draw();
    const again = () => {
      plot.destroy();
      plot = draw();
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const resized = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }));
    scheme.addEventListener('change', again);
    resized.observe(box);
    return () => {
      scheme.removeEventListener('change', again);
      resized.disconnect();
      plot.destroy();
    };
  }, [label, days, series, limit]);
  return (
    <figure className="chart">
      <div ref={place} aria-hidden="true" />
      <details>
        <summary>{say('table')}</summary>
        <table>
          <caption className="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">{say('day')}</th>
              {series.map(({ name }) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((date, at) => (
              <tr key={date}>
                <th scope="row">{day(date)}</th>
                {series.map(({ name, values }) => (
                  <td key={name} className="number">
                    {number(values[at] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function plotIn(box: HTMLElement, { days, series, limit }: ChartProps): uPlot {
  const style = getComputedStyle(box);
  const colour = (name: string) => style.getPropertyValue(name);
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  const lines = [...series, ...(limit ? [{ name: limit.name, values: days.map(() => limit.value) }] : [])];
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      cursor: { drag: { x: false, y: false } },
      legend: { live: false },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.1, 4)] } },
      axes: [
        { ...axis, values: (_plot, times) => times.map((time) => shortDay(time)) },
        { ...axis, size: 56, values: (_plot, values) => values.map((value) => number(value)) },
      ],
      series: [
        { label: say('day'), value: (_plot, time) => (time === null ? '' : shortDay(time)) },
        ...lines.map(({ name }, at) => ({
          label: name,
          stroke: colour(COLOURS[at] ?? '--quiet'),
          width: 2,
          dash: DASHES[at] ?? [],
          points: { show: false },
          value: (_plot: uPlot, value: number | null) => (value === null ? '' : number(value)),
        })),
      ],
    },
    [days.map((date) => Date.parse(date) / 1000), ...lines.map(({ values }) => [...values])],
    box,
  );
}

const shortDay = (seconds: number) => day(new Date(seconds * 1000).toISOString()).replace(/,? \d{4}$/, '');
