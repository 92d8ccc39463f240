import { act, type DataOf } from '../../../platform/acts.ts';

/** Why a session ended before its time. */
export type SessionEnd = 'signed_out' | 'offboarded' | 'sso_enforced' | 'signal';

export const acts = {
  'principal.session_created': act<{ readonly sessionId: string }>(),
  'principal.session_ended': act<{ readonly sessionId: string; readonly reason: SessionEnd }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
