// JavaScript, since the types of this linter alone would cost the type check a second.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const FILE = join(import.meta.dirname, '../openapi.json');

/** The linter's recommended rules, and what a reader of the API's description also expects. */
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'info-license-strict': 'off', // the licence is named by its SPDX identifier
    'operation-4xx-response': 'error',
    'operation-tag-defined': 'error',
    'security-defined': 'error',
    'no-server-example.com': 'off',
    'no-empty-servers': 'off', // everybody runs the service at an address of their own
  },
});

/** What a rule says of one place and is right to say nothing about there. */
const ACCEPTED = new Set([
  'operation-4xx-response #/paths/~1.well-known~1jwks.json/get/responses', // nobody is refused the public keys
  'operation-2xx-response #/paths/~1v1~1events~1ws/get/responses', // it succeeds with 101, and is no HTTP then
]);

/** A warning fails as an error does: one that may stay is switched off above, with the reason. */
const problems = await lintFromString({
  source: readFileSync(FILE, 'utf8'),
  absoluteRef: FILE,
  config,
});
for (const { ruleId, message, location } of problems) {
  const at = location.map(({ pointer }) => pointer).join(' ');
  if (ACCEPTED.has(`${ruleId} ${at}`)) continue;
  process.exitCode = 1;
  process.stdout.write(`openapi.json ${at}: ${message} (${ruleId})\n`);
}
