import { createHash } from 'node:crypto';
import { parseJson } from '@behest/protocol/json';
import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import { systemCaller } from '../../../platform/caller.ts';
import type { ChargeCredential } from '../../../platform/charge.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { isSameText } from '../../../platform/ids.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { announce } from '../../record/audit/index.ts';
import { disclosedClaims, type SdJwtParts, sdJwtParts, sdJwtPlace, statementClaims } from './sd-jwt.rules.ts';
import type { CredentialDeps } from './sign.ts';
import { findCredential } from './verifiable-credentials.repo.ts';
import { epochSeconds } from './verifiable-credentials.rules.ts';
import type {
  PresentationVerification,
  PresentCode,
  VerifyPresentationRequest,
} from './verifiable-credentials.schema.ts';
import { credentialChecker, SENTENCES, statusAt } from './verify.ts';

export const presentationRates = rateRules({
  presentationEvent: {
    perMinute: 10,
    describes: 'events of presentations, by credential; a presentation beyond is answered, and makes none',
    counts: [{ by: 'credential' }],
  },
});

interface TellDeps {
  readonly chargeCredential: ChargeCredential;
}

const KEY_BINDING_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'RS256'];
const KEY_BINDING_SECONDS = 300; // from now, before or after

const OWN_SENTENCES = {
  ...SENTENCES,
  disclosure_invalid: 'A disclosure does not belong to this credential, or comes twice.',
  key_binding_required: 'The holder has to sign the nonce and the audience.',
  key_binding_invalid: 'The key binding is not good, or is for another nonce or audience.',
} as const;

/** Says of a presentation whether it is genuine and good now, and what it shows (RFC 9901, section 7.3). */
export function presentationVerifier(deps: CredentialDeps & TellDeps) {
  const check = credentialChecker(deps, 'sd-jwt');
  return async (presentation: VerifyPresentationRequest): Promise<PresentationVerification> => {
    const parts = sdJwtParts(presentation.sdJwt);
    if (!parts) return refusal('malformed');
    const { payload, code } = check(parts.issuerJwt, deps.issuer);
    if (!payload) return refusal(code ?? 'malformed');
    const shown = disclosedClaims(payload, parts.disclosures);
    if (!shown) return refusal('disclosure_invalid');
    if (code) return refusal(code);
    const place = sdJwtPlace(deps, payload);
    const status = place && (await statusAt(deps, place));
    if (!status) return refusal('status_unavailable');
    if (status.code) return refusal(status.code);
    const binding = await bindingOf(deps, parts, payload, presentation);
    if (binding !== 'bound' && binding !== 'unbound') return refusal(binding);

    const vcId = String(payload.jti);
    await tell(deps, status.developerId, vcId);
    const { sub: id, type, sandbox } = payload;
    const mark = sandbox === undefined ? {} : { sandbox };
    const disclosed = { id, type, ...mark, ...Object.fromEntries([...statementClaims(payload), ...shown]) };
    return { valid: true, vcId, disclosedClaims: disclosed, keyBound: binding === 'bound' };
  };
}

/** A key binding that is there is always checked. */
async function bindingOf(
  { clock }: CredentialDeps,
  { keyBinding, presented }: SdJwtParts,
  { cnf }: Readonly<Record<string, unknown>>,
  { nonce, audience }: VerifyPresentationRequest,
): Promise<'bound' | 'unbound' | 'key_binding_required' | 'key_binding_invalid'> {
  const isAsked = nonce !== undefined || audience !== undefined;
  if (keyBinding === undefined) return isAsked ? 'key_binding_required' : 'unbound';
  const { jwk } = Object(cnf);
  const claims = await readKeyBinding(keyBinding, jwk);
  const hash = createHash('sha256').update(presented).digest('base64url');
  const { iat, sd_hash, nonce: said, aud } = claims ?? {};
  if (typeof iat !== 'number' || Math.abs(iat - epochSeconds(clock())) > KEY_BINDING_SECONDS) {
    return 'key_binding_invalid';
  }
  const fits =
    isText(sd_hash, hash) && isText(said, nonce ?? String(said)) && isText(aud, audience ?? String(aud));
  if (!fits) return 'key_binding_invalid';
  return nonce !== undefined && audience !== undefined ? 'bound' : 'unbound';
}

const isText = (value: unknown, expected: string) => typeof value === 'string' && isSameText(value, expected);

/** @returns the claims of a key binding that the holder's key signed */
async function readKeyBinding(token: string, jwk: JWK): Promise<Record<string, unknown> | undefined> {
  try {
    const { typ, alg = '' } = decodeProtectedHeader(token);
    if (typ !== 'kb+jwt' || !KEY_BINDING_ALGORITHMS.includes(alg)) return undefined;
    const key = await importJWK(jwk, alg);
    const { payload } = await compactVerify(token, key, { algorithms: KEY_BINDING_ALGORITHMS });
    const claims = parseJson(payload);
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined; // whatever is wrong with a text from outside
  }
}

/** Tells the developer's subscribers that a credential was shown. */
async function tell(
  { db, clock, chargeCredential }: CredentialDeps & TellDeps,
  developerId: string,
  credentialId: string,
): Promise<void> {
  if (await isTooOften(chargeCredential, credentialId)) return;
  const tenant = { developerId };
  const row = await findCredential(db, { tenant, agentIds: null }, credentialId);
  const account = await findCallerParts(db, tenant);
  if (!row || !account) return;
  const { grantId, agentId, principalId } = row;
  const at = clock();
  const caller = systemCaller(tenant, account, 'presentation');
  await inTransaction(db, async (tx) => {
    const data = { credentialId };
    await announce(tx, caller, { type: 'sd-jwt.presented', grantId, agentId, principalId, data }, at);
  });
}

/** Whoever holds a credential can present it without end, and its developer's webhooks and streams must not speak as often. */
const isTooOften = (charge: ChargeCredential, credentialId: string): Promise<boolean> =>
  charge(presentationRates.presentationEvent, credentialId).then(
    () => false,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'RATE_LIMITED') return true;
      throw error;
    },
  );

const refusal = (code: PresentCode): PresentationVerification => ({
  valid: false,
  error: OWN_SENTENCES[code],
  code,
});
