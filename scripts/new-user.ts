import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkAsNewUser } from './packages/new-user.ts';
import { packTarballs } from './packages/tarballs.ts';

/** `npm run new-user`: walks the path of a new user from the packed packages, with npm, and says what it took. */
const home = mkdtempSync(join(tmpdir(), 'behest-new-user-'));
try {
  const tarballs = await packTarballs(join(import.meta.dirname, '..'), home);
  for (const { what, command, seconds, said } of await walkAsNewUser({ home, tarballs }))
    process.stdout.write(`\n${seconds.toFixed(1).padStart(6)} s  ${what}\n$ ${command}\n${said}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
