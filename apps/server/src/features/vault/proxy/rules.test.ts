import { faultOfRules, matchPattern } from '@behest/protocol/proxy-patterns';
import type { ProxyRule } from '@behest/protocol/proxy-rules';
import { TOOLS_TYPE } from '@behest/protocol/tools-entry';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formsOf, headersForAgent, INERT, reflects, searchFor } from './answer.rules.ts';
import { allowedBy, mayUseRule } from './match.rules.ts';
import { headersForUpstream, isForbidden, sentHeaders } from './request.rules.ts';
import { readTarget, withoutParameter } from './target.rules.ts';

describe('V9: a path', () => {
  test.each([
    'repos/../admin',
    'repos/..',
    '..',
    '.',
    './repos',
    'repos/./a',
    'repos//a',
    '/repos',
    'repos/%2e%2e/admin',
    'repos/%2E./admin',
    'repos/.%2e',
    'repos/%252e%252e/admin',
    'repos/%25252e%25252e/admin',
    'repos/..%2fadmin',
    'repos%2fadmin',
    'repos%2Fadmin',
    'repos%252fadmin',
    'repos%5cadmin',
    'repos%255cadmin',
    'repos\\admin',
    'repos;a=b/admin',
    'repos%3ba=b',
    'repos%00',
    'repos%2500',
    'repos%0d%0ahost:evil',
    'repos%0a',
    'repos%7f',
    'repos%ff',
    'repos%c0%af',
    'repos%c0%ae%c0%ae/admin',
    'repos%',
    'repos%2',
    'repos%zz',
    'repos#a',
    'repos a',
    'repos\ta',
    'réports',
    'repos?a=%zz',
    'repos?a=%ff',
    'repos?a=1;b=2',
    'repos?a=b#c',
    'repos?a b',
    'a'.repeat(2048),
    `a?${'b'.repeat(8191)}`,
  ])('is refused where two readers could take it for different ones: %#', (tail) => {
    expect(readTarget(tail)).toBeUndefined();
  });

  test.each([
    ['', ['']],
    ['repos', ['repos']],
    ['repos/', ['repos', '']],
    ['repos/a.b/..c/...', ['repos', 'a.b', '..c', '...']],
    ['repos/a%20b/100%25', ['repos', 'a b', '100%']],
    ['repos/%C3%A9', ['repos', 'é']],
    ['a?b=c&b=d/e?f&g=%26', ['a']],
    ['a'.repeat(2047), ['a'.repeat(2047)]],
  ])('is taken as it stands where it has a single reading: %#', (tail, segments) => {
    const target = readTarget(tail);
    expect(target?.segments).toEqual(segments);
    expect(`${target?.path}${target?.query && `?${target.query}`}`).toBe(`/${tail}`);
  });

  test('means the same to a reader that normalises it, once it is taken', () => {
    const piece = fc.constantFrom(
      '.',
      '..',
      '/',
      '%2e',
      '%2f',
      '%25',
      'a',
      '2e',
      '2f',
      ';',
      '\\',
      '%5c',
      '%00',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const target = readTarget(pieces.join(''));
        if (!target) return;
        for (const path of [target.path, decodeURIComponent(target.path)]) {
          expect(new URL(`http://a${path.replaceAll('%', '%25')}`).pathname.replaceAll('%25', '%')).toBe(
            path,
          );
        }
      }),
    );
  });
});

