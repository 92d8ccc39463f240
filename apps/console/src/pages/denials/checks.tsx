import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { sayer, statusWord } from '../../messages/language.ts';
import { Facts } from '../../parts/page.tsx';
import { When } from '../../parts/text.tsx';
import { inWords } from './words.ts';

const say = sayer('denials');

type Check = Schemas['Explanation']['checks'][number];
type Fact = Check['facts'][number];

const TONES = {
  passed: 'good',
  warned: 'warn',
  failed: 'bad',
  not_reached: 'plain',
  unknown: 'plain',
} as const;

/** A check with its outcome, and behind it what it saw. */
export function CheckItem({ check }: { readonly check: Check }) {
  const { outcome, facts } = check;
  const head = (
    <>
      <span className="grow">{say(`check_${check.check}`)}</span>
      <span className={`status status-${TONES[outcome]}`}>{outcomeWord(outcome)}</span>
    </>
  );
  if (facts.length === 0) return <li className="check">{head}</li>;
  return (
    <li>
      <details open={outcome === 'failed'}>
        <summary className="check">{head}</summary>
        <Facts facts={factsOf(check)} />
      </details>
    </li>
  );
}

const outcomeWord = (outcome: Check['outcome']) => statusWord(say(`outcome_${outcome}`));

/** The facts of a check. Those that are read now say so, because the call may have seen others. */
export const factsOf = ({ facts }: Pick<Check, 'facts'>) =>
  facts.map(({ name, value, from }) => {
    const words = inWords(name);
    return [from === 'now' ? say('now', { name: words }) : words, shown(name, value)] as const;
  });

function shown(name: string, value: Fact['value']): ReactNode {
  if (value === null || value === '') return say('noneGiven');
  if (Array.isArray(value)) return value.length === 0 ? say('noneGiven') : <List values={value} />;
  if (typeof value === 'object') return <code>{Object.entries(value).map(each).join(', ')}</code>;
  if (typeof value === 'string' && name.endsWith('At')) return <When at={value} />;
  return <code>{String(value)}</code>;
}

const each = ([name, value]: [string, unknown]) =>
  `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;

const List = ({ values }: { readonly values: readonly string[] }) => (
  <span className="scopes">
    {values.map((value) => (
      <code key={value}>{value}</code>
    ))}
  </span>
);
