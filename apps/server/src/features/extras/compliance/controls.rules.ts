import type { Control, Counts, PackQuery } from './compliance.schema.ts';

/** The numbers of a pack, from which the evidence for each control is taken. */
export interface PackNumbers extends Pick<Counts, 'agents' | 'grants' | 'auditEntries' | 'policies'> {
  readonly goodEntries: number;
  /** Entries that tell of an erasure. */
  readonly erasures: number;
}

type Row = readonly [
  framework: Control['framework'],
  id: string,
  title: string,
  evidence: (numbers: PackNumbers) => Control['evidence'],
];

const rows: readonly Row[] = [
  [
    'soc2',
    'CC6.1',
    'Logical access is restricted',
    ({ agents, grants }) => ({ activeAgents: agents.active, activeGrants: grants.active }),
  ],
  [
    'soc2',
    'CC6.2',
    'Access is authorized before it is granted',
    ({ agents, grants }) => ({ agents: agents.total, grants: grants.total }),
  ],
  [
    'soc2',
    'CC6.3',
    'Access is changed and removed',
    ({ agents, grants }) => ({
      revokedAgents: agents.revoked,
      suspendedAgents: agents.suspended,
      revokedGrants: grants.revoked,
      expiredGrants: grants.expired,
    }),
  ],
  [
    'soc2',
    'CC7.2',
    'Activity is monitored',
    ({ auditEntries, goodEntries }) => ({ auditEntries: auditEntries.total, verifiedEntries: goodEntries }),
  ],
  [
    'soc2',
    'CC7.3',
    'Security events are evaluated',
    ({ auditEntries }) => ({ blockedEntries: auditEntries.blocked, failedEntries: auditEntries.failure }),
  ],
  [
    'gdpr',
    'Art. 5(1)(f)',
    'Integrity and confidentiality',
    ({ auditEntries, goodEntries }) => ({ auditEntries: auditEntries.total, verifiedEntries: goodEntries }),
  ],
  [
    'gdpr',
    'Art. 7',
    'Conditions for consent',
    ({ grants }) => ({ grants: grants.total, revokedGrants: grants.revoked }),
  ],
  ['gdpr', 'Art. 17', 'Right to erasure', ({ erasures }) => ({ erasures })],
  [
    'gdpr',
    'Art. 30',
    'Records of processing activities',
    ({ auditEntries, agents }) => ({ auditEntries: auditEntries.total, agents: agents.total }),
  ],
  [
    'gdpr',
    'Art. 32',
    'Security of processing',
    ({ policies, auditEntries }) => ({ policies: policies.total, blockedEntries: auditEntries.blocked }),
  ],
];

export const controlsOf = (wanted: PackQuery['framework'], numbers: PackNumbers): Control[] =>
  rows
    .filter(([framework]) => wanted === 'all' || framework === wanted)
    .map(([framework, id, title, evidence]) => ({ id, framework, title, evidence: evidence(numbers) }));
