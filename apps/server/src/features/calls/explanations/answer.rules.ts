import type { CheckName } from '@behest/protocol/enforcement/checks';
import type { Manifest, ManifestTool } from '@behest/protocol/manifest/manifest';
import type { AuditEntry } from '../../record/audit/index.ts';

/** What an entry says of a call. A member that an erasure took, or that an older release did not write, is undefined. */
export interface AnswerData {
  readonly callId?: string;
  readonly connector?: string;
  readonly tool?: string;
  readonly permission?: string;
  readonly resource?: string;
  readonly caseId?: string;
  readonly amount?: number | string;
  readonly actionHash?: string;
  readonly manifestVersion?: string;
  readonly capsMode?: string;
  readonly reasonCode?: string;
  readonly subReason?: string;
  readonly policyId?: string;
  readonly decisionId?: string;
  readonly checkOnly?: true;
  readonly explanation?: {
    readonly name: string;
    readonly conditions: { field: string; condition: string; met: string }[];
  };
  readonly warnings?: readonly string[];
  readonly wouldDeny?: readonly { readonly reasonCode: string; readonly subReason: string | null }[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A recorded answer to a call. */
export interface Answer {
  readonly entry: AuditEntry;
  readonly data: AnswerData;
  readonly details: Readonly<Record<string, unknown>>;
  readonly isAllowed: boolean;
  /** `<reason_code>` or `<reason_code>/<sub_reason>`; undefined where the call was allowed, or the entry was erased. */
  readonly denialKey: string | undefined;
  /** The checks that found a fault which denied nothing. */
  readonly warned: ReadonlySet<CheckName>;
}

/** As much of a grant as explanations read. */
interface GrantNow {
  readonly id: string;
  readonly status: string;
  readonly scopes: readonly string[];
  readonly authorizationDetails: unknown;
  readonly expiresAt: Date;
  readonly revokedReason: string | null;
  readonly revokedAt: Date | null;
}

/** What decides about such a call now. Undefined is what is not there any more, or what nothing names. */
export interface Current {
  readonly asOf: Date;
  readonly grant: GrantNow | undefined;
  readonly agentStatus: string | undefined;
  readonly policy: { readonly effect: string; readonly updatedAt: Date } | undefined;
  readonly manifest: Manifest | undefined;
}

const WARNINGS: Readonly<Record<string, CheckName>> = {
  region_unchecked: 'region',
  manifest_changed: 'tool',
  manifest_unknown_key: 'manifest',
  scope_unreadable: 'scopes',
  legacy_claim: 'token',
};

/** Reads the entry of an answer. */
export function answerOf(entry: AuditEntry): Answer {
  // The service wrote the entry: nobody else may write one of this action.
  const data: AnswerData = entry.metadata;
  const { reasonCode, subReason, warnings = [], wouldDeny = [], details = {} } = data;
  const warned = warnings.flatMap((code) => WARNINGS[code] ?? []);
  const caps: CheckName[] = wouldDeny.length > 0 ? ['caps'] : [];
  return {
    ...{ entry, data, details },
    isAllowed: entry.status === 'success',
    denialKey: reasonCode && (subReason === undefined ? reasonCode : `${reasonCode}/${subReason}`),
    warned: new Set([...warned, ...caps]),
  };
}

/** The tool as the manifest declares it now. */
export const declaredNow = ({ data }: Answer, { manifest }: Current): ManifestTool | undefined =>
  data.tool === undefined ? undefined : manifest?.tools.get(data.tool);

/** A member of the details, if it is a text. */
export function textOf({ details }: Answer, name: string): string | undefined {
  const value = details[name];
  return typeof value === 'string' ? value : undefined;
}
