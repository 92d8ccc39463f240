import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../packages/sdk/src/client/version.ts';
import { findPython } from './find-python.ts';

const CLIENT = join(import.meta.dirname, '../../clients/python');
const NEEDED = 'jwt, cryptography, httpx, pytest, fastapi, fastmcp, yaml';

const python = findPython(`import sys, ${NEEDED}; sys.exit(sys.version_info < (3, 11))`);
const told =
  'clients/python is not tested: there is no Python 3.11 with its packages. .ci/python makes one.\n';

test('the Python package has the version of the SDK', () => {
  expect(readFileSync(join(CLIENT, 'pyproject.toml'), 'utf8')).toContain(`version = "${VERSION}"`);
});

if (python === undefined) process.stdout.write(told);
else {
  test('the Python package passes its own tests, the shared vectors among them', () => {
    const { status, stdout } = spawnSync(python, ['-m', 'pytest'], { cwd: CLIENT, encoding: 'utf8' });

    expect({ status, end: stdout.trim().split('\n').at(-1) }).toEqual({
      status: 0,
      end: expect.stringMatching(/^\d{3} passed/),
    });
  }, 120_000);
}

test('programs that are absent, or are no Python, are passed over', () => {
  expect(findPython('import sys', ['/nowhere/python', undefined, process.execPath])).toBeUndefined();
});