describe('a pattern', () => {
  test.each([
    ['/repos/{owner}/{name}', 'repos/acme/site', { owner: 'acme', name: 'site' }],
    ['/repos/{rest+}', 'repos/a/b/c', { rest: 'a/b/c' }],
    ['/repos/{rest+}', 'repos/a/', { rest: 'a/' }],
    ['/repos/', 'repos/', {}],
    ['/', '', {}],
    ['/a b', 'a%20b', {}],
    ['/repos/{owner}', 'repos/%C3%A9', { owner: 'é' }],
  ])('%s matches %s', (pattern, tail, named) => {
    expect(matchPattern(pattern, readTarget(tail)?.segments ?? [])).toEqual(named);
  });

  test.each([
    ['/repos/{owner}', 'repos'],
    ['/repos/{owner}', 'repos/'],
    ['/repos/{owner}', 'repos/a/'],
    ['/repos/{owner}', 'repos/a/b'],
    ['/repos/{rest+}', 'repos'],
    ['/repos/{rest+}', 'repos/'],
    ['/repos', 'repos/'],
    ['/repos/', 'repos'],
    ['/repos', 'REPOS'],
    ['/repos', 'repos.'],
    ['/{x}', 'a'.repeat(257)],
  ])('%s does not match %s', (pattern, tail) => {
    expect(matchPattern(pattern, readTarget(tail)?.segments ?? [])).toBeUndefined();
  });

  const one = (members: object): ProxyRule => ({
    id: 'a',
    methods: ['POST'],
    path: '/x/{y}',
    unmapped: true,
    ...members,
  });
  const tool = { connector: 'c', tool: 't' };
  test.each([
    [[one({}), one({})], 'rules[1].id'],
    [[one({ path: 'x' })], 'rules[0].path'],
    [[one({ path: '/x//y' })], 'rules[0].path'],
    [[one({ path: '/../y' })], 'rules[0].path'],
    [[one({ path: '/{a+}/y' })], 'rules[0].path'],
    [[one({ path: '/{a}/{a}' })], 'rules[0].path'],
    [[one({ path: '/{a' })], 'rules[0].path'],
    [[one({ path: '/a%2fb' })], 'rules[0].path'],
    [[one({ tool })], 'rules[0]'],
    [[{ id: 'a', methods: ['GET'], path: '/' } satisfies ProxyRule], 'rules[0]'],
    [[one({ unmapped: undefined, tool: { ...tool, resource: '{z}' } })], 'rules[0].tool.resource'],
    [[one({ unmapped: undefined, tool: { ...tool, amount: '/a' } })], 'rules[0].tool.amount'],
    [[one({ unmapped: undefined, methods: ['GET'], tool: { ...tool, body: 'json' } })], 'rules[0].tool.body'],
  ])('rules with a fault are refused at %#', (rules, field) => {
    expect(faultOfRules(rules, 'rules')?.field).toBe(field);
    expect(faultOfRules([one({})], 'rules')).toBeUndefined();
  });
});

describe('low 1: a rule after the rule of a tool', () => {
  const first = (path: string, members: object = {}) => ({
    ...{ id: 'first', methods: ['POST'], path, tool: { connector: 'pay', tool: 'list' } },
    ...members,
  });
  const then = (path: string, members: object = {}) => ({
    ...{ id: 'then', methods: ['POST', 'PUT'], path, unmapped: true },
    ...members,
  });
  const faultOf = (...rules: object[]) => faultOfRules(rules as ProxyRule[], 'rules')?.field;

  test.each([
    ['/payments', '/{rest+}'],
    ['/payments', '/payments/'],
    ['/payments/', '/payments'],
    ['/payments', '/Payments'],
    ['/payments', '/{name}'],
    ['/payments', '/{name}/'],
    ['/payments/{id}', '/payments/{rest+}'],
    ['/payments/{id}', '/PAYMENTS/{id}'],
    ['/payments/{id}/items', '/payments/{id}/Items'],
    ['/payments/{id}', '/{kind}/{id}'],
    ['/payments/{rest+}', '/{kind}/{id}'],
    ['/payments/{id}', '/payments/{id}/'],
  ])('of %s is refused at %s, which covers another spelling', (tool, later) => {
    expect(faultOf(first(tool), then(later))).toBe('rules[1].path');
  });

  test.each([
    ['/payments', '/refunds'],
    ['/payments', '/payments/{id}'],
    ['/payments', '/payments/{rest+}'],
    ['/payments/{id}', '/payments'],
    ['/payments/{id}', '/payments/{id}/items'],
    ['/payments/{id}', '/payments/{other}'],
    ['/payments/{rest+}', '/payments/{id}'],
    ['/payments', '/payments'],
    ['/', '/{rest+}'],
  ])('of %s stays at %s, which covers none', (tool, later) => {
    expect(faultOf(first(tool), then(later))).toBeUndefined();
  });

  test('stays for other methods, another upstream, and the same tool', () => {
    const tool = { connector: 'pay', tool: 'list' };
    expect(faultOf(first('/payments'), then('/{rest+}', { methods: ['GET'] }))).toBeUndefined();
    expect(faultOf(first('/a', { upstream: 'one' }), then('/{rest+}', { upstream: 'two' }))).toBeUndefined();
    expect(faultOf(first('/a', { upstream: 'one' }), then('/{rest+}'))).toBe('rules[1].path');
    expect(faultOf(first('/a'), then('/A/', { unmapped: undefined, tool }))).toBeUndefined();
    expect(faultOf(first('/a'), then('/A', { unmapped: undefined, tool: { ...tool, tool: 'get' } }))).toBe(
      'rules[1].path',
    );
    expect(faultOf(first('/a'), then('/A', { unmapped: undefined, tool: { ...tool, body: 'json' } }))).toBe(
      'rules[1].path',
    );
    expect(faultOf(then('/{rest+}'), first('/a'))).toBeUndefined(); // the first rule decides, and it says so
  });
});

