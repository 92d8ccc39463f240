import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRequestedDetails } from '@behest/protocol/authorization-details';
import {
  checkArguments,
  ManifestValidationError,
  manifestFromJsonText,
  manifestFromObject,
} from '@behest/sdk/enforce';
import { expect, test } from 'vitest';
import { afterDenial } from '../docs/guides/examples/after-a-denial.ts';

const ROOT = join(import.meta.dirname, '..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const guide = (name: string) => textOf(`docs/guides/${name}.md`);
const blocksOf = (name: string, language: string) =>
  [...guide(name).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );

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
  const manifest = manifestFromJsonText(blocksOf('write-a-manifest', 'json')[0] ?? '');

  expect(manifest.connector).toBe('acme_pay');
  expect([...manifest.tools.keys()]).toEqual(['get_balance', 'transfer', 'close_account']);
  expect(manifest.warnings).toEqual([]);
});

const mistakes = rowsOf('write-a-manifest', 'Mistake');

test.each(mistakes)('the mistake %s is named as the guide says', (mistake, code, path) => {
  const { $schema, connector, tools } = JSON.parse(blocksOf('write-a-manifest', 'json')[0] ?? '');
  const wrong = { ...tools.transfer, ...JSON.parse(`{${mistake}}`) };
  const load = () => manifestFromObject({ $schema, connector, tools: { transfer: wrong } });

  expect(load).toThrow(ManifestValidationError);
  expect(load).toThrow(expect.objectContaining({ code, path }));
});

const calls = rowsOf('limit-arguments', 'Arguments of the call');

test.each(calls)('the call with %s is answered %s', (sent, answer) => {
  const rules = JSON.parse(blocksOf('limit-arguments', 'json')[0] ?? '');

  const checked = checkArguments(rules, JSON.parse(sent ?? ''));

  expect(checked.ok ? 'allowed' : checked.subReason).toBe(answer);
});

test('the entry of the guide is one that the service takes', () => {
  const entry = JSON.parse(blocksOf('limit-arguments', 'json')[1] ?? '');

  expect(readRequestedDetails([entry], ['tool:acme_pay:write'])).toMatchObject({ ok: true });
});

test('the guides have tables for these tests', () => {
  expect([mistakes.length, calls.length]).toEqual([6, 5]);
});

test('the guide to denials names every code and sub-reason of the engine', () => {
  const [, types = ''] =
    /interface SubReasons \{(.*?)^\}/ms.exec(textOf('packages/protocol/src/enforcement/reasons.ts')) ?? [];
  const codes = [...types.matchAll(/^ {2}(\w+):/gm)].map(([, code]) => code);
  const subReasons = [...types.matchAll(/'(\w+)'/g)].map(([, subReason]) => subReason);
  const page = guide('understand-a-denial');

  expect(codes.length).toBeGreaterThan(9);
  expect([...codes, ...subReasons].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
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
    (blocksOf('understand-a-denial', 'ts')[0] ?? 'none').trim(),
  );
});
