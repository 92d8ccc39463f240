import { metricsToken } from '../../../config/secrets.ts';
import { optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { developmentMailRoutes, metricsRoutes, operationsRoutes } from './operations.routes.ts';

export const operations = defineFeature({
  name: 'operations',
  tags: { operations: 'Health and metrics of the service.' },
  settings: {
    METRICS_TOKEN: optional(
      metricsToken,
      'none: `/metrics` answers only this machine, and no caller in production',
      'The token of `GET /metrics`, sent as `Authorization: Bearer <METRICS_TOKEN>`.',
    ),
  },
  open: (context, settings) => ({
    async routes(app) {
      await operationsRoutes(app, context);
      await metricsRoutes(app, { ...context, metricsToken: settings.METRICS_TOKEN });
      const { development: mails, publicBaseUrl } = context;
      if (mails) await developmentMailRoutes(app, { mails, publicBaseUrl });
    },
  }),
});
