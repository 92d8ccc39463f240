import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed, rates as accountRates } from '../developers/index.ts';
import { acts } from './emails.acts.ts';
import { rates } from './emails.rates.ts';
import { eraseEmails } from './emails.repo.ts';
import { emailRoutes } from './emails.routes.ts';
import { freeAddress } from './emails.service.ts';
import { tables } from './emails.tables.ts';

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
  open(house) {
    const onMailFailed = () => house.metrics.counter('mail_failed').inc();
    const deps = { ...house, onMailFailed, linkRate: accountRates.signup };
    return { routes: (app) => app.register(emailRoutes, deps) };
  },
});
