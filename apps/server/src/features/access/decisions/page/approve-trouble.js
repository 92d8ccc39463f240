/** @import { Problem } from '../../../../platform/page/types.js' */
import { button, paragraph } from '../../../../platform/page/dom.js';
import { note } from '../../../../platform/page/parts.js';
import { words } from './approve-words.js';

/** @type {Partial<Record<Problem['kind'], keyof typeof words.troubles>>} */
const TROUBLES = {
  busy: 'busy',
  away: 'away',
  uncertain: 'uncertain',
  noPasskey: 'noPasskey',
  passkeyUnable: 'passkeyUnable',
  notEnrolled: 'passkeyUnable',
  passkeyRefused: 'passkeyRefused',
  noSession: 'passkeyRefused',
  copied: 'copied',
  otherPerson: 'person',
  oldSession: 'old',
  lastPasskey: 'last',
  sso: 'sso',
  changed: 'changed',
};

/** @param {Problem} problem */
export const troubleOf = ({ kind, signInAt = '' }) => {
  const goes = () => location.assign(`${signInAt}&mode=redirect&return_to=/approve`);
  const way = signInAt.startsWith(`${location.origin}/`) && paragraph(button(words.signOn, goes));
  return note(words.trouble, words.troubles[TROUBLES[kind] ?? 'other'], way);
};
