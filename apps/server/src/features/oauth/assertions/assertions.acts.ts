import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfRule {
  readonly connectionId: string;
  readonly clientRuleId: string;
  readonly clientId: string;
}

export const acts = {
  'sso.id_jag.updated': act<{ readonly connectionId: string; readonly enabled: boolean }>(),
  'sso.client.created': act<OfRule>(),
  'sso.client.updated': act<OfRule & { readonly changed: readonly string[] }>(),
  'sso.client.deleted': act<OfRule>(),
  'sso.stop.deleted': act<{ readonly stopId: string }>(),
};

export const entries = { 'idjag.refused': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'idjag.refused': true;
  }
}
