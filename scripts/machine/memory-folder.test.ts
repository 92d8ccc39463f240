import { statfsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memoryFolder } from './memory-folder.ts';

test('a folder in memory is used only where it has the room', () => {
  const folder = memoryFolder(0);

  expect(memoryFolder(1_000_000)).toBeUndefined();
  if (folder) expect(statfsSync(folder).type).toBe(0x01021994); // tmpfs
});
