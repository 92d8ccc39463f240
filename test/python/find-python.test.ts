import { expect, test } from 'vitest';
import { findPython } from './find-python.ts';

test('programs that are absent, or are no Python, are passed over', () => {
  expect(findPython('import sys', ['/nowhere/python', undefined, process.execPath])).toBeUndefined();
});
