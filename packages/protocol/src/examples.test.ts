import * as crypto from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { grantToken, serviceKeys } from '../test/signing.ts';
import * as keySet from './key-set.ts';
import * as verifierModule from './token-verifier.ts';

const SOURCES = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts'] }).sort();
const FENCE = /```ts\n([\s\S]*?)```/g;
const VALUE = /^(.+); \/\/ (.+)$/gm;

const examplesIn = (file: string) => {
  const source = readFileSync(join(import.meta.dirname, file), 'utf8').replaceAll(/^ \* ?/gm, '');
  return [...source.matchAll(FENCE)].map(([, code = '']) => code);
};

describe('an example in a docblock', () => {
  const values = SOURCES.flatMap((file) =>
    examplesIn(file).flatMap((code) =>
      [...code.matchAll(VALUE)].map(([, call = '', value = '']) => [file, call, value]),
    ),
  );

  test('is there for more than ten calls', () => expect(values.length).toBeGreaterThan(10));

  test.each(values)('in %s is right: %s is %s', async (file = '', call = '', value = '') => {
    const module = { ...(await import(join(import.meta.dirname, file))) };

    expect(runInNewContext(call, module)).toEqual(runInNewContext(`(${value})`));
  });

  test('verifies a token as it is pasted', async () => {
    const [example = ''] = examplesIn('token-verifier.ts');
    const body = ts.transpile(example.replaceAll(/^import .*$/gm, ''), { target: ts.ScriptTarget.ESNext });
    const keys = [...serviceKeys.byId.values()].map(({ pair, ...jwk }) => jwk);
    const token = grantToken({
      iss: 'https://auth.example.com',
      dev: 'dev_01KAFZ5W8N4T6Q2R9M3X7Y1VBC',
      'urn:service:grant': {},
      aud: 'https://api.example.com',
      exp: 253_402_300_799, // 9999-12-31
    });
    const fetch = async () => Response.json({ keys });

    const result = runInNewContext(`(async () => { ${body}; return { principalId, agentDid, scopes }; })()`, {
      ...crypto,
      ...keySet,
      ...verifierModule,
      fetch,
      token,
    });

    expect(await result).toEqual({
      principalId: 'user_42',
      agentDid: 'did:web:auth.example.test:agents:ag_1',
      scopes: ['calendar:read'],
    });
  });
});
