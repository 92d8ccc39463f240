export {
  approvalWords,
  type ConsentPins,
  pinsInToken,
  storedPins,
  toolsInWords,
} from './manifests.rules.ts';
export { draftOf, type FindManifest, manifestLibrary } from './put.ts';
