import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeThrowAway, sweepThrowAways } from './throw-away.ts';

test('the leftovers of a killed run are ended and removed, and a folder in use stays', async () => {
  const place = mkdtempSync(join(tmpdir(), 'behest-place-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const used = makeThrowAway('thing', place);
  const left = join(place, 'behest-thing-4194305-AAAAAA'); // a number that no process can have
  const other = join(place, 'behest-other-4194305-AAAAAA');
  mkdirSync(left);
  mkdirSync(other);
  const ended: string[] = [];

  await sweepThrowAways('thing', {
    place,
    end: async (folder) => {
      ended.push(folder);
    },
  });

  expect(ended).toEqual([left]);
  expect([used, left, other].map((folder) => existsSync(folder))).toEqual([true, false, true]);
});
