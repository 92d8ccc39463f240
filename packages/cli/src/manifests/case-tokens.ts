import { GRANT_CLAIM } from '@behest/protocol/claims';
import { readGrantClaims } from '@behest/protocol/claims-reading';
import type { TokenSource } from '@behest/protocol/enforcement/ports';
import { TOOLS_TYPE } from '@behest/protocol/tools-entry';
import { isRecord } from '../config/user-file.ts';

type Case = Readonly<Record<string, unknown>>;

/** The claims of a grant token, as text: no key signs it, and only the source below takes it. */
export function caseToken({ scopes = [], connector, purpose, details }: Case): string {
  const given = [details ?? []].flat();
  const entries = given.length > 0 || purpose === undefined ? given : [{ type: TOOLS_TYPE, connector }];
  const named = entries.map((entry) =>
    purpose === undefined || !isRecord(entry) ? entry : { purpose, ...entry },
  );
  return JSON.stringify({
    ...{ iss: 'https://cases.invalid', sub: 'user_1', dev: 'dev_1', client_id: 'ag_1', jti: 'tok_1' },
    ...{ scp: [scopes].flat(), iat: 0, exp: 4_102_444_800 },
    ...(named.length > 0 && { authorization_details: named }),
    [GRANT_CLAIM]: {
      grant_id: 'grnt_1',
      agent_did: 'did:web:cases.invalid:agents:ag_1',
      developer_id: 'dev_1',
    },
  });
}

/** A source that takes the claims of cases as they are. */
export const caseTokens = (): TokenSource => ({
  verify(token) {
    const payload: Case = JSON.parse(token);
    const read = readGrantClaims(payload);
    if (!read.ok) return read;
    const times = { issuedAt: new Date(0), expiresAt: new Date(Number(payload.exp) * 1_000) };
    const claims = { ...read.claims, ...times, issuer: String(payload.iss) };
    return { ok: true, header: { alg: 'ES256', kid: 'case', typ: 'at+jwt' }, payload, claims };
  },
});
