import { defineFeature } from '../../../feature.ts';
import { rates as accountRates } from '../developers/index.ts';
import { acts } from './emails.acts.ts';
import { rates } from './emails.rates.ts';
import { emailRoutes } from './emails.routes.ts';
import { tables } from './emails.tables.ts';

export const emails = defineFeature({
  name: 'emails',
  tags: { emails: 'The verified address of the account.' },
  knows: ['audit', 'developers'],
  tables,
  acts,
  rates,
  metrics: {
    mail_failed: { kind: 'counter', help: 'Mails that the mail server did not take.' },
  },
  open(house) {
    const onMailFailed = () => house.metrics.counter('mail_failed').inc();
    const deps = { ...house, onMailFailed, linkRate: accountRates.signup };
    return { routes: (app) => app.register(emailRoutes, deps) };
  },
});
