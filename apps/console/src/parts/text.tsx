import { useState } from 'react';
import { Button } from 'react-aria-components';
import { dateTime, distance, exactTime, sayer, statusWord } from '../messages/language.ts';
import { announce } from './announcer.tsx';

const say = sayer('text');

interface CopyProps {
  readonly text: string;
  /** What is copied, for a reader who does not see what stands beside the button. */
  readonly of: string;
  readonly label?: string;
}

export function Copy({ text, of, label }: CopyProps) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    announce(say('copied'));
    setTimeout(() => setDone(false), 2000);
  };
  return (
    <Button className="copy" aria-label={say('copyOf', { what: of })} onPress={() => void copy()}>
      {isDone ? say('copied') : (label ?? say('copy'))}
    </Button>
  );
}

/** On the screen an id is shortened in its middle; copied and read aloud it is whole. */
export function Id({ id, of = say('id') }: { readonly id: string; readonly of?: string }) {
  return (
    <span className="id">
      <ShortId id={id} />
      <Copy text={id} of={`${of} ${id}`} />
    </span>
  );
}

export function ShortId({ id }: { readonly id: string }) {
  const isLong = id.length > 20;
  return (
    <code title={id}>
      <span aria-hidden={isLong}>{isLong ? `${id.slice(0, 10)}…${id.slice(-6)}` : id}</span>
      {isLong && <span className="unseen">{id}</span>}
    </code>
  );
}

/** A time as a distance, with the exact one of this place and of UTC on hover. */
export const When = ({ at }: { readonly at: string | null | undefined }) =>
  at ? (
    <time dateTime={at} title={`${dateTime(at)} · ${at}`}>
      {distance(at)}
    </time>
  ) : (
    <span className="aside">{say('never')}</span>
  );

/** A time as it is compared with other records, with its distance and that of UTC on hover. */
export const At = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={`${distance(at)} · ${at}`}>
    {exactTime(at)}
  </time>
);

type Tone = 'good' | 'warn' | 'bad' | 'plain';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  delivered: 'good',
  success: 'good',
  approved: 'good',
  suspended: 'warn',
  stopped: 'warn',
  stoppedWithAgent: 'warn',
  stoppedWithAccount: 'warn',
  pending: 'warn',
  expiring: 'warn',
  open: 'warn',
  blocked: 'bad',
  failed: 'bad',
  failure: 'bad',
  denied: 'bad',
  revoked: 'bad',
  disabled: 'bad',
  critical: 'bad',
  high: 'bad',
};

/** A state in one word. The word says it, and the colour repeats it. */
export const Status = ({ status }: { readonly status: string }) => (
  <span className={`status status-${TONES[status] ?? 'plain'}`}>{statusWord(status)}</span>
);

/** A few scopes in a row of a table, with the number of the others. */
export function Scopes({ scopes, most = 3 }: { readonly scopes: readonly string[]; readonly most?: number }) {
  const left = scopes.length - most;
  return (
    <span className="scopes">
      {scopes.slice(0, most).map((scope) => (
        <code key={scope}>{scope}</code>
      ))}
      {left > 0 && (
        <span className="aside" title={scopes.slice(most).join('\n')}>
          {say('more', { count: left })}
        </span>
      )}
    </span>
  );
}
