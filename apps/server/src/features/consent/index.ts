export { consentRoutes } from './consent.routes.ts';
export { authenticateConsent, type ConsentDeps } from './consent.session.service.ts';
