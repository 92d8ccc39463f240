import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import type { SignalEffect } from './signals.rules.ts';

export const acts = {
  'signal.received': act<{
    readonly connectionId: string;
    readonly event: string;
    readonly jti: string;
    readonly userId?: string;
    readonly principalIds?: readonly string[];
    readonly sessionsEnded: number;
    readonly grantsRevoked: number;
    readonly effect: SignalEffect;
  }>(),
  'signal.stream_silent': act<{ readonly connectionId: string; readonly lastHeardAt: string | null }>(),
};

export const entries = { 'signal.ignored': entryOnly(), 'signal.refused': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'signal.refused': true;
  }
  interface Entries {
    'signal.ignored': { readonly connectionId: string; readonly event: string; readonly jti: string };
  }
}
