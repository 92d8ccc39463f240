import { useSyncExternalStore } from 'react';

let text = '';
const listeners = new Set<() => void>();

/** Tells a reader who does not see the page what has happened. */
export function announce(what: string): void {
  text = what;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Announcer() {
  const said = useSyncExternalStore(subscribe, () => text);
  return (
    <p className="unseen" role="status">
      {said}
    </p>
  );
}
