import { Behest, generatePkce } from '@behest/sdk';
import { createVerifier } from '@behest/sdk/verify';

/** Verifies a token offline, refuses a changed one, and calls a service. It runs in every runtime. */
export async function tryOut({ address, issuer, developerId, token, changed }) {
  const verifier = createVerifier({ jwksUri: `${address}/.well-known/jwks.json`, issuer, developerId });
  const { principalId } = await verifier.verify(token);
  const refused = await verifier.detailed(changed);
  const behest = new Behest({ apiKey: 'bh_test_1', baseUrl: address });
  const ids = [];
  for await (const { id } of behest.agents.list()) ids.push(id);
  const missing = await behest.agents.get('a b').catch(({ name }) => name);
  return [principalId, refused.reason, ids.join(), missing, generatePkce().codeVerifier.length].join(' ');
}
