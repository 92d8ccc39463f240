import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed, rates as accountRates } from '../developers/index.ts';
import { eraseEmails } from './emails.repo.ts';
import { emailRoutes } from './emails.routes.ts';
import { freeAddress, rates } from './send.ts';

const tables: TableUse = {
  owns: {
    email_verifications: { rate: 'emailVerify' },
    email_verification_index: { of: 'email_verifications' },
    verified_emails: { most: 1 },
  },
  reads: [],
  writes: [],
};

/** The address itself stays out, because entries are kept when an account is erased. */
const acts = {
  'developer.email_verified': act<{ readonly verificationId: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const emails = defineFeature({
  name: 'emails',
  tags: { emails: 'The verified address of the account.' },
  tables,
  acts,
  rates,
  metrics: {
    mail_failed: { kind: 'counter', help: 'Mails that the mail server did not take.' },
  },
  listens: [on(accountClosed, freeAddress), on(tenantErased, eraseEmails)],
  open(context) {
    const onMailFailed = () => context.metrics.counter('mail_failed').inc();
    const deps = { ...context, onMailFailed, linkRate: accountRates.signup };
    return { routes: (app) => emailRoutes(app, deps) };
  },
});
