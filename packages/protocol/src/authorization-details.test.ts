import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  issuedDetails,
  narrowTools,
  readRequestedDetails,
  type ToolsEntry,
} from './authorization-details.ts';
import { canonicalResource, isSameResource, namesResource } from './resource-uri.ts';

const scopes = ['email:read', 'tool:gmail:write', 'tool:crm:read'];
const type = 'urn:service:tools:v1';
const entry = (change: object = {}) => ({ type, connector: 'gmail', ...change });
const faultsOf = (value: unknown, of = scopes) => {
  const read = readRequestedDetails(value, of);
  return read.ok ? [] : read.faults.map(({ path, problem }) => `${path} ${problem}`);
};

describe('entries of a request', () => {
  test.each([
    ['none', []],
    ['a connector', [entry()]],
    ['one for each connector', [entry(), entry({ connector: 'crm' })]],
    ['tools', [entry({ tools: ['send', 'get_*', 'a'.repeat(128), `${'a'.repeat(128)}*`] })]],
    [
      'caps',
      [
        entry({
          caps: { send: { per_hour: 0, per_day: 2_147_483_647, per_case: 1 }, cost_units: { per_day: 5 } },
        }),
      ],
    ],
    [
      'caps of a tool called `__proto__`',
      [JSON.parse('{"type":"urn:service:tools:v1","connector":"gmail","caps":{"__proto__":{"per_day":1}}}')],
    ],
    ['a region', [entry({ data_region: 'eu-west_1' })]],
  ])('may be %s', (_, value) => {
    const read = readRequestedDetails(value, scopes);

    expect(read).toEqual({ ok: true, entries: value });
    expect(JSON.stringify(read.ok && read.entries)).toBe(JSON.stringify(value));
  });

  test.each<[string, unknown, string[]]>([
    ['no list', { 0: entry() }, [' type']],
    ['nothing', null, [' type']],
    ['21 entries', Array.from({ length: 21 }, () => ({})), [' too_long']],
    [
      'more than 2,048 bytes',
      [entry({ tools: Array.from({ length: 20 }, (_, n) => `${'t'.repeat(100)}${n}`) })],
      [' too_long'],
    ],
    ['an entry that is no object', [[], 'x', null], ['.0 type', '.1 type', '.2 type']],
    ['an empty entry', [{}], ['.0.type required', '.0.connector required']],
    ['another type', [entry({ type: 'urn:service:budget:v1' })], ['.0.type not_allowed']],
    ['a type that is no text', [entry({ type: 1 })], ['.0.type type']],
    ['another member', [entry({ note: 1 })], ['.0.note unknown']],
    ['a purpose', [entry({ purpose: 'aml.screening' })], ['.0.purpose not_allowed']],
    ['a connector that is no name', [entry({ connector: 'g mail' })], ['.0.connector format']],
    ['the connector `*`', [entry({ connector: '*' })], ['.0.connector format']],
    ['a connector that no scope reaches', [entry({ connector: 'slack' })], ['.0.connector not_allowed']],
    ['a connector twice', [entry(), entry()], ['.1.connector not_allowed']],
    ['tools that are no list', [entry({ tools: 'send' })], ['.0.tools type']],
    ['tools that are null', [entry({ tools: null })], ['.0.tools type']],
    ['no tool', [entry({ tools: [] })], ['.0.tools too_short']],
    ['101 tools', [entry({ tools: Array.from({ length: 101 }, (_, n) => `t${n}`) })], ['.0.tools too_long']],
    [
      'tools that are none',
      [entry({ tools: ['a', 7, '*', 'a b', 'a**', 'a'] })],
      [
        '.0.tools.1 type',
        '.0.tools.2 format',
        '.0.tools.3 format',
        '.0.tools.4 format',
        '.0.tools.5 not_allowed',
      ],
    ],
    ['caps that are a list', [entry({ caps: [] })], ['.0.caps type']],
    ['no caps', [entry({ caps: {} })], ['.0.caps too_short']],
    ['a cap with a wildcard', [entry({ caps: { 'get_*': { per_day: 1 } } })], ['.0.caps.get_* format']],
    ['a cap that is a number', [entry({ caps: { send: 5 } })], ['.0.caps.send type']],
    ['a cap without a window', [entry({ caps: { send: {} } })], ['.0.caps.send too_short']],
    ['an unknown window', [entry({ caps: { send: { per_week: 1 } } })], ['.0.caps.send.per_week unknown']],
    [
      'the window `constructor`',
      [entry({ caps: { send: { constructor: 1 } } })],
      ['.0.caps.send.constructor unknown'],
    ],
    [
      'counts out of range',
      [entry({ caps: { send: { per_hour: -1, per_day: 2_147_483_648, per_case: 1.5 } } })],
      ['.0.caps.send.per_hour too_small', '.0.caps.send.per_day too_large', '.0.caps.send.per_case type'],
    ],
    ['a count in text', [entry({ caps: { send: { per_day: '5' } } })], ['.0.caps.send.per_day type']],
    [
      'regions that are none',
      [entry({ data_region: '' }), entry({ connector: 'crm', data_region: 'e u' })],
      ['.0.data_region too_short', '.1.data_region format'],
    ],
    [
      'a region that is too long, and one that is null',
      [entry({ data_region: 'a'.repeat(65) }), entry({ connector: 'crm', data_region: null })],
      ['.0.data_region too_long', '.1.data_region type'],
    ],
  ])('%s: every fault is named', (_, value, faults) => {
    expect(faultsOf(value)).toEqual(faults.map((fault) => `authorizationDetails${fault}`));
  });

  test('may speak of any connector when a scope reaches all of them', () => {
    expect(faultsOf([entry({ connector: 'slack' })], ['tool:*:read'])).toEqual([]);
  });

  test('whatever they are, are read or refused, and what is read is what was sent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = readRequestedDetails([value, entry(Object(value))], scopes);
        return read.ok ? read.entries.length === 2 : read.faults.length > 0;
      }),
    );
  });
});

