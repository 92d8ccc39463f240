export { findDeclaredVersion } from './decisions.repo.ts';
