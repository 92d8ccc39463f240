import { describe, expect, test } from 'vitest';
import recorded from '../../../../test/recorded/token-answers.json' with { type: 'json' };
import presets from '../providers/providers.presets.json' with { type: 'json' };
import { readTokenAnswer } from './answers.rules.ts';
import type { AnswerForm } from './tokens.rules.ts';

const now = new Date('2026-01-01T00:00:00Z');

interface Recorded {
  readonly code: { readonly status: number; readonly body: unknown };
  readonly refresh: { readonly status: number; readonly body: unknown };
  readonly reads: readonly [number, string, number, string | null];
  readonly refusals: readonly (readonly [number, unknown, string])[];
}

const upstreams = recorded as unknown as Readonly<Record<string, Recorded>>;

function read(status: number, body: unknown, form: AnswerForm = {}, headers: Record<string, string> = {}) {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return readTokenAnswer({ status, headers, body: bytes }, form, now);
}

const formOf = (preset: string): AnswerForm => {
  const { tokenPointers = {}, tokenLifetimeSeconds } = Object(Reflect.get(presets, preset));
  return { pointers: tokenPointers, tokenLifetimeSeconds };
};

test('agents K4: each preset has recorded answers', () => {
  expect(Object.keys(upstreams).filter((name) => name !== 'without a preset')).toEqual(Object.keys(presets));
});

describe.each(Object.entries(upstreams))(
  'agents K3, K4: %s',
  (preset, { code, refresh, reads, refusals }) => {
    const form = formOf(preset);

    test('gives tokens for a code and for a refresh token', () => {
      const [codeEnds, codeRefresh, refreshEnds, newRefresh] = reads;
      expect(read(code.status, code.body, form)).toMatchObject({
        result: 'tokens',
        tokens: { accessToken: expect.any(String), expiresInSeconds: codeEnds, refreshToken: codeRefresh },
      });
      const renewed = read(refresh.status, refresh.body, { ...form, isRefresh: true });
      expect(renewed).toMatchObject({
        result: 'tokens',
        tokens: { expiresInSeconds: refreshEnds, refreshToken: newRefresh ?? undefined },
      });
    });

    test.each(refusals)('means with status %i and %j: %3$s', (status, body, meaning) => {
      expect(read(status, body, form).result).toBe(meaning);
    });
  },
);

