export { developmentMailRoutes } from './development-mail.routes.ts';
export { metricsRoutes } from './metrics.routes.ts';
export { operationsRoutes } from './operations.routes.ts';
