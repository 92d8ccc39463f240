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
  absent: 'absent',
  notActive: 'notActive',
  approverNeeded: 'approverNeeded',
  sso: 'sso',
  changed: 'changed',
};

/** @param {Problem} problem */
export const troubleOf = ({ kind, signInAt = '' }) => {
  const way = signInAt !== '' && paragraph(signOnButton(signInAt));
  return note(words.trouble, words.troubles[TROUBLES[kind] ?? 'other'], way);
};

/**
 * Leads to the person's identity provider and back to this page. An address of another origin leads nowhere.
 * @param {string} signInAt
 */
export function signOnButton(signInAt) {
  const goes = () => location.assign(`${signInAt}&mode=redirect&return_to=/approve`);
  return signInAt.startsWith(`${location.origin}/`) && button(words.signOn, goes);
}
