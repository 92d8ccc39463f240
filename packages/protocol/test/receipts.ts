import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { commitmentTo, leafOf, partOf, partsOf } from '../src/audit-parts.ts';
import { canonicalJson } from '../src/canonical-json.ts';
import { nodeHash } from '../src/merkle.ts';
import { rangesBeside } from '../src/receipt-proof.ts';
import { headOf, type Receipt } from '../src/receipts/read.ts';
import {
  checkpointText,
  cosignatureBytes,
  cosignatureMessage,
  encodeBase64,
  LOG_KEY,
  noteKey,
  vkeyOf,
  WITNESS_KEY,
  writeNote,
} from '../src/signed-note.ts';
import { base64url, ISSUER, jws, rsa, serviceKey } from './signing.ts';

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

/** The private key of 32 bytes, in front of which PKCS#8 has these. */
const ed25519 = (seed: Uint8Array) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
const publicOf = (key: ReturnType<typeof ed25519>) => createPublicKey(key).export({ format: 'jwk' });
const rawOf = (key: ReturnType<typeof ed25519>) =>
  new Uint8Array(Buffer.from(String(publicOf(key).x), 'base64url'));
const signed = (key: ReturnType<typeof ed25519>, message: string | Uint8Array) =>
  new Uint8Array(sign(null, Buffer.from(message), key));

/** The keys of the documentation's test vectors. Everybody knows them. */
const logSecret = ed25519(Buffer.from('cuI0RFeU1AulmDn52X27KZ6l59PuOOPFRqbgfg3Qez4=', 'base64'));
const witnessSecret = ed25519(Buffer.alloc(32, 0x57));
const passkeySecret = ed25519(Buffer.alloc(32, 0x58));

export const ORIGIN = 'auth.example.test/log/3f9a1c5e7b2d4806a1b3c5d7e9f01234';
const DID = 'did:web:auth.example.test';
const logKey = noteKey(ORIGIN, { type: LOG_KEY, publicKey: rawOf(logSecret) }, sha256);
const witnessKey = noteKey(
  'witness.example.test/w1',
  { type: WITNESS_KEY, publicKey: rawOf(witnessSecret) },
  sha256,
);
export const WITNESS = vkeyOf(witnessKey);

const { pair, ...rsaJwk } = serviceKey(rsa, 'RS256');
export const jwks = { keys: [rsaJwk] };
export const did = {
  id: DID,
  verificationMethod: [
    { id: `${DID}#${rsa.kid}`, type: 'JsonWebKey2020', controller: DID, publicKeyJwk: rsaJwk },
    { id: `${DID}#ed25519`, type: 'JsonWebKey2020', controller: DID, publicKeyJwk: publicOf(logSecret) },
  ],
};
/** What somebody knows who fetched the keys from the service. */
export const trust = { did, jwks };

export interface Act {
  readonly action: string;
  readonly grantId: string | null;
  readonly agentId?: string;
  readonly principalId?: string | null;
  readonly status?: 'success' | 'failure' | 'blocked';
  readonly metadata: Readonly<Record<string, unknown>>;
}

export const [ROOT, CHILD] = ['grnt_root', 'grnt_child'];
const SCOPES = ['calendar:read', 'email:send', 'tool:pay:write:capped:500'];
const APPROVED = ['calendar:read', 'tool:pay:write:capped:500'];
const PERSON = { actor: 'principal' };

/** The life of a grant: asked for, narrowed, approved, delegated, used and ended by the person. */
const life = (mode: string): Act[] => [
  {
    action: 'authorization.requested',
    grantId: null,
    metadata: { authRequestId: 'areq_1', scopes: SCOPES, actor: 'api_key' },
  },
  {
    action: 'authorization.approved',
    grantId: null,
    metadata: {
      ...{ authRequestId: 'areq_1', scopes: APPROVED, method: mode, narrowed: true, ...PERSON },
      ...(mode === 'link' && { unverified: true }),
    },
  },
  {
    action: 'grant.created',
    grantId: ROOT,
    metadata: {
      ...{ scopes: APPROVED, expiresAt: '2026-02-01T13:00:02.000Z', consentMethod: mode, delegationDepth: 0 },
      ...(mode === 'link' && { unverified: true }),
      actor: 'api_key',
    },
  },
  {
    action: 'token.issued',
    grantId: ROOT,
    metadata: { tokenId: 'tok_1', ip: '192.0.2.7', actor: 'api_key' },
  },
  {
    action: 'grant.created',
    grantId: CHILD,
    agentId: 'ag_payer',
    metadata: {
      ...{ scopes: ['tool:pay:write:capped:20'], expiresAt: '2026-02-01T12:30:00.000Z', delegationDepth: 1 },
      ...{ consentMethod: 'delegated', parentGrantId: ROOT, actor: 'agent' },
    },
  },
  {
    action: 'payment.initiated',
    grantId: CHILD,
    agentId: 'ag_payer',
    metadata: { merchant: 'Café "Ünder"', amount: 12.5, ip: '192.0.2.7', actor: 'agent' },
  },
  ...[CHILD, ROOT].map((grantId) => ({
    action: 'grant.revoked',
    grantId,
    metadata: { rootGrantId: ROOT, reason: 'principal', cascade: true, revokedBy: 'principal', ...PERSON },
  })),
];

