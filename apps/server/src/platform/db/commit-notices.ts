/** Tells listeners in this process at once whose events were committed. */
export interface CommitNotices {
  notify(developerIds: readonly string[]): void;
  listen(listener: (developerIds: readonly string[]) => void): void;
}

export function commitNotices(): CommitNotices {
  const listeners: ((developerIds: readonly string[]) => void)[] = [];
  return {
    notify(developerIds) {
      if (developerIds.length > 0) for (const listener of listeners) listener(developerIds);
    },
    listen: (listener) => void listeners.push(listener),
  };
}
