import { translated } from '../../../../platform/page/words.js';

/** Every sentence of this page alone. The page puts a text in place of each name in braces. */
export const words = translated({
  heading: 'Show who you are',
  lead: 'An application wants an agent to act for you. Your passkey shows who you are. Next you see what the agent would be allowed to do, and you decide. Nothing is granted yet.',
  go: 'Use your passkey',
  going: 'One moment …',
  leaving: 'Going on …',
  unusable: 'This page cannot be used here',
  framed: 'This page does not work inside another page. Open it in a window of its own.',
  incomplete: 'The address of this page is not complete. Go back to the application, and start again.',
  over: 'This request is over',
  overText:
    'The time to show who you are is over, or you have done it in another window. Nothing was granted. Go back to the application, and start again.',
  problems: {
    noPasskey:
      'Your browser gave no passkey. Try again. If it offers none, your passkey cannot be found without your name: start again at the application where you registered it.',
    passkeyUnable: 'This browser or this address serves no passkeys. Open the page in another browser.',
    passkeyRefused:
      'This passkey was not accepted. It may belong to another account. Try again, and choose the passkey that you registered for this application.',
    copied: 'There may be a copy of this passkey, so it counts no longer. Use another one.',
    busy: 'There were too many tries. Try again in {duration}.',
    away: 'The service cannot answer just now. Nothing was granted. Try again.',
  },
});