const shown = {
  ...{ authRequestId: 'areq_1', agentId: 'ag_travel', agentName: 'Travel helper', developerName: 'Acme' },
  ...{ purpose: null, audience: null, redirectHost: 'app.acme.example', scopes: SCOPES },
  scopeDescriptions: ['See your calendar', 'Send mail in your name', 'Pay up to 500'],
  ...{ authorizationDetails: null, budget: null, expiresIn: '1h', language: 'en', sandbox: false },
};
const decision = { scopes: APPROVED, removedScopes: ['email:send'], expiresIn: '1h', tools: null };

export interface ReceiptWish {
  /** How the person was proved. Default: `passkey`. */
  readonly mode?: string;
  readonly acts?: (acts: Act[]) => Act[];
  /** What the person decided, and what they were shown. */
  readonly decision?: object;
  readonly shown?: object;
  /** The proof of the consent, changed. */
  readonly proof?: (proof: object) => object;
  /** The parts of each entry, changed before they become leaves. */
  readonly parts?: (parts: string[], index: number) => string[];
  /** Claims of the statement beside its own. */
  readonly claims?: object;
  /** False where the service has no Ed25519 key. */
  readonly hasNote?: boolean;
  readonly isWitnessed?: boolean;
  /** Members of the file beside its own. */
  readonly file?: object;
  /** False where the service kept no record of the consent. */
  readonly hasRecord?: boolean;
  /** The passkey is an ES256 key, as most are. */
  readonly isEs256?: boolean;
}

const salt = (text: string) => sha256(Buffer.from(text)).subarray(0, 16);

/** Makes a receipt as the service does, with keys that everybody knows. */
export function makeReceipt(wish: ReceiptWish = {}): Receipt {
  const { mode = 'passkey', acts = (all) => all, hasNote = true, hasRecord = mode !== 'policy' } = wish;
  const consent = !hasRecord ? null : { parts: consentParts(mode, wish) };
  const consentHash = consent && commitmentTo(consent.parts, sha256);
  const told = acts(life(mode)).map((act) =>
    act.action === 'authorization.approved' && consentHash !== null
      ? { ...act, metadata: { consentHash, ...act.metadata } }
      : act,
  );
  const entries = told.map((act, at) => entryOf(act, at, wish));
  const size = entries.length * 2 + 3;
  const leaves: Uint8Array[] = Array.from({ length: size }, (_, at) => sha256(salt(`leaf ${at}`)));
  for (const { index, hash, parts } of entries) leaves[index] = leafOf(hash, parts, sha256);
  const indices = entries.map(({ index }) => index);
  const beside = [...rangesBeside(indices, size)];
  const proof = beside.map(({ start, end }) => encodeBase64(rootOver(leaves.slice(start, end))));
  const rootHash = rootOver(leaves);
  const root = encodeBase64(rootHash);

  const draft: Receipt = {
    ...{
      format: 'behest.receipt/1',
      issuer: ISSUER,
      issuerDid: DID,
      generatedAt: '2026-02-01T12:45:00.000Z',
    },
    ...{ audience: 'principal', grantId: ROOT, rootGrantId: ROOT },
    log: { origin: ORIGIN, url: `https://${ORIGIN}`, vkey: hasNote ? vkeyOf(logKey) : null },
    ...{ consent, entries, proof },
    checkpoint: { size, root, note: hasNote ? noteOf(size, rootHash, wish.isWitnessed === true) : null },
    ...{ statement: '', warnings: [], keys: { did, jwks, witnesses: [WITNESS] } },
    labels: {
      agents: { ag_travel: 'Travel helper', ag_payer: 'Payer' },
      scopes: { 'calendar:read': 'See your calendar' },
    },
    ...wish.file,
  };
  return { ...draft, statement: statementOf(draft, wish.claims) };
}

