import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asciiJson } from './ascii-json.ts';
import { budgetEntry, type GrantToIssue, grantClaims } from './claims.ts';
import { readGrantClaims } from './claims-reading.ts';

const root: GrantToIssue = {
  issuer: 'https://auth.example.test',
  principalId: 'user_42',
  developerId: 'dev_1',
  agentId: 'ag_1',
  agentDid: 'did:web:auth.example.test:agents:ag_1',
  delegatedBy: [],
  scopes: ['calendar:read', 'tool:gmail:read'],
  tokenId: 'tok_1',
  grantId: 'grnt_1',
  delegationDepth: 0,
  issuedAt: new Date('2026-02-01T12:00:00.999Z'),
  expiresAt: new Date('2026-02-01T13:00:00Z'),
  sandbox: false,
};
const delegated: GrantToIssue = {
  ...root,
  agentId: 'ag_3',
  agentDid: 'did:ag_3',
  delegatedBy: ['did:ag_2', 'did:ag_1'],
  grantId: 'grnt_3',
  parentGrantId: 'grnt_2',
  delegationDepth: 2,
};

describe('the claims of a new token', () => {
  test('are, for a root grant, the claims of the standards and nothing else', () => {
    expect(grantClaims(root, { legacy: false })).toEqual({
      iss: 'https://auth.example.test',
      sub: 'user_42',
      client_id: 'ag_1',
      dev: 'dev_1',
      scp: ['calendar:read', 'tool:gmail:read'],
      scope: 'calendar:read tool:gmail:read',
      jti: 'tok_1',
      iat: 1_769_947_200,
      nbf: 1_769_947_170,
      exp: 1_769_950_800,
      act: { sub: 'did:web:auth.example.test:agents:ag_1' },
      'urn:service:grant': {
        grant_id: 'grnt_1',
        agent_did: 'did:web:auth.example.test:agents:ag_1',
        developer_id: 'dev_1',
      },
    });
  });

  test('nest the actors of a delegated grant, the holder of the token outermost', () => {
    expect(grantClaims(delegated, { legacy: false })).toMatchObject({
      act: { sub: 'did:ag_3', act: { sub: 'did:ag_2', act: { sub: 'did:ag_1' } } },
      'urn:service:grant': { grant_id: 'grnt_3', parent_grant_id: 'grnt_2', delegation_depth: 2 },
    });
  });

  test('have the names from before 0.6 only when they are asked for', () => {
    const legacy = { agt: root.agentDid, grnt: 'grnt_1' };
    const parents = { parentAgt: 'did:ag_2', parentGrnt: 'grnt_2', delegationDepth: 2 };

    expect(grantClaims(root, { legacy: true })).toEqual({
      ...grantClaims(root, { legacy: false }),
      ...legacy,
    });
    expect(grantClaims(delegated, { legacy: true })).toEqual({
      ...grantClaims(delegated, { legacy: false }),
      agt: 'did:ag_3',
      grnt: 'grnt_3',
      ...parents,
    });
  });

  test('say what is optional only where there is something to say', () => {
    const authorizationDetails = [
      { type: 'urn:service:tools:v1', connector: 'gmail' },
      budgetEntry('12.5000', 'USD'),
    ];
    const full = {
      ...root,
      audience: 'https://api.example.test',
      sandbox: true,
      authorizationDetails,
      keyThumbprint: 'abc',
    };

    expect(grantClaims(full, { legacy: true })).toMatchObject({
      aud: 'https://api.example.test',
      sandbox: true,
      authorization_details: [
        { type: 'urn:service:tools:v1', connector: 'gmail' },
        { type: 'urn:service:budget:v1', amount: '12.5000', currency: 'USD' },
      ],
      cnf: { jkt: 'abc' },
      bdg: 12.5,
    });
    expect(Object.keys(grantClaims({ ...root, authorizationDetails: [] }, { legacy: true }))).not.toContain(
      'authorization_details',
    );
  });

  test('are written in ASCII, and read back as they were', () => {
    const text = asciiJson({ sub: 'Zoë 🙂\u007f', é: 1 });

    expect(text).toBe('{"sub":"Zo\\u00eb \\ud83d\\ude42\\u007f","\\u00e9":1}');
    expect(JSON.parse(text)).toEqual({ sub: 'Zoë 🙂\u007f', é: 1 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => /^[\x20-\x7e]*$/.test(asciiJson({ value }))),
    );
  });
});

