/** @import { Problem } from '../../../../platform/page/types.js' */
import { button, paragraph } from '../../../../platform/page/dom.js';
import { note } from '../../../../platform/page/parts.js';
import { translated } from '../../../../platform/page/words.js';

/** Every sentence of the page. The page puts a node in place of each name in braces. */
export const words = translated({
  loading: 'Opening your decisions …',
  unusable: 'This page cannot be used here',
  framed: 'It is shown inside another page, which could deceive you. Open it in a window of its own.',
  enrolTitle: 'Decide for {account} what agents may do',
  enrolLead:
    '{account} asks {name} to decide about calls of AI agents. You will see each call in full, and sign it with a passkey.',
  enrol: 'Make a passkey',
  enrolNote:
    'The passkey stays on your device or with your password manager. Nobody else can approve in your name.',
  enrolSignOn:
    'Your organisation can vouch for you, so that your decisions count for more. Sign in there first, and open your link again.',
  address: 'Your address',
  concerns: 'Calls of',
  everything: 'every connector',
  badLink: 'This link cannot be used',
  badLinkText:
    'It was used, has expired or was replaced, or the time in its mail has not come. Ask for a new link.',
  signInTitle: 'Sign in to decide',
  signOn: 'Sign in through your organisation',
  signInLead: 'Use the passkey that you made when you enrolled.',
  signIn: 'Sign in with your passkey',
  listTitle: 'Calls that wait for you',
  listLead: 'You decide for {account}.',
  listNothing: 'No call waits for you.',
  listChanged: {
    one: 'The list has changed. 1 call waits for you.',
    other: 'The list has changed. {n} calls wait for you.',
  },
  pending: {
    person: 'Another approver has to confirm you before you can decide.',
    principal:
      'Before you can decide, an approver of the account confirms you. Where it has none, open the link that was mailed to you now, in this browser.',
  },
  confirmedTitle: 'You confirmed your passkey',
  confirmedText: 'You can decide about calls that agents make for you, a day after you made it.',
  badConfirmation: 'It was used, has expired, or is that of another person. Ask to be invited once more.',
  notYet: 'You can decide from {time} on.',
  reload: 'Look again',
  signOut: 'Sign out',
  waits: '{agent} wants to use {tool} of {connector}. The request ends {time}.',
  history: 'Decided before',
  was: '{agent} wanted to use {tool} of {connector}, {time}.',
  more: 'Show earlier ones',
  colleagues: 'People who wait to be confirmed',
  colleague: '{name}, {email}. Confirm only a person whom you know and have spoken to.',
  confirm: 'Confirm this person',
  recoveries: 'People whom the operator lets make a new passkey',
  recovery:
    '{name}, {email}: from {time} on, a new passkey can replace those that were lost. Stop this if the person has not asked for it.',
  stopRecovery: 'Stop this',
  own: 'Your passkeys',
  passkey: 'Made {made}, last used {used}.',
  unusedPasskey: 'Made {made}, not used yet.',
  suspect: 'There may be a copy of it, so it no longer works.',
  addPasskey: 'Make a further passkey',
  removePasskey: 'Remove this passkey',
  ownLead: 'With a passkey on a second device you can still decide when you lose the first.',
  notify: 'Notifications',
  notifyLead:
    'This browser can tell you when a call waits for you, with its headline. They come also while you are signed out, and decide nothing.',
  turnOn: 'Turn on in this browser',
  turnOff: 'Turn off in this browser',
  turnOffThere: 'Turn off',
  notifyElsewhere: 'On in another browser since {time}.',
  notifyFull: 'They are on in five browsers. Turn one off to turn them on here.',
  notifyUnable: 'This browser cannot show notifications here.',
  notifyBlocked:
    'Your browser blocks notifications of this page. Allow them in its settings, and open the page again.',
  notifyFailed: 'Your browser could not turn on notifications. Try again later.',
  absence: 'Your absence',
  away: 'You are away until {time}. Nobody asks you, and you decide nothing.',
  standIn: '{name} decides in your place, with a passkey of their own.',
  deputy: 'Your deputy',
  nobody: 'Nobody',
  endAbsence: 'End your absence',
  awayUntil: 'The last day on which you are away',
  setAbsence: 'Be away from now on',
  badDay: 'Choose a day within the next ninety days.',
  callTitle: '{agent} asks to use {tool}',
  callTitled: '{agent} asks to use “{title}”',
  forWhom: 'For {principal}. If you approve, it runs once, exactly as shown.',
  agent: 'Agent',
  account: 'Account',
  mostlyBound: 'For {principal}. If you approve, it runs once, as shown. Only what is marked may differ.',
  noCurrency: 'The call names no currency for this.',
  mayDiffer: 'May differ when the call is made.',
  description: 'What the tool does',
  permission: 'Permission',
  toolOf: '{tool} of {connector}',
  purpose: 'Purpose',
  case: 'Case',
  caseOf: '{case}, version {version}',
  two: 'Two different people have to approve it.',
  second: '{first} has approved it. A second person has to approve it too.',
  ends: 'You can decide until {time}.',
  sumTo: '{sum} to {receiver}',
  noArguments: 'The call has no arguments.',
  marks: { new: '+', changed: '≠', gone: '−' },
  new: 'New:',
  changed: 'Changed:',
  before: 'Before: {before}',
  gone: 'No longer there: {argument}, which was {before}',
  details: 'Details',
  text: 'The text that is signed',
  call: 'The call',
  summary: 'In the words of the agent, which nobody has checked',
  hash: 'Its hash, which your passkey signs',
  differs: 'Not the same as before',
  differsText: 'The call differs from the last one of this tool where it is marked.',
  same: 'The same as the last call of this tool.',
  readFirst: 'There is more to read. Press Approve again when you have read the call to its end.',
  unseen: { one: '1 more line to see', other: '{n} more lines to see' },
  approve: 'Approve',
  deny: 'Deny',
  back: 'All calls',
  approvedTitle: 'You approved the call',
  approvedText: 'The agent can make exactly this call now, once.',
  firstText: 'A second person has to approve before the agent can make this call.',
  deniedTitle: 'You denied the call',
  deniedText: 'The agent cannot make this call.',
  overTitle: 'This call needs no decision now',
  over: {
    approved: 'The call was approved.',
    consumed: 'The call was approved and made.',
    denied: 'The call was denied.',
    cancelled: 'The request was taken back.',
    superseded: 'The case has changed, so the request ended.',
    expired: 'The time to decide is over, so the call was not approved.',
    other: 'The request has ended.',
  },
  requestChanged: 'The request has changed',
  renewed: 'Another person approved the call while you read it.',
  cannot: 'You can read this call and not decide about it: you are absent, or may not decide yet.',
  trouble: 'This did not work',
  troubles: {
    busy: 'There were too many tries. Wait a moment.',
    away: 'The service does not answer now. Nothing was decided.',
    uncertain: 'No answer came. Look again before you decide once more.',
    noPasskey: 'Your browser gave no passkey. Nothing was decided.',
    passkeyUnable: 'This browser or this address serves no passkeys.',
    passkeyRefused: 'The passkey was not accepted. Nothing was decided.',
    copied: 'There may be a copy of this passkey. Ask for a new invitation.',
    person: 'This call needs two different people, and you count as the first one.',
    old: 'Your last sign-in is too long ago. Sign in again to decide.',
    sso: 'Your organisation asks that you sign in there first. Then come back, or open your link again.',
    absent: 'You are away, so you decide nothing. End your absence on the page of all calls first.',
    notActive: 'You may not decide yet.',
    approverNeeded: 'The account has approvers, so one of them has to confirm you.',
    last: 'This is your last passkey. Make another one first.',
    changed: 'The call, its case or its status changed. Look at it again.',
    other: 'The service refused this. Nothing was decided.',
  },
});

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
