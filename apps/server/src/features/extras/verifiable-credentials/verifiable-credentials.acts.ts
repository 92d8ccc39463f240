import { act, announcement, type DataOf } from '../../../platform/acts.ts';

interface OfCredential {
  readonly credentialId: string;
}

export const acts = {
  'vc.issued': act<OfCredential>(),
  'vc.revoked': act<OfCredential>(),
  'sd-jwt.issued': act<OfCredential>(),
  'passport.issued': act<OfCredential>(),
  'passport.revoked': act<OfCredential>(),
};

export const announcements = {
  'sd-jwt.presented': announcement<OfCredential>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}
