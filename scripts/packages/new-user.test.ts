import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { walkAsNewUser } from './new-user.ts';
import { installTarballs, packTarballs } from './tarballs.ts';

const ROOT = join(import.meta.dirname, '../..');

test('from the packed packages alone, a new user gets a service, a grant, a call and a denial that says why', async () => {
  const home = mkdtempSync(join(tmpdir(), 'behest-new-user-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const tarballs = await packTarballs(ROOT, home);

  const steps = await walkAsNewUser({
    ...{ home, tarballs },
    install: (folder) => installTarballs(ROOT, tarballs, folder),
  });

  const said = (what: string) => {
    const { status, said } = steps.find((step) => step.what === what) ?? {};
    return `${status} ${said}`;
  };
  expect(said('help')).toMatch(/^0 behest: authorize software agents/);
  expect(said('a wrong command')).toBe(
    "2 error: Unknown command 'agnets'. Did you mean agents?\ntry: behest --help\n",
  );
  expect(said('a command without its argument')).toContain("Missing required argument 'id'");
  expect(said('no service yet')).toMatch(/^3 error: There is no API key.*\ntry: .*behest dev/);
  expect(said('a running service')).toMatch(
    /^0 .*saved to profile "dev"[\s\S]*It runs at http:\/\/localhost:\d+/,
  );
  expect(said('the first agent')).toMatch(/^0 ag_\w+\n$/);
  expect(said('the first grant')).toMatch(/^0 [\s\S]*"grantToken"/);
  expect(said('a manifest')).toMatch(/^0 manifests\/calendar.cases.yaml\n/);
  expect(said('a call without a manifest')).toMatch(/^1 [\s\S]*try: --manifest <path>/);
  expect(said('a call that is allowed')).toMatch(/^0 [\s\S]*allow/);
  expect(said('a call that is denied')).toMatch(/^1 [\s\S]*permission_insufficient/);
  expect(said('the end')).toMatch(/^0 Stopping/);
}, 240_000); // the compiler takes long on a busy machine
