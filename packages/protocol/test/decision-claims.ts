import { type ActionParts, actionHash, actionOf } from '../src/enforcement/action.ts';

const ULID = '01J0000000000000000000000';

/** The claims of a genuine approval of a call, apart from what is changed. */
export async function decisionClaims(
  parts: Pick<ActionParts, 'connector' | 'tool'> & Partial<ActionParts>,
  change: Readonly<Record<string, unknown>> = {},
) {
  const { caseId = null, caseVersion = null } = parts;
  const action = actionOf({ arguments: {}, ...parts, caseId, caseVersion });
  if (!action) throw new Error('The arguments of the call have no action.');
  return {
    iss: 'https://auth.example.test',
    aud: 'urn:service:decision',
    iat: 0,
    exp: 3_600,
    jti: `dgnt_${ULID}1`,
    sub: 'principal:alice',
    dev: 'dev_1',
    agt: 'did:web:a',
    grnt: 'grnt_1',
    decision_id: `dec_${ULID}0`,
    nonce: 'A'.repeat(22),
    connector: parts.connector,
    tool: parts.tool,
    case_id: caseId,
    case_version: caseVersion,
    decision: action.decision,
    action_hash: await actionHash(action),
    quorum: 1,
    position: 1,
    approval: {
      method: 'passkey',
      credential: '',
      uv: true,
      at: '2026-01-01T00:00:00Z',
      assertion_sha256: '',
    },
    ...change,
  };
}

/** The claims of the second approval, after the first. */
export const secondApproval = {
  jti: `dgnt_${ULID}2`,
  prev: `dgnt_${ULID}1`,
  sub: 'principal:bob',
  quorum: 2,
  position: 2,
};
