import { nobodys } from '../../../apps/server/test/app/every-route.ts';

/** The samples make another one in each process. */
const PASSKEY_ANSWER = {
  challengeId: 'wac_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  response: {
    id: 'IkmpLFar89ND9PaVg6QH4h5Jglov0JlL92UQ7z-wnbM',
    rawId: 'IkmpLFar89ND9PaVg6QH4h5Jglov0JlL92UQ7z-wnbM',
    type: 'public-key',
    response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
    clientExtensionResults: {},
  },
};

/** The records that examples are about. */
export const records: Readonly<Record<string, string>> = {
  ...nobodys,
  callId: 'call-000001',
  caseName: 'refund-1042',
  connector: 'acme_mail',
  passkeyAnswer: JSON.stringify(PASSKEY_ANSWER),
  ruleId: 'many_refunds',
  service: 'github',
};

const TIME = '2026-01-15T09:30:00.000Z';
const LATER = '2026-01-16T09:30:00.000Z';
const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const KEY = 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'; // RFC 7517, appendix A.1
const JWT = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';

/** Texts by the name of their member. A list has one of them. */
const texts: Readonly<Record<string, string>> = {
  ...records,
  action: 'flight.booked',
  accessToken: JWT,
  agentName: 'Travel booker',
  amount: '25.00',
  audience: 'https://mail.acme.example',
  caseId: 'refund-1042',
  clientId: 'https://client.example/metadata.json',
  client_id: 'https://client.example/metadata.json',
  code_challenge_method: 'S256',
  connectors: 'acme_mail',
  currency: 'USD',
  defaultScopes: 'calendar:read',
  description: 'Books travel for its person.',
  displayName: 'Ada Lovelace',
  domain: 'acme.example',
  domains: 'acme.example',
  email: 'ada@acme.example',
  events: 'grant.revoked',
  eventType: 'grant.revoked',
  expiresIn: '30d',
  grantToken: JWT,
  hash: HASH,
  issuer: 'https://auth.example.com',
  iss: 'https://auth.example.com',
  kty: 'EC',
  method: 'GET',
  name: 'Travel booker',
  nextCursor: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0D',
  owner: 'ada@acme.example',
  path: '/v1/messages',
  principalId: 'user_42',
  purpose: 'payments.payout',
  reason: 'The person asked for it.',
  redirectUri: 'https://app.acme.example/callback',
  redirectUris: 'https://app.acme.example/callback',
  redirect_uri: 'https://app.acme.example/callback',
  remaining: '25.00',
  requestId: 'req_7b1c',
  scope: 'calendar:read',
  scopes: 'calendar:read',
  sha256: HASH,
  sub: 'user_42',
  tenantId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  developerId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  timezone: 'Europe/Berlin',
  token: JWT,
  tool: 'send_mail',
  tools: 'send_mail',
  types: 'grant.revoked',
  version: '1.0.0',
};

/** Texts by the pattern of their schema, for names that say nothing. */
const BY_PATTERN: readonly [includes: string, text: string][] = [
  ['[smhd]', '30d'],
  ['urn:behest:passport', records.passportId ?? ''],
  ['[0-9]{8}', '12345678'],
  ['\\{[a-z]', '{recipient}'],
  ['did:web', 'did:web:auth.example.com'],
  ['[A-Z]{3}', 'USD'],
  ['[A-Z0-9]{2,11}', 'USD'],
  ['_[0-9A-HJKMNP-TV-Z]{26}', '01K9Z3QW5M8T2V4X6Y7Z8A9B0C'],
  ['[0-9a-f]{64}', HASH],
  ['{43}', KEY],
  ['[0-9]{4}-', '2026-01-15'],
  ['^[0-9]', '25.00'],
  ['@', 'ada@acme.example'],
  ['^https', 'https://app.acme.example'],
];

const ENDINGS: readonly [ending: RegExp, text: string][] = [
  [/(At|Until|Since|From|time|until|since)$/, TIME],
  [/(ndpoint|rl|ri|link)s?$/i, 'https://auth.example.com/example'],
  [/(ecret|oken|Key|password|jwt|assertion|signature)$/i, 'example-of-a-secret-0123456789abcdef'],
  [/(hash|digest|thumbprint|challenge|nonce)$/i, KEY],
  [/(Id|_id)$/, 'example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'],
];

export interface TextSchema {
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A text that has this shape, and the meaning of this name if one is known. */
export function exampleText(schema: TextSchema, name: string): string {
  const { format, pattern = '', minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (format === 'date-time') return /expire|until|end|to$/i.test(name) ? LATER : TIME;
  const given = [
    texts[name],
    ...ENDINGS.flatMap(([ending, text]) => (ending.test(name) ? [text] : [])),
    ...BY_PATTERN.flatMap(([part, text]) => {
      const [, prefix = ''] = /^\^([a-z]+_)/.exec(pattern) ?? [];
      return pattern.includes(part) ? [`${prefix}${text}`] : [];
    }),
    'example',
    'Example',
    KEY.slice(0, 22),
    'x'.repeat(Math.min(Math.max(minLength, 1), 400)),
    '/example',
    'https://example.com',
    '1',
    '',
  ];
  const fits = (text: string | undefined): text is string =>
    text !== undefined &&
    text.length >= minLength &&
    text.length <= maxLength &&
    new RegExp(pattern, 'u').test(text);
  const found = given.find(fits);
  if (found === undefined)
    throw new Error(`No text of the examples fits ${name || 'a member'}: ${JSON.stringify(schema)}`);
  return found;
}