describe('reading them', () => {
  const payload = (change: object = {}) =>
    JSON.parse(JSON.stringify({ ...grantClaims(delegated, { legacy: true }), ...change }));
  const outcome = (claims: Record<string, unknown>) => {
    const read = readGrantClaims(claims);
    return read.ok ? 'read' : read.reason;
  };

  const text = fc.string({ minLength: 1, unit: 'binary' });
  const scope = fc.stringMatching(/^[!#-[\]-~]{1,20}$/);
  const anyGrant = fc
    .record({
      principalId: text,
      developerId: text,
      agentId: text,
      agentDid: text,
      delegatedBy: fc.array(text, { maxLength: 10 }),
      scopes: fc.uniqueArray(scope, { maxLength: 5 }),
      tokenId: text,
      grantId: text,
      sandbox: fc.boolean(),
      audience: fc.option(fc.oneof(text, fc.array(text)), { nil: undefined }),
    })
    .map(({ audience, ...grant }) => ({
      ...grant,
      ...(audience !== undefined && { audience }),
      ...(grant.delegatedBy.length > 0 && { parentGrantId: 'grnt_parent' }),
      delegationDepth: grant.delegatedBy.length,
    }));

  test('gives what was issued, with and without the names from before 0.6', () => {
    fc.assert(
      fc.property(anyGrant, fc.boolean(), (grant, legacy) => {
        const { issuer, issuedAt, expiresAt } = root;
        const claims = grantClaims({ issuer, issuedAt, expiresAt, ...grant }, { legacy });
        expect(readGrantClaims(JSON.parse(asciiJson(claims)))).toEqual({ ok: true, claims: grant });
      }),
    );
  });

  test('takes tokens from before 0.6, whose grant may be the token itself', () => {
    const old = { sub: 'user_42', agt: 'did:ag_1', dev: 'dev_1', scp: ['calendar:read'], jti: 'tok_1' };
    const claims = {
      principalId: 'user_42',
      developerId: 'dev_1',
      agentDid: 'did:ag_1',
      delegatedBy: [],
      scopes: ['calendar:read'],
      tokenId: 'tok_1',
      grantId: 'tok_1',
      delegationDepth: 0,
      sandbox: false,
    };

    expect(readGrantClaims(old)).toEqual({ ok: true, claims });
    expect(
      readGrantClaims({
        ...old,
        grnt: 'grnt_1',
        parentAgt: 'did:ag_0',
        parentGrnt: 'grnt_0',
        delegationDepth: 1,
      }),
    ).toEqual({
      ok: true,
      claims: {
        ...claims,
        grantId: 'grnt_1',
        parentGrantId: 'grnt_0',
        delegatedBy: ['did:ag_0'],
        delegationDepth: 1,
      },
    });
  });

  test('takes the scopes from `scope` where `scp` is absent', () => {
    const { scp: _, ...claims } = payload({ scope: 'a b:c' });

    expect(readGrantClaims(claims)).toMatchObject({ claims: { scopes: ['a', 'b:c'] } });
    expect(readGrantClaims({ ...claims, scope: '' })).toMatchObject({ claims: { scopes: [] } });
    expect(outcome({ ...claims, scope: 'a  b' })).toBe('claims_missing');
  });

  test.each<[string, object]>([
    ['no `sub`', { sub: undefined }],
    ['an empty `sub`', { sub: '' }],
    ['no `dev`', { dev: undefined }],
    ['no `jti`', { jti: undefined }],
    ['a `jti` that is a number', { jti: 1 }],
    ['`scp` as text', { scp: 'calendar:read' }],
    ['`scp` with a number in it', { scp: ['a', 1] }],
  ])('J18: %s is not enough', (_, change) => {
    expect(outcome(payload(change))).toBe('claims_missing');
  });

  const grant = { ...Object(payload()['urn:service:grant']) };
  test.each<[string, object]>([
    ['`agt`', { agt: 'did:other' }],
    ['`grnt`', { grnt: 'grnt_other' }],
    ['`parentAgt`', { parentAgt: 'did:other' }],
    ['`parentGrnt`', { parentGrnt: 'grnt_other' }],
    ['`delegationDepth`', { delegationDepth: 1 }],
    ['`dev`', { dev: 'dev_other' }],
    ['`scope`', { scope: 'calendar:read' }],
    ['`scope`, in another order', { scope: 'tool:gmail:read calendar:read' }],
    ['the actor', { act: { sub: 'did:other', act: { sub: 'did:ag_2' } } }],
    ['the budget', { authorization_details: [budgetEntry('12.5000', 'USD')], bdg: 12.4 }],
  ])('J18: %s that says something else is refused', (_, change) => {
    expect(outcome(payload())).toBe('read');
    expect(outcome(payload(change))).toBe('claims_inconsistent');
  });

  test.each<[string, object]>([
    ...[
      'client_id',
      'act',
      'urn:service:grant',
      'scope',
      'agt',
      'grnt',
      'parentAgt',
      'parentGrnt',
      'delegationDepth',
      'bdg',
      'cnf',
      'aud',
      'sandbox',
    ].map((name): [string, object] => [name, { [name]: null }]),
    ...Object.keys(grant).map((name): [string, object] => [
      name,
      { 'urn:service:grant': { ...grant, [name]: null } },
    ]),
  ])('J18: `%s` that is null is refused', (_, change) => {
    expect(outcome(payload(change))).toBe('claims_inconsistent');
  });

  test.each<[string, object]>([
    ['a list for an actor', { act: [{ sub: 'did:ag_3' }] }],
    ['an actor without a name', { act: { sub: 'did:ag_3', act: {} } }],
    ['a depth that is no number', { delegationDepth: '2' }],
    ['a sandbox mark that is not true', { sandbox: false }],
    ['an audience that is a number', { aud: 7 }],
    ['an empty agent id', { client_id: '' }],
  ])('J18: %s is refused', (_, change) => {
    expect(outcome(payload(change))).toBe('claims_inconsistent');
  });

  test('J18: a chain of 11 actors is read, and one of 12 is refused', () => {
    const bare = { sub: 'user_42', dev: 'dev_1', jti: 'tok_1', scp: ['calendar:read'] };
    const chain = (actors: number): object => ({
      sub: `did:ag_${actors}`,
      ...(actors > 1 && { act: chain(actors - 1) }),
    });

    expect(readGrantClaims({ ...bare, act: chain(11) })).toMatchObject({
      ok: true,
      claims: { delegatedBy: expect.objectContaining({ length: 10 }) },
    });
    expect(outcome({ ...bare, act: chain(12) })).toBe('claims_inconsistent');
  });
});