test('low 6: a parameter that names a method is none that a rule without a list allows', () => {
  const rule = { id: 'all', methods: ['GET' as const], path: '/{rest+}', unmapped: true as const };
  const read = (query: string, members: object = {}) => {
    const target = readTarget(`repos?${query}`);
    if (!target) return 'unreadable';
    const allowed = allowedBy([{ ...rule, ...members }], { method: 'GET', upstream: 'api', target });
    return typeof allowed === 'string' ? allowed : 'allowed';
  };
  const names =
    '_method _METHOD %5fmethod .method +_method $method x-http-method-override X_HTTP_METHOD http_method httpMethod x-method-override methodOverride';
  for (const name of names.split(' ')) expect(read(`a=1&${name}=DELETE`), name).toBe('query');
  for (const name of ['method', 'payment_method', 'methods'])
    expect(read(`${name}=DELETE`), name).toBe('allowed');
  expect(read('_method=DELETE', { query: ['_method'] })).toBe('allowed');
});

test('a grant without entries of its own is limited by those of the grants above it', () => {
  const entry = { type: TOOLS_TYPE, connector: 'github' };
  const base = { id: 'a', methods: ['GET' as const], path: '/' };
  const own: ProxyRule = { ...base, tool: { connector: 'github', tool: 'read' } };
  const above: ProxyRule = { ...base, unmapped: true };
  expect(mayUseRule(above, [], [[]])).toBe(true);
  expect(mayUseRule(above, [], [[], [entry]])).toBe(false);
  expect(mayUseRule(own, [], [[entry]])).toBe(false);
  expect(mayUseRule(own, [entry], [[]])).toBe(true);
});

describe('V10: headers to the upstream', () => {
  test('medium 4: hold one range where the rule asks for it', () => {
    const read = (value: string, mayRange: boolean) =>
      headersForUpstream(sentHeaders(['Range', value, 'If-Range', '"a"']), { injected: undefined, mayRange });
    expect(read('bytes=0-9', true)).toEqual({ range: 'bytes=0-9', 'if-range': '"a"' });
    expect(read('bytes=-9', true)).toMatchObject({ range: 'bytes=-9' });
    expect(read('bytes=0-9,20-29', true)).toEqual({ 'if-range': '"a"' });
    expect(read('bytes=0-9', false)).toEqual({});
  });

  const forbidden =
    'authorization cookie host proxy-authorization proxy-connection forwarded x-forwarded-for x-forwarded-host x-real-ip via connection te trailer transfer-encoding upgrade expect origin referer sec-fetch-site behest-upstream dpop x-http-method-override X_Forwarded_For content-length accept-encoding keep-alive range if-range request_range x-range X-MS-Range';
  test.each(forbidden.split(' '))('%s is forbidden, by an agent and by a profile', (name) => {
    const sent = sentHeaders([name, 'a', 'Accept', 'b']);
    expect(isForbidden(name)).toBe(true);
    expect(headersForUpstream(sent, { injected: undefined, forwardHeaders: [name] })).toEqual({
      accept: 'b',
    });
  });

  test('are those of the list and of the profile, once each, and never the injected one', () => {
    const rules = { injected: 'x-api-key', forwardHeaders: ['X-Trace', 'X-Api-Key', 'X_Api_Key'] };
    const sent = [
      'Accept',
      'a',
      'If-Match',
      'b',
      'X-Trace',
      'c',
      'x-api-key',
      'd',
      'x_api_key',
      'e',
      'X-Other',
      'f',
    ];
    expect(headersForUpstream(sentHeaders(sent), rules)).toEqual({
      accept: 'a',
      'if-match': 'b',
      'x-trace': 'c',
    });
    expect(isForbidden('Content-Range')).toBe(false); // of an upload, and of no answer
    expect(headersForUpstream(sentHeaders([...sent, 'ACCEPT', 'z']), rules)).toBeUndefined();
    for (const end of ['\r', '\n', '\0']) {
      expect(headersForUpstream(sentHeaders(['Accept', `a${end}b`]), rules)).toBeUndefined();
    }
  });
});

