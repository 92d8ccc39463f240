import { useMemo } from 'react';
import { sayer } from '../../messages/language.ts';
import { difference } from './difference.ts';

const say = sayer('rules');

interface DifferenceProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

const SIGNS = { same: ' ', added: '+', removed: '−', gap: ' ' } as const;

/** Two texts line by line. A sign says which text a line is of, and colour repeats it. */
export function Difference({ label, before, after }: DifferenceProps) {
  const lines = useMemo(() => difference(before, after), [before, after]);
  if (lines.length === 0) return <p className="aside">{say('same')}</p>;
  return (
    <section className="code difference" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard, so the text takes the focus. */}
      <pre tabIndex={0}>
        {lines.map(({ kind, text }, at) => (
          <span key={at} className={`line line-${kind}`}>
            {`${SIGNS[kind]} ${text}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}
