export { principalRoutes } from './principals.routes.ts';
export { sessionReader } from './principals.session.service.ts';
