import { chownSync, readFileSync } from 'node:fs';

/** The account that Postgres runs as; empty for the current account. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Finds an account for Postgres, which root may not run. The function creates no account. */
export function accountForPostgres(): Account {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find(([name]) => name === wanted) ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('Root may not run Postgres, and there is no account without rights to run it as.');
}

export function giveTo({ uid, gid }: Account, path: string): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