/** Signs a file anew, as only the service can. */
export function statementOf(draft: Receipt, claims: object = {}): string {
  const hashes = draft.entries.map((entry) =>
    'leafHash' in entry ? Buffer.from(entry.leafHash, 'base64') : leafOf(entry.hash, entry.parts, sha256),
  );
  const said = {
    ...{ iss: draft.issuer, iat: 1_769_949_900, origin: draft.log.origin, grantId: draft.grantId },
    ...{ rootGrantId: draft.rootGrantId, size: draft.checkpoint.size, root: draft.checkpoint.root },
    ...{ count: hashes.length, leaves: base64url(sha256(Buffer.concat(hashes))) },
    ...{ head: headOf(draft, sha256), ...claims },
  };
  return jws({ alg: 'RS256', kid: rsa.kid, typ: 'receipt+jwt' }, said, rsa);
}

function entryOf(
  { action, grantId, metadata, ...act }: Act,
  at: number,
  { parts: changed = (all) => all }: ReceiptWish,
) {
  const index = at * 2 + 1;
  const { agentId = 'ag_travel', principalId = 'user_42', status = 'success' } = act;
  const entry = {
    ...{
      id: `alog_${at}`,
      agentId,
      agentDid: `${DID}:agents:${agentId}`,
      grantId,
      principalId,
      developerId: 'dev_1',
    },
    ...{ action, metadata, status, purpose: null, salt: base64url(salt(`entry ${at}`)) },
    ...{
      seq: index + 1,
      timestamp: new Date(Date.UTC(2026, 1, 1, 12) + at * 1000).toISOString(),
      prevHash: null,
      hash: '',
    },
  };
  const hash = Buffer.from(sha256(Buffer.from(entry.id))).toString('hex');
  return { index, hash, parts: changed(partsOf(entry, sha256), index) };
}

/** By the definition. @see RFC 9162, section 2.1.1 */
function rootOver(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 1) return leaves[0] ?? new Uint8Array();
  let middle = 1;
  while (middle * 2 < leaves.length) middle *= 2;
  return nodeHash(rootOver(leaves.slice(0, middle)), rootOver(leaves.slice(middle)), sha256);
}

function noteOf(size: number, root: Uint8Array, isWitnessed: boolean): string {
  const text = checkpointText({ origin: ORIGIN, size, root });
  const at = 1_769_949_400;
  const own = { name: logKey.name, keyId: logKey.keyId, bytes: signed(logSecret, text) };
  const witnessed = {
    ...{ name: witnessKey.name, keyId: witnessKey.keyId },
    bytes: cosignatureBytes(at, signed(witnessSecret, cosignatureMessage(at, text))),
  };
  return writeNote({ text, signatures: isWitnessed ? [own, witnessed] : [own] });
}

function consentParts(mode: string, wish: ReceiptWish): string[] {
  const asked = { ...shown, ...wish.shown };
  const decided = { ...decision, ...wish.decision };
  const { proof: changed = (proof) => proof } = wish;
  const proof = changed(proofOf(mode, { shown: asked, principalId: 'user_42', decision: decided }, wish));
  const values = [
    ['consent/1', asked],
    ['principalId', 'user_42'],
    ['decision', { ...decided, decidedAt: '2026-02-01T12:00:01.000Z' }],
    ['proof', proof],
  ] as const;
  return values.map(([name, value]) => partOf(salt(`consent ${name}`), name, value));
}

const hashOf = (value: object) => base64url(sha256(Buffer.from(canonicalJson(value))));

