import { useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../messages/language.ts';

const say = sayer('stop');

/** What can be stopped. `name` is what the reader knows it by. */
export type Target =
  | { readonly kind: 'agent' | 'grant' | 'person'; readonly id: string; readonly name: string }
  | { readonly kind: 'all' };

let asked: Target | undefined;
const listeners = new Set<() => void>();

/** Asks whether to stop something. The shell shows the question, so that it outlives the row that it began in. */
export function askToStop(target: Target | undefined): void {
  asked = target;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useAskedToStop = () => useSyncExternalStore(subscribe, () => asked);

interface StopProps {
  readonly target: Target;
  /** `small` in rows of a table. */
  readonly size?: 'small';
}

const labelOf = (target: Target) => {
  if (target.kind === 'all') return say('openAll');
  return say(target.kind === 'person' ? 'openOfPerson' : 'openOne', { name: target.name });
};

/** Stops something: one click shows what will fall, the second one lets it fall. Where the API can, a third takes it back. */
export const Stop = ({ target, size }: StopProps) => (
  <Button
    className={size === 'small' ? 'stop small' : 'stop'}
    aria-label={labelOf(target)}
    onPress={() => askToStop(target)}
  >
    {say(target.kind === 'all' ? 'openAll' : target.kind === 'person' ? 'openPerson' : 'open')}
  </Button>
);
