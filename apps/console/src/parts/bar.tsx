import type { ReactNode } from 'react';
import { Label, Meter } from 'react-aria-components';

interface BarProps {
  readonly label: ReactNode;
  readonly used: number;
  readonly limit: number;
  /** Both in words. */
  readonly value: string;
  readonly note?: ReactNode;
}

/** The share at which a bar warns. */
const NEARLY = 0.9;

/** How much of a limit is used. The words say it, and the bar shows it. */
export function Bar({ label, used, limit, value, note }: BarProps) {
  const share = limit > 0 ? Math.min(1, used / limit) : 1;
  return (
    <Meter className="meter" value={share * 100} valueLabel={value}>
      <span className="meter-words">
        <Label>{label}</Label>
        <span>{value}</span>
      </span>
      <span className={share >= NEARLY ? 'bar nearly' : 'bar'}>
        <span ref={(bar) => bar?.style.setProperty('width', `${share * 100}%`)} />
      </span>
      {note && <span className="aside">{note}</span>}
    </Meter>
  );
}