describe('the issued form', () => {
  const gmail: ToolsEntry = {
    type,
    connector: 'gmail',
    tools: ['send'],
    caps: { send: { per_day: 5 } },
    data_region: 'eu',
  };

  test('has one entry for each connector of a grant with a purpose, in the order of its scopes', () => {
    expect(issuedDetails('aml.screening', ['tool:crm:read', ...scopes], [gmail])).toEqual([
      { type, connector: 'crm', purpose: 'aml.screening' },
      { ...gmail, purpose: 'aml.screening' },
    ]);
  });

  test('has only the entries sent where there is no purpose', () => {
    expect(issuedDetails(undefined, scopes, [gmail])).toEqual([gmail]);
    expect(issuedDetails(undefined, scopes, [])).toEqual([]);
  });

  test('keeps what withholds something while any scope reaches its connector', () => {
    expect(issuedDetails(undefined, ['tool:*:read'], [gmail])).toEqual([gmail]);
    expect(issuedDetails('aml.screening', ['tool:*:read', 'tool:crm:read'], [gmail])).toEqual([
      { type, connector: 'crm', purpose: 'aml.screening' },
      { ...gmail, purpose: 'aml.screening' },
    ]);
    expect(issuedDetails(undefined, ['tool:crm:read'], [gmail])).toEqual([]);
  });

  test('does not change when it is made of itself', () => {
    const once = issuedDetails('payments.payout', scopes, [gmail]);

    expect(issuedDetails('payments.payout', scopes, once)).toEqual(once);
  });
});