function proofOf(mode: string, bound: object, { isEs256 = false }: ReceiptWish): object {
  const at = '2026-02-01T12:00:01.000Z';
  if (mode === 'developer') {
    const claims = {
      iss: 'dev_1',
      aud: ISSUER,
      sub: 'user_42',
      areq: 'areq_1',
      iat: 1_769_947_200,
      exp: 1_769_947_260,
    };
    const { alg, use, kid, ...key } = rsaJwk;
    return { mode, at, hint: jws({ alg: 'RS256', typ: 'consent-hint+jwt' }, claims, rsa), key };
  }
  if (mode !== 'passkey') return { mode, at };
  const nonce = base64url(salt('nonce'));
  const challenge = hashOf({ v: 1, use: 'behest.consent', areq: 'areq_1', digest: hashOf(bound), nonce });
  const origin = 'https://auth.example.test';
  const client = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }));
  const authenticator = Buffer.concat([
    sha256(Buffer.from('auth.example.test')),
    Buffer.from([5, 0, 0, 0, 1]),
  ]);
  const message = Buffer.concat([authenticator, sha256(client)]);
  const ec = isEs256 ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : undefined;
  return {
    ...{ mode, rpId: 'auth.example.test', origin, credentialId: 'cred_1', nonce },
    publicKey: ec ? ec.publicKey.export({ format: 'jwk' }) : publicOf(passkeySecret),
    ...{ clientDataJSON: base64url(client), authenticatorData: base64url(authenticator) },
    signature: base64url(ec ? sign('sha256', message, ec.privateKey) : signed(passkeySecret, message)),
  };
}

/** Receipts with the verdict that every checker gives, in whatever language. */
export function corpus(): Record<
  string,
  { receipt: Receipt; failed: string | null; consent: string | null }
> {
  const good = (wish: ReceiptWish, consent: string) => ({
    receipt: makeReceipt(wish),
    failed: null,
    consent,
  });
  const bad = (wish: ReceiptWish, failed: string) => ({ receipt: makeReceipt(wish), failed, consent: null });
  const withChild = (metadata: object) => ({
    acts: (acts: Act[]) =>
      acts.map((act) =>
        act.grantId === CHILD && act.action === 'grant.created'
          ? { ...act, metadata: { ...act.metadata, ...metadata } }
          : act,
      ),
  });
  return {
    passkey: good({ isWitnessed: true }, 'person_signed'),
    developer: good({ mode: 'developer' }, 'developer_vouched'),
    email: good({ mode: 'email' }, 'asserted'),
    link: good({ mode: 'link' }, 'nobody_verified'),
    policy: good({ mode: 'policy' }, 'nobody_asked'),
    'no Ed25519 key': good({ hasNote: false }, 'person_signed'),
    'an approval before there were records': good({ mode: 'email', hasRecord: false }, 'asserted'),
    'a child with more scopes': bad(withChild({ scopes: ['email:send'] }), 'tree'),
    'a child that ends later': bad(withChild({ expiresAt: '2026-02-01T14:00:00.000Z' }), 'tree'),
    'a child whose end has another spelling': bad(withChild({ expiresAt: '2026-02-01 12:30' }), 'tree'),
    'a child with more scopes than are compared': bad(
      withChild({ scopes: Array.from({ length: 101 }, (_, at) => `calendar:read:${at}`) }),
      'tree',
    ),
    'a child at another depth': bad(withChild({ delegationDepth: 2 }), 'tree'),
    'a second root': bad(withChild({ parentGrantId: undefined }), 'tree'),
    'a grant of nobody': bad(withChild({ parentGrantId: 'grnt_gone' }), 'no_grant_entry'),
    'a grant without its entry': bad(
      {
        acts: (acts) => acts.filter(({ action, grantId }) => action !== 'grant.created' || grantId !== CHILD),
      },
      'no_grant_entry',
    ),
    'a second principal': bad(
      { acts: ([first, ...acts]) => (first ? [{ ...first, principalId: 'user_43' }, ...acts] : []) },
      'tree',
    ),
    'more approved than shown': bad({ shown: { scopes: ['calendar:read'] } }, 'consent'),
    'more granted than approved': bad({ decision: { scopes: ['calendar:read'] } }, 'consent'),
    'granted for longer than approved': bad({ decision: { expiresIn: '10m' } }, 'consent'),
    'a passkey that signed another text': bad(
      { proof: (proof) => ({ ...proof, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }) },
      'proof',
    ),
    'an other way than the entry says': bad({ proof: (proof) => ({ ...proof, mode: 'email' }) }, 'proof'),
    'a part twice': bad({ parts: (parts) => [...parts, parts.at(-1) ?? ''] }, 'inclusion'),
    'parts out of order': bad(
      { parts: ([one = '', two = '', ...more]) => [one, two, ...more.reverse()] },
      'inclusion',
    ),
    'entry/1 in the third place': bad(
      { parts: ([one = '', two = '', ...more]) => [one, two, one, ...more.slice(1)] },
      'inclusion',
    ),
    'a statement of fewer entries': bad({ claims: { count: 3 } }, 'entries'),
    'a statement of another grant': bad({ claims: { grantId: 'grnt_other' } }, 'statement'),
  };
}
