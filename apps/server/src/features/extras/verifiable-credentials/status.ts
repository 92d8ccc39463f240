import { createHash } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { notFound } from '../../../platform/errors.ts';
import { type Finished, finished } from '../../../platform/finished.ts';
import { identityMethod, multibase, signToken } from '../../service/keys/index.ts';
import type { CredentialDeps } from './sign.ts';
import { findFlipsAcrossTenants, findListAcrossTenants } from './verifiable-credentials.repo.ts';
import {
  bitstringUrl,
  epochSeconds,
  issuerDid,
  LIFETIME_SECONDS,
  statusListCredential,
  TTL_SECONDS,
  tokenListClaims,
  tokenListUrl,
  vocabulary,
} from './verifiable-credentials.rules.ts';

/** How long a verifier may keep a document, in seconds. */
export const MAX_AGE_SECONDS = TTL_SECONDS;

/** The terms of the credentials, for readers of linked data. */
export const vocabularyDocument = (deps: Pick<CredentialDeps, 'publicBaseUrl'>): Finished =>
  finished(JSON.stringify(vocabulary(deps)));

/** The forms in which one list of bits is published. */
export type ListForm = 'bitstring' | 'bitstring-2021' | 'bitstring-jwt' | 'token-list';

const MAX_KEPT = 200; // documents of some 20 KiB at most
const FRESH_MILLISECONDS = 60_000;

interface Kept {
  readonly flips: number;
  readonly madeAt: number;
  readonly document: Finished;
}

/**
 * Publishes status lists. To pack and sign a list takes milliseconds, so a document is sent again for a minute while no
 * bit was set. A flip is in the next answer.
 */
export function statusLists(deps: CredentialDeps) {
  const kept = new Map<string, Kept>();
  return async (listId: string, form: ListForm): Promise<Finished> => {
    const now = deps.clock();
    const newest = await findFlipsAcrossTenants(deps.db, listId);
    if (!newest) throw notFound();
    const name = `${listId} ${form}`;
    const known = kept.get(name);
    const isFresh =
      known && now.getTime() - known.madeAt < FRESH_MILLISECONDS && now.getTime() >= known.madeAt;
    if (known && isFresh && known.flips === newest.flips) return known.document;

    const list = await findListAcrossTenants(deps.db, listId);
    if (!list) throw notFound();
    const document = finished(await written(deps, listId, form, { bits: list.bits, at: now }));
    kept.delete(name);
    kept.set(name, { flips: list.flips, madeAt: now.getTime(), document });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest) kept.delete(oldest);
    return document;
  };
}

function written(
  deps: CredentialDeps,
  listId: string,
  form: ListForm,
  { bits, at }: { readonly bits: Buffer; readonly at: Date },
): Promise<string> | string {
  const { publicBaseUrl, keyRing } = deps;
  if (form === 'token-list') {
    const claims = tokenListClaims(tokenListUrl({ publicBaseUrl, listId }), tokenList(bits), at);
    return signToken(keyRing, 'statuslist+jwt', claims);
  }
  const profile = form === 'bitstring-2021' ? '2021' : undefined;
  const url = bitstringUrl({ publicBaseUrl, listId });
  const did = issuerDid(deps);
  const credential = statusListCredential(did, url, bitstring(bits), { at, profile });
  if (form !== 'bitstring-jwt') return JSON.stringify({ ...credential, ...proofOf(deps, credential, at) });
  const iat = epochSeconds(at);
  const claims = {
    ...credential,
    iss: did,
    sub: url,
    jti: `${listId}-${iat}`,
    iat,
    exp: iat + LIFETIME_SECONDS,
  };
  return signToken(keyRing, 'vc+jwt', claims, { cty: 'vc' });
}

/**
 * The bits of a Token Status List, whose entry 0 is the least significant bit of the first byte, as in the database.
 * @see https://datatracker.ietf.org/doc/draft-ietf-oauth-status-list/, section 4
 */
const tokenList = (bits: Uint8Array): string => deflateSync(bits, { level: 9 }).toString('base64url');

/** A byte with its bits in the other order. */
const TURNED = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
);

/** The bits of a Bitstring Status List, whose entry 0 is the most significant bit. @see Bitstring Status List v1.0 §3.2 */
const bitstring = (bits: Uint8Array): string =>
  gzipSync(bits.map((byte) => TURNED[byte] ?? 0)).toString('base64url');

/** A Data Integrity proof of the suite `eddsa-jcs-2022`; none without an identity key. @see vc-di-eddsa, section 3.3 */
export function proofOf(
  { keyRing, didHost }: Pick<CredentialDeps, 'keyRing' | 'didHost'>,
  credential: object,
  at: Date,
): { proof?: object } {
  const { ed25519 } = keyRing.identity();
  if (!ed25519 || !keyRing.signAsIdentity) return {};
  const options = {
    type: 'DataIntegrityProof',
    cryptosuite: 'eddsa-jcs-2022',
    created: at.toISOString(),
    verificationMethod: identityMethod(didHost, ed25519),
    proofPurpose: 'assertionMethod',
  };
  const context = { '@context': Object(credential)['@context'] };
  const hashed = [{ ...context, ...options }, credential].map((each) =>
    createHash('sha256').update(canonicalJson(each)).digest(),
  );
  const proofValue = multibase(keyRing.signAsIdentity(Buffer.concat(hashed)));
  return { proof: { ...context, ...options, proofValue } };
}
