import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRequestedDetails } from '@behest/protocol/authorization-details';
import { denialKeys } from '@behest/protocol/enforcement/sentences';
import {
  checkArguments,
  ManifestValidationError,
  manifestFromJsonText,
  manifestFromObject,
} from '@behest/sdk/enforce';
import { expect, test } from 'vitest';
import { afterDenial } from '../../docs/guides/examples/after-a-denial.ts';
import { blocksOf } from './steps.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const guide = (name: string) => textOf(`docs/guides/${name}.md`);
const blocksIn = (name: string, language: string) => blocksOf(`docs/guides/${name}.md`, language);

/** The cells of the table below a heading cell. */
const rowsOf = (name: string, heading: string) => {
  const [, table = ''] =
    new RegExp(`^\\| ${heading} \\|.*\n\\|[-|]+\n((?:\\|.*\n)+)`, 'm').exec(guide(name)) ?? [];
  return table
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll(/^`|`$/g, '')),
    );
};

test('the manifest of the guide loads, and has every key that the guide explains by example', () => {
  const manifest = manifestFromJsonText(blocksIn('write-a-manifest', 'json')[0] ?? '');

  expect(manifest.connector).toBe('acme_pay');
  expect([...manifest.tools.keys()]).toEqual(['get_balance', 'transfer', 'close_account']);
  expect(manifest.warnings).toEqual([]);
});

const mistakes = rowsOf('write-a-manifest', 'Mistake');

test.each(mistakes)('the mistake %s is named as the guide says', (mistake, code, path) => {
  const { $schema, connector, tools } = JSON.parse(blocksIn('write-a-manifest', 'json')[0] ?? '');
  const wrong = { ...tools.transfer, ...JSON.parse(`{${mistake}}`) };
  const load = () => manifestFromObject({ $schema, connector, tools: { transfer: wrong } });

  expect(load).toThrow(ManifestValidationError);
  expect(load).toThrow(expect.objectContaining({ code, path }));
});

const calls = rowsOf('write-a-manifest', 'Arguments of the call');

test.each(calls)('the call with %s is answered %s', (sent, answer) => {
  const rules = JSON.parse(blocksIn('write-a-manifest', 'json')[1] ?? '');

  const checked = checkArguments(rules, JSON.parse(sent ?? ''));

  expect(checked.ok ? 'allowed' : checked.subReason).toBe(answer);
});

test('the entry of the guide is one that the service takes', () => {
  const entry = JSON.parse(blocksIn('write-a-manifest', 'json')[2] ?? '');

  expect(readRequestedDetails([entry], ['tool:acme_pay:write'])).toMatchObject({ ok: true });
});

test('the guides have tables for these tests', () => {
  expect([mistakes.length, calls.length]).toEqual([6, 5]);
});

test('F3: the guide to denials and the Python client know every denial of the engine', () => {
  let code = '';
  const inGuide = guide('understand-a-denial')
    .split('\n')
    .flatMap((line) => {
      const [, named = '', subReasons] = /^\| (?:`(\w+)` )?\|([^|]*)\|/.exec(line) ?? [];
      if (subReasons === undefined || named === 'reason_code') return [];
      code = named || code;
      const subs = [...subReasons.matchAll(/`(\w+)`/g)].map(([, sub = '']) => `${code}/${sub}`);
      return subs.length > 0 ? subs : [named].filter(Boolean);
    });
  const python = [
    '_checks',
    '_denials',
    '_arguments',
    '_counting',
    '_details',
    '_narrower',
    '_rules',
    'decisions',
    'enforce',
    'meter',
  ]
    .map((module) => textOf(`clients/python/behest/${module}.py`))
    .join('\n');
  const words = new Set([...python.matchAll(/"(\w+)"/g)].map(([, word]) => word));

  expect(inGuide.sort()).toEqual([...denialKeys].sort());
  const ofService = 'policy_denied'; // the engine in Python asks no policies of the service
  expect(
    denialKeys.flatMap((key) => key.split('/')).filter((word) => !words.has(word) && word !== ofService),
  ).toEqual([]);
});

test.each([
  ['tool_not_granted', 'argument_missing', 'other arguments'],
  ['tool_not_granted', 'tool_scope_missing', 'ask the person'],
  ['cap_exceeded', 'limit_reached', 'wait'],
  ['region_mismatch', null, 'fix'],
  ['token_invalid', null, 'refresh'],
] as const)('after %s %s the program of the guide says %s', (reason_code, sub_reason, step) => {
  expect(afterDenial({ allowed: false, reason_code, sub_reason, details: {} })).toBe(step);
  expect(afterDenial({ allowed: true, reason_code: null, sub_reason: null, details: {} })).toBeUndefined();
  expect(textOf('docs/guides/examples/after-a-denial.ts')).toContain(
    (blocksIn('understand-a-denial', 'ts')[0] ?? 'none').trim(),
  );
});
