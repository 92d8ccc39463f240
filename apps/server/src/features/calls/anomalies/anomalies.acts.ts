import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfAlert {
  readonly alertId: string;
  readonly ruleId: string;
}

export const acts = {
  'anomaly.detected': act<
    OfAlert & { readonly type: string; readonly severity: string; readonly description: string }
  >(),
  'anomaly.acknowledged': act<OfAlert>(),
  'anomaly.resolved': act<OfAlert>(),
  'anomaly.channel_disabled': act<{ readonly channelId: string; readonly reason: 'gone' }>(),
  'anomaly.auto_revoked': act<{ readonly alertId: string; readonly revokedGrants: number }>(),
};

export const entries = {
  'anomaly.rule_changed': entryOnly(),
  'anomaly.channel_changed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'anomaly.channel_changed': { readonly channelId: string; readonly changed: readonly string[] };
    'anomaly.rule_changed': { readonly ruleId: string; readonly changed: readonly string[] };
  }
}
