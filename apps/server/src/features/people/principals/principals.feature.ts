import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { principalRights } from '../scim/index.ts';
import { enforcementBegan } from '../sso/index.ts';
import { ADDRESS_KEY_USE } from './addresses.ts';
import { eraseSessions, tellAddresses, tellSessions } from './principals.repo.ts';
import { principalRoutes, rates } from './principals.routes.ts';
import { rightsOfPrincipals } from './revoke.ts';
import {
  endSessionsBeforeSso,
  endSessionsOfAccount,
  ownPageEntries,
  type SessionEnd,
  sessionReader,
} from './session.ts';
import { READER_KEY_USE } from './sign-in.ts';

const tables: TableUse = {
  owns: {
    principal_sessions: { rate: 'principalSession', kept: 'until they expire' },
    principal_addresses: { rate: 'emailCode' },
  },
  reads: [],
  writes: [],
};

const acts = {
  /** `method` says how a person has shown who they are, who came by themselves. */
  'principal.session_created': act<{
    readonly sessionId: string;
    readonly method?: 'email' | 'sso' | 'passkey';
  }>(),
  'principal.address_proved': act<
    { readonly change: 'added' | 'replaced' | 'renewed' } & (
      | { readonly authRequestId: string }
      | { readonly connectSessionId: string }
    )
  >(),
  'principal.address_removed': act<{ readonly reason: 'api' | 'principal' | 'principal_offboarded' }>(),
  'principal.session_ended': act<{ readonly sessionId: string; readonly reason: SessionEnd }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const principals = defineFeature({
  name: 'principals',
  tags: { principals: 'Calls of the page on which a person sees and ends grants.' },
  tables,
  acts,
  rates,
  keyUses: [ADDRESS_KEY_USE, READER_KEY_USE],
  listens: [
    on(accountClosed, endSessionsOfAccount),
    on(tenantErased, eraseSessions),
    on(personExported, tellSessions),
    on(personExported, tellAddresses),
    on(principalRights, rightsOfPrincipals),
    on(enforcementBegan, endSessionsBeforeSso),
  ],
  open: (context) => ({
    routes: (app) =>
      principalRoutes(app, {
        ...context,
        ownPageEntries: context.listenersOf(ownPageEntries),
        onMailFailed: () => context.metrics.counter('mail_failed').inc(),
      }),
    credentials: { session: sessionReader(context) },
  }),
});