describe('V10: headers to the agent', () => {
  const rules = {
    status: 200,
    asked: new URL('https://api.test/repos/a?page=1'),
    proxyPath: '/v1/vault/proxy/github/',
    injectedParameter: 'key',
    returnHeaders: ['X-Total', 'Set-Cookie'],
    reflects: (value: string) => value.includes('the-secret'),
  };
  const shown = (raw: string[], others: object = {}) => headersForAgent(raw, { ...rules, ...others });

  test.each(
    'set-cookie www-authenticate server alt-svc connection keep-alive transfer-encoding upgrade access-control-allow-origin access-control-allow-credentials strict-transport-security cache-control content-security-policy clear-site-data refresh x-frame-options x-other proxy-authenticate authorization service-worker-allowed behest-proxy x-request-id'.split(
      ' ',
    ),
  )('%s of the upstream stays behind', (name) => {
    expect(shown([name, 'a'])).toEqual(INERT);
    expect(shown(['X-Total', '3', 'ETag', 'b'])).toEqual({ 'x-total': '3', etag: 'b', ...INERT });
  });

  test('no profile returns what sets cookies', () => {
    expect(shown(['Set-Cookie', 'a=b'])).toEqual(INERT);
  });

  test('names that this service has itself come under other names', () => {
    const raw = ['Retry-After', '3', 'X-RateLimit-Limit', '9', 'RateLimit', 'x'];
    const upstreams = { 'behest-upstream-x-ratelimit-limit': '9', 'behest-upstream-ratelimit': 'x' };
    expect(shown(raw)).toEqual({ 'behest-upstream-retry-after': '3', ...upstreams, ...INERT });
    expect(shown(raw, { status: 429 })).toEqual({ 'retry-after': '3', ...upstreams, ...INERT });
  });

  test.each([
    ['/repos/b?page=2', '/v1/vault/proxy/github/repos/b?page=2'],
    ['b', '/v1/vault/proxy/github/repos/b'],
    ['https://api.test/x?key=the-secret&y=1#z', '/v1/vault/proxy/github/x?y=1#z'],
    ['https://api.test:443/x', '/v1/vault/proxy/github/x'],
    ['https://api.test/the-secret', undefined],
    ['https://evil.test/x', undefined],
    ['//evil.test/x', undefined],
    ['http://api.test/x', undefined],
    ['https://user@api.test/x', undefined],
    ['javascript:alert(1)', undefined],
    ['https://', undefined],
  ])('a move to %s leads to %s', (location, place) => {
    expect(shown(['Location', location]).location).toBe(place);
  });

  test('links lead through the proxy, and those elsewhere are left out', () => {
    const link =
      '<https://api.test/x?page=2&key=the-secret>; rel="next", <https://evil.test/>; rel="last", </y>; rel=first';
    expect(shown(['Link', link], { reflects: () => false }).link).toBe(
      '</v1/vault/proxy/github/x?page=2>; rel="next", </v1/vault/proxy/github/y>; rel=first',
    );
  });

  test('a value that holds the credential is left out', () => {
    expect(shown(['ETag', 'the-secret', 'X-Total', '1'])).toEqual({ 'x-total': '1', ...INERT });
  });
});

