import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import {
  base64url,
  ES256_TOKEN,
  ec,
  ecHeader,
  grantToken,
  ISSUER,
  NOW,
  serviceKeys,
  standardPayload,
  verifier,
} from '../test/signing.ts';
import { shortest } from '../test/timing.ts';
import { issuedDetails, readRequestedDetails } from './authorization-details.ts';
import { parseDuration } from './durations.ts';
import { JsonError, parseJson } from './json.ts';
import { isPurpose } from './purposes.ts';
import { covers, isScope } from './scopes.ts';
import { Duration, Id, nameOf, pageQuery, Time, textOf } from './shapes.ts';
import { createTokenVerifier } from './token-verifier.ts';
import { parseToolScope } from './tool-scopes.ts';
import { TOOLS_TYPE } from './tools-entry.ts';

const scopes = ['tool:gmail:write', 'tool:*:read', 'calendar:read'];
const checking = (schema: TSchema) => {
  const shape = Compile(schema);
  return (text: string) => shape.Check(text);
};

/** The readers of text from outside. Each answers a value, or says in its own way that the text has none. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'a duration': parseDuration,
  'a scope': isScope,
  'a tool scope': parseToolScope,
  'a scope that covers': (text) => covers(text, 'tool:gmail:read:a') || covers('tool:gmail:read:a*', text),
  'a purpose': isPurpose,
  'an entry’s connector': (connector) => readRequestedDetails([{ type: TOOLS_TYPE, connector }], scopes),
  'an entry’s tool': (tool) =>
    readRequestedDetails([{ type: TOOLS_TYPE, connector: 'gmail', tools: [tool] }], scopes),
  'a cursor': checking(pageQuery('ag').cursor),
  'a time': checking(Time),
  'an id': checking(Id),
  'a name': checking(nameOf(200)),
  'a description': checking(textOf(2_000)),
  'a duration’s shape': checking(Duration),
  JSON: (text) => {
    try {
      return parseJson(Buffer.from(text));
    } catch (error) {
      if (error instanceof JsonError) return undefined;
      throw error;
    }
  },
};

/** Texts near what each of them takes: its words, its separators, and what is neither. */
const near = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'tool',
        'gmail',
        'read',
        'capped',
        'x-',
        'acme',
        'ag_',
        'urn:',
        '2026-01-01T',
        '00',
        'Z',
      ),
      fc.constantFrom(
        ':',
        '*',
        '.',
        '-',
        '_',
        '"',
        '{',
        '}',
        '[',
        ']',
        ',',
        '\\',
        '\\u',
        ' ',
        '\n',
        '\0',
        '\ud800',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe.each(Object.entries(readers))('I7: %s', (_, read) => {
  test('answers any text with a value or without, and the same each time', () => {
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: 'binary' })), (text) => {
        expect(read(text)).toEqual(read(text));
      }),
      { numRuns: 500 },
    );
  });

  test('takes no longer than its length, whatever is said 100,000 characters long', () => {
    fc.assert(
      fc.property(near, near, (start, part) => {
        const text = `${start}${(part || 'a').repeat(100_000)}`.slice(0, 100_000);
        // A square of the length would be ten thousand million steps, which no machine does in this time.
        expect(shortest(() => read(text))).toBeLessThan(2_000);
      }),
      { numRuns: 25 },
    );
  });
});

test('entries that are issued are read again as themselves', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
  const entry = fc.record(
    { tools: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), data_region: name },
    { requiredKeys: [] },
  );

  fc.assert(
    fc.property(entry, (members) => {
      const asked = [{ type: TOOLS_TYPE, connector: 'gmail', ...members }];
      const read = readRequestedDetails(asked, scopes);
      expect(read).toMatchObject({ ok: true });
      const entries = read.ok ? read.entries : [];
      expect(issuedDetails(undefined, scopes, entries)).toEqual(entries);
      expect(readRequestedDetails(JSON.parse(JSON.stringify(entries)), scopes)).toEqual(read);
    }),
  );
});

describe('whatever it is given', () => {
  const genuine = [grantToken(), grantToken({}, ecHeader, ec), ES256_TOKEN];
  const expected = { now: NOW };
  const refusedQuickly = (token: unknown) => {
    expect(shortest(() => verifier.verify(token, expected))).toBeLessThan(50);
    return !verifier.verify(token, expected).ok;
  };

  test('bytes at random never verify and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4_096 }), (bytes) =>
        refusedQuickly(Buffer.from(bytes).toString('latin1')),
      ),
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), refusedQuickly));
    fc.assert(fc.property(fc.anything(), refusedQuickly));
  });

  test('parts at random never verify and never throw', () => {
    const part = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.json().map(base64url),
      fc.uint8Array().map(base64url),
    );

    fc.assert(fc.property(fc.array(part, { maxLength: 5 }), (parts) => refusedQuickly(parts.join('.'))));
  });

  test('a genuine token with any one character changed, lost or added never verifies', () => {
    const change = fc.tuple(
      fc.constantFrom(...genuine),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.string({ minLength: 0, maxLength: 2, unit: 'binary-ascii' }),
      fc.boolean(),
    );
    const mutate = ([token, where, text, replaces]: [string, number, string, boolean]) => {
      const at = Math.floor(where * token.length);
      return token.slice(0, at) + text + token.slice(replaces ? at + 1 : at);
    };

    fc.assert(
      fc.property(change.map(mutate), (token) => {
        fc.pre(!genuine.includes(token));
        return refusedQuickly(token);
      }),
      { numRuns: 2_000 },
    );
  });

  test('claims at random under a genuine signature never throw', () => {
    const names = [
      ...Object.keys(standardPayload),
      'agt',
      'grnt',
      'parentAgt',
      'bdg',
      'cnf',
      'aud',
      'sandbox',
      'authorization_details',
    ];
    const payloads = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }));
    const always = createTokenVerifier({
      keys: () => serviceKeys,
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature: () => true,
    });
    const signature = base64url(Buffer.alloc(256, 1));

    fc.assert(
      fc.property(payloads, (claims) => {
        const payload = { ...standardPayload, ...claims };
        always.verify(`${base64url({ alg: 'RS256' })}.${base64url(payload)}.${signature}`, expected);
      }),
    );
  });
});
