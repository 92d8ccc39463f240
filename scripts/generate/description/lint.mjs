// This file is JavaScript, because the types of the first linter alone would cost the type check a second.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';

const FILE = join(import.meta.dirname, '../../../openapi.json');

/** The recommended rules of the linter, and the fields that a reader of the description expects. */
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'info-license-strict': 'off', // the licence is named by its SPDX identifier
    'operation-4xx-response': 'error',
    'operation-tag-defined': 'error',
    'security-defined': 'error',
    'no-server-example.com': 'off',
    'no-empty-servers': 'off', // each operator has another address
  },
});

/** Warnings that are wrong at one place, with the reason. */
const ACCEPTED = new Set([
  'operation-4xx-response #/paths/~1.well-known~1jwks.json/get/responses', // nobody is refused the public keys
  'operation-2xx-response #/paths/~1oauth~1authorize/get/responses', // it sends the browser on (RFC 6749 §4.1.2)
  'operation-2xx-response #/paths/~1oauth~1authorize/post/responses',
  'operation-2xx-response #/paths/~1v1~1console~1session~1sso/get/responses', // it sends the browser to its provider
  'operation-2xx-response #/paths/~1v1~1events~1ws/get/responses', // it succeeds with 101, and is not HTTP after that
  // no credential has the id `status`
  'no-ambiguous-paths #/paths/~1v1~1credentials~1status~1{listId}',
  // no decision has the id `cases`
  'no-ambiguous-paths #/paths/~1v1~1decisions~1cases~1{caseName}',
  // no policy has the id `bundles`
  'no-ambiguous-paths #/paths/~1v1~1policies~1bundles~1{id}',
  // no audit entry has the id `erasures`
  'no-ambiguous-paths #/paths/~1v1~1audit~1erasures~1{id}',
]);

const source = readFileSync(FILE, 'utf8');
/** A warning fails the check, as an error does. */
const problems = await lintFromString({
  source,
  absoluteRef: FILE,
  config,
});
for (const { ruleId, message, location } of problems) {
  const at = location.map(({ pointer }) => pointer).join(' ');
  if (ACCEPTED.has(`${ruleId} ${at}`)) continue;
  process.exitCode = 1;
  process.stdout.write(`openapi.json ${at}: ${message} (${ruleId})\n`);
}

/** The second linter holds the file against the schema that the OpenAPI Initiative publishes. */
const { valid, errors } = await new Validator().validate(JSON.parse(source));
if (!valid) {
  process.exitCode = 1;
  process.stdout.write(`openapi.json: ${JSON.stringify(errors)}\n`);
}
