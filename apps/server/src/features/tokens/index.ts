export type { TokenDeps } from './tokens.issue.service.ts';
export { tokenRoutes } from './tokens.routes.ts';