describe('the answer of a token endpoint', () => {
  const tokensOf = (said: object, form: AnswerForm = {}) => Object(read(200, said, form)).tokens;

  test.each([0, -1, 3_153_600_001, '0', '-1', 'soon', '3153600001'])(
    'agents 30: tells no end by %j seconds',
    (expiresIn) => {
      expect(tokensOf({ access_token: 'a', expires_in: expiresIn }).expiresInSeconds).toBeUndefined();
    },
  );
  test.each([
    [1, 1],
    [3_153_600_000, 3_153_600_000],
    ['60', 60],
    ['60.5', 60.5],
  ])('agents K4: tells the end by %j seconds', (expiresIn, seconds) => {
    expect(tokensOf({ access_token: 'a', expires_in: expiresIn }).expiresInSeconds).toBe(seconds);
  });
  test.each([
    [{ expires_at: now.getTime() / 1000 + 90 }, 90],
    [{ expires_at: now.getTime() + 90_000 }, 90],
    [{ expires_at: '2026-01-01T00:01:30Z' }, 90],
    [{ expires_on: String(now.getTime() / 1000 + 90) }, 90],
    [{ expires: '90' }, 90],
    [{ expires: now.getTime() / 1000 + 90 }, 90],
    [{ expires: 'Thu, 01 Jan 2026 00:01:30 GMT' }, undefined],
    [{ expires_at: now.getTime() / 1000 - 90 }, undefined],
    [{ expires_at: 'tomorrow' }, undefined],
    [{ expires_in: 30, expires_at: now.getTime() / 1000 + 90 }, 30],
  ])('agents K4: tells the end by the moment in %j', (members, seconds) => {
    expect(tokensOf({ access_token: 'a', ...members }).expiresInSeconds).toBe(seconds);
  });

  test('has tokens of 16 KiB at most', () => {
    expect(read(200, { access_token: 'a'.repeat(16_384) }).result).toBe('tokens');
    expect(read(200, { access_token: 'a'.repeat(16_385) }).result).toBe('failed');
  });

  test.each(['', null, false, undefined])(
    'agents K4: with the refresh token %j keeps the old one',
    (refreshToken) => {
      expect(tokensOf({ access_token: 'a', refresh_token: refreshToken })).toMatchObject({
        accessToken: 'a',
        refreshToken: undefined,
      });
    },
  );

  test('agents K4: may begin with a byte-order mark, and have any status of success', () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"access_token":"a"}')]);
    for (const status of [200, 201, 202]) expect(read(status, body).result).toBe('tokens');
    expect(read(302, body).result).toBe('failed');
  });

  test.each(['bearer', 'Bearer', 'user', 'bot', '', null, undefined])(
    'agents K4: of the type %j is a token',
    (type) => {
      expect(read(200, { access_token: 'a', token_type: type }).result).toBe('tokens');
    },
  );
  test.each(['DPoP', 'mac', 'PoP', 'N_A'])('of the type %j is none, because it takes a key', (type) => {
    expect(read(200, { access_token: 'a', token_type: type }).result).toBe('failed');
  });

  test('agents K4: without an end is taken to live as long as the provider says, beside a refresh token', () => {
    const form = { tokenLifetimeSeconds: 3600 };
    expect(tokensOf({ access_token: 'a', refresh_token: 'r' }, form).expiresInSeconds).toBe(3600);
    expect(tokensOf({ access_token: 'a' }, { ...form, isRefresh: true }).expiresInSeconds).toBe(3600);
    expect(tokensOf({ access_token: 'a' }, form).expiresInSeconds).toBeUndefined();
    expect(tokensOf({ access_token: 'a', refresh_token: 'r', expires_in: 60 }, form).expiresInSeconds).toBe(
      60,
    );
  });

  test.each([
    ['600', 600],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 600],
    ['999999', 86_400],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 86_400],
    ['0', undefined],
    ['Wed, 31 Dec 2025 00:00:00 GMT', undefined],
    ['soon', undefined],
  ])('agents K9: with Retry-After %s is waited for %s seconds', (header, seconds) => {
    expect(read(429, '', {}, { 'retry-after': header })).toEqual({
      result: 'failed',
      retryAfterSeconds: seconds,
    });
    expect(read(503, {}, {}, { 'retry-after': header })).toEqual({
      result: 'failed',
      retryAfterSeconds: seconds,
    });
  });

  test.each([
    [
      'members',
      JSON.stringify({ access_token: 'a', ...Object.fromEntries([...Array(1000).keys()].entries()) }),
    ],
    ['values', JSON.stringify({ access_token: 'a', list: Array(5000).fill(1) })],
    ['fields', `access_token=a${'&a=b'.repeat(16_384)}`],
  ])('high 2: with too many %s holds no tokens', (_, body) => {
    expect(read(200, body).result).toBe('failed');
  });
  test('high 2: names 200 scopes at most, of 256 characters each, as a text or a list', () => {
    const many = Array.from({ length: 1500 }, (_, at) => `scope_${at % 300}`);
    const all = ['', 'x'.repeat(257), ...many];
    const kept = many.slice(0, 200);
    expect(tokensOf({ access_token: 'a', scope: all }).scopes).toEqual(kept);
    expect(tokensOf({ access_token: 'a', scope: all.join(' ') }).scopes).toEqual(kept);
  });

  test('that no one can read is a refusal with 400 and 401 alone', () => {
    expect(read(400, 'nonsense')).toEqual({ result: 'refused', error: 'unreadable_refusal' });
    expect(read(401, '')).toEqual({ result: 'refused', error: 'unreadable_refusal' });
    expect(read(403, 'nonsense').result).toBe('failed');
    expect(read(200, '<html>access_token=a</html>').result).toBe('failed');
  });
});
