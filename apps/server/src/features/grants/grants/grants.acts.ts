import { act, announcement, type DataOf } from '../../../platform/acts.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';

export const acts = {
  'grant.created': act<{
    readonly scopes: readonly string[];
    readonly expiresAt: string;
    readonly audience?: string;
    readonly consentMethod: string;
    readonly unverified?: true;
    readonly parentGrantId?: string;
    readonly delegationDepth: number;
    /** The tools, purposes and caps of the grant; the rules of arguments as canonical JSON (RFC 8785). */
    readonly authorizationDetails?: readonly object[];
  }>(),
  'grant.revoked': act<{
    readonly rootGrantId: string;
    readonly reason: string;
    readonly cascade: boolean;
    readonly revokedBy: string;
    readonly causedBy?: string;
  }>(),
  'grant.reconsent_required': act<{
    readonly cause: RenewalCause;
    /** The tools that are wider than the person agreed to, where a manifest is the cause. */
    readonly tools?: readonly string[];
  }>(),
};

export const announcements = {
  'grant.expired': announcement<{ readonly expiresAt: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}
