export { consentRoutes } from './consent.routes.ts';
export { authenticateConsent } from './consent.session.service.ts';
