declare const listenerOf: unique symbol;

/**
 * A moment in a feature's use case at which other features have work to do. The feature with the use case declares
 * the hook and calls the listeners; the others listen in their `feature.ts`.
 */
export interface Hook<Listener> {
  readonly name: string;
  readonly [listenerOf]?: (listener: Listener) => void;
}

export const hook = <Listener>(name: string): Hook<Listener> => ({ name });

/** One feature's listener on one hook. */
export interface Listening {
  readonly hookName: string;
  readonly listener: unknown;
}

export const on = <Listener>({ name }: Hook<Listener>, listener: Listener): Listening => ({
  hookName: name,
  listener,
});

/** The listeners of a hook, in the order of the features. */
export type ListenersOf = <Listener>(hook: Hook<Listener>) => readonly Listener[];

export function listenersIn(all: readonly Listening[]): ListenersOf {
  return <Listener>({ name }: Hook<Listener>) =>
    all.filter(({ hookName }) => hookName === name).map(({ listener }) => listener as Listener); // `on` has checked its type
}
