import { chownSync, readFileSync } from 'node:fs';

/** What to spawn Postgres as; empty for ourselves. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Root may not run Postgres. Takes an account that is there anyway, and creates none. */
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