describe('narrowing the tools', () => {
  const entries = issuedDetails('aml.screening', scopes, [
    { type, connector: 'gmail', tools: ['send', 'get_*'] },
  ]);
  const narrowed = (kept: Record<string, string[]>, of = scopes) => {
    const result = narrowTools({ purpose: 'aml.screening', scopes: of, entries }, kept);
    return result.ok
      ? result.entries.map(({ connector, tools }) => [connector, tools])
      : result.faults.map(({ path, problem }) => `${path} ${problem}`);
  };

  test('leaves the tools that are kept, and the other connectors as they were', () => {
    expect(narrowed({ gmail: ['get_mail', 'get_m*'] })).toEqual([
      ['gmail', ['get_mail', 'get_m*']],
      ['crm', undefined],
    ]);
    expect(narrowed({ crm: ['search'] })).toEqual([
      ['gmail', ['send', 'get_*']],
      ['crm', ['search']],
    ]);
    expect(narrowed({})).toEqual([
      ['gmail', ['send', 'get_*']],
      ['crm', undefined],
    ]);
  });

  test('describes a connector that only `*` reached, so that the rest of its tools is withheld', () => {
    expect(narrowed({ slack: ['post'] }, ['tool:*:read', 'tool:gmail:read'])).toContainEqual([
      'slack',
      ['post'],
    ]);
  });

  test.each([
    ['another tool', { gmail: ['send', 'delete'] }, ['tools.gmail.1 not_allowed']],
    ['a wider prefix', { gmail: ['get*'] }, ['tools.gmail.0 not_allowed']],
    ['a name that a prefix only begins with', { gmail: ['get'] }, ['tools.gmail.0 not_allowed']],
    ['no tool at all', { gmail: [] }, ['tools.gmail too_short']],
    ['a tool twice', { gmail: ['send', 'send'] }, ['tools.gmail.1 not_allowed']],
    ['what is no tool', { crm: ['a b'] }, ['tools.crm.0 format']],
    ['another connector', { slack: ['post'] }, ['tools.slack not_allowed']],
    ['what is no connector', { 'a b': ['post'] }, ['tools.a b format']],
    ['a member of every object', { constructor: ['post'] }, ['tools.constructor not_allowed']],
    [
      'more than a token has room for',
      { gmail: Array.from({ length: 99 }, (_, n) => `get_${'x'.repeat(20)}${n}`) },
      ['tools too_long'],
    ],
  ])('never adds %s', (_, kept, faults) => {
    expect(narrowed(kept)).toEqual(faults);
  });
});

describe('agents K5: a resource', () => {
  test.each([
    ['https://mcp.example', 'https://mcp.example/'],
    ['https://mcp.example', 'HTTPS://MCP.Example'],
    ['https://mcp.example', 'https://mcp.example:443/'],
    ['https://mcp.example', 'https://mcp.example:'],
    ['http://127.0.0.1:8080', 'HTTP://127.0.0.1:8080/'],
    ['http://[::1]', 'http://[::1]:80/'],
    ['https://mcp.example/mcp', 'https://MCP.example:443/mcp'],
    ['https://mcp.example?a=1', 'https://mcp.example/?a=1'],
  ])('%s is %s', (one, other) => {
    expect(canonicalResource(other)).toBe(one);
    expect(canonicalResource(one)).toBe(one);
    expect(isSameResource(one, other)).toBe(true);
  });

  test.each([
    ['https://mcp.example/mcp', 'https://mcp.example/mcp/'],
    ['https://mcp.example/mcp', 'https://mcp.example/MCP'],
    ['https://mcp.example', 'https://mcp.example//'],
    ['https://mcp.example', 'http://mcp.example'],
    ['http://mcp.example', 'http://mcp.example:443'],
    ['https://mcp.example:4430', 'https://mcp.example'],
    ['https://mcp.example', 'https://mcp.example.'],
    ['https://mcp.example', 'https://mcp.example@evil.example'],
    ['https://mcp.example', 'https://mcp.example\\@evil.example'],
    ['Calendar', 'calendar'],
  ])('%s is not %s', (one, other) => {
    expect(isSameResource(one, other)).toBe(false);
  });

  test('is named by an audience or by one of a list, and by no part of a text', () => {
    const resource = 'https://mcp.example';

    expect(namesResource('https://mcp.example/', resource)).toBe(true);
    expect(namesResource(['calendar', 'HTTPS://mcp.example'], resource)).toBe(true);
    expect(namesResource([['https://mcp.example']], resource)).toBe(false);
    expect(namesResource('https://mcp.example https://other.example', resource)).toBe(false);
    for (const none of [undefined, null, 7, '', []]) expect(namesResource(none, resource)).toBe(false);
  });
});