describe('V13: the search for the credential', () => {
  const secret = 'gho_+/=se cret';
  const forms = formsOf([secret]);
  const sought = { forms, secrets: forms };
  const whole = Buffer.from;

  test.each([
    ['as it is', secret],
    ['in base64', whole(secret).toString('base64')],
    ['in base64 with others before it', whole(`ada:${secret}`).toString('base64')],
    ['in base64 with others around it', whole(`ab${secret}tail`).toString('base64')],
    ['in base64url', whole(`a${secret}`).toString('base64url')],
    ['percent-encoded', encodeURIComponent(secret)],
    [
      'percent-encoded in lower case',
      encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    ],
  ])('finds it %s, wherever the parts of the text end', (_, form) => {
    const text = Buffer.from(`before ${form} after`);
    expect(reflects(sought, text.toString())).toBe(true);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const search = searchFor(sought);
      const first = search.read(text.subarray(0, cut));
      const second = first && search.read(text.subarray(cut));
      expect(second && search.rest(), `cut at ${cut}`).toBeUndefined();
      expect(`${first ?? ''}`).not.toContain(form);
    }
    const bytewise = searchFor(sought);
    const passed: Buffer[] = [];
    const isFound = [...text].some((byte) => {
      const part = bytewise.read(Buffer.from([byte]));
      if (part) passed.push(part);
      return part === undefined;
    });
    expect(isFound || bytewise.rest() === undefined).toBe(true);
    expect(form.startsWith(Buffer.concat(passed).toString().slice('before '.length))).toBe(true);
  });

  test.each([
    ['12345678', true],
    ['1234567', false],
  ])('finds %s: %s, because a shorter secret stands in answers by chance', (text, isFound) => {
    const found = formsOf([text]);
    expect(reflects({ forms: found, secrets: found }, `before ${text} after`)).toBe(isFound);
  });

  /** The slow way: the whole form anywhere, or eight of its bytes or more at an edge. */
  const holds = (text: string, form: string) => {
    if (text.includes(form)) return true;
    if (text.length >= 8 && form.includes(text)) return true;
    for (let length = 8; length < form.length; length += 1) {
      if (text.endsWith(form.slice(0, length)) || text.startsWith(form.slice(-length))) return true;
    }
    return false;
  };

  test('medium 4: finds eight bytes of it at an edge, and no fewer', () => {
    const found = formsOf(['upstream-secret-0123456789abcdef']);
    const search = { forms: found, secrets: found };
    for (const [text, isFound] of [
      ['before upstream', true],
      ['before upstrea', false],
      ['89abcdef after', true],
      ['9abcdef after', false],
      ['secret-0123', true],
      ['secret-', false],
      ['before upstream-secret-0123 after', false], // an agent cannot know where it begins and ends
    ] as const) {
      expect(reflects(search, text), text).toBe(isFound);
    }
    expect(
      reflects(
        { forms: formsOf(['Token token=upstream-secret-1']), secrets: formsOf(['upstream-secret-1']) },
        'Token token=',
      ),
    ).toBe(false);
  });

  test('medium 4: takes time by length alone, whatever repeats', () => {
    const found = formsOf([`${'a'.repeat(16_000)}b`]);
    const search = searchFor({ forms: found, secrets: found });
    const began = performance.now();
    for (let part = 0; part < 4; part += 1) search.read(Buffer.from('a'.repeat(16_000)));
    expect(performance.now() - began).toBeLessThan(2_000); // compared byte by byte, it is minutes
  });

  test('medium 4: takes time by length alone, byte by byte too', () => {
    const form = Buffer.from(
      Array.from({ length: 16_000 }, (_, at) => String.fromCharCode(33 + ((at * at) % 89))).join(''),
    );
    const search = searchFor({ forms: [form], secrets: [form] });
    const began = performance.now();
    expect(search.read(Buffer.from('before'))?.toString()).toBe('before');
    const passed = [...form.subarray(0, -1)].map((byte) => search.read(Buffer.from([byte])));
    expect(performance.now() - began).toBeLessThan(500); // compared anew for each byte, it is seconds
    expect(passed.some((part) => part === undefined || part.length > 0)).toBe(false);
    expect(search.rest()).toBeUndefined();
  });

  test('lets everything else through, in any parts', () => {
    const alphabet = fc.constantFrom(...'gho_+/=se crt');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: alphabet }), { maxLength: 20 }), (parts) => {
        const text = parts.join('');
        const isHeld = forms.some((form) => holds(text, form.toString()));
        const search = searchFor(sought);
        const passed = parts.map((part) => search.read(Buffer.from(part)));
        const all = [...passed, search.rest()];
        expect(all.includes(undefined)).toBe(isHeld);
        if (!isHeld) expect(all.join('')).toBe(text);
      }),
    );
  });
});

test('a parameter is removed in any spelling of its name, and no other', () => {
  expect(withoutParameter('a=1&key=x&KEY=y&%6bey=z&k%65y&b=key&keys=2', 'key')).toBe('a=1&b=key&keys=2');
});
