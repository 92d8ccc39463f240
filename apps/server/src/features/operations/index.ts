export { developmentMailRoutes } from './development-mail.routes.ts';
export { operationsRoutes } from './operations.routes.ts';
