import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfApprover {
  readonly approverId: string;
}

interface OfPasskey extends OfApprover {
  readonly credentialId: string;
}

export const acts = {
  'approver.enrolled': act<OfApprover & { readonly kind: string; readonly status: string }>(),
  'approver.confirmed': act<OfApprover & { readonly confirmedBy: string }>(),
  'approver.updated': act<OfApprover & { readonly changed: readonly string[] }>(),
  'approver.recovery_requested': act<OfApprover & { readonly recoveryFrom: string }>(),
  'approver.recovery_cancelled': act<OfApprover & { readonly cancelledBy: string }>(),
  'approver.removed': act<OfApprover & { readonly reason: 'api' | 'principal_offboarded' }>(),
};

export const entries = {
  'approver.invited': entryOnly(),
  'approver.clone_suspected': entryOnly(),
  'approver.passkey_added': entryOnly(),
  'approver.passkey_removed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'approver.invited': OfApprover & { readonly mailed: boolean };
    'approver.clone_suspected': OfPasskey;
    'approver.passkey_added': OfPasskey;
    'approver.passkey_removed': OfPasskey;
  }
}
