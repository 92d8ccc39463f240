type Stop = () => Promise<void>;

export interface Life {
  /**
   * Starts a part that has to be stopped, the last part first, even a part that is still starting.
   * @throws when the stop has begun
   */
  readonly add: <T extends { stop: Stop }>(start: () => Promise<T>) => Promise<T>;
  readonly isEnding: () => boolean;
  readonly end: (code: number) => Promise<void>;
}

/** Ends everything in order on Ctrl-C, on a signal, and when the parent process is gone. */
export function beginLife(): Life {
  const started: Promise<{ stop: Stop } | undefined>[] = [];
  let ending: Promise<void> | undefined;

  const end = async (code: number): Promise<void> => {
    if (ending) return hurry();
    ending = (async () => {
      for (const starting of started.toReversed()) await (await starting)?.stop();
      process.exit(code);
    })();
    return ending;
  };
  /** A second signal means "at once" to the server. */
  const hurry = async () => (await started.at(-1))?.stop();

  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => end(0));
  process.once('disconnect', () => end(0));
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => end(0)); // nobody reads

  return {
    add: async (start) => {
      if (ending) throw new Error('It is ending.');
      const starting = start();
      started.push(starting.catch(() => undefined));
      return starting;
    },
    isEnding: () => ending !== undefined,
    end,
  };
}
