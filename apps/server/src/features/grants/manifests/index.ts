export { type ConsentPins, pinsInToken, storedPins } from './manifests.rules.ts';
export { type FindManifest, manifestLibrary } from './put.ts';
