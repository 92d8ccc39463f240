import { translated } from '../../../../platform/page/words.js';

/** Every sentence of this page alone. The page puts a node in place of each name in braces. */
export const words = translated({
  heading: 'Connect a device',
  lead: 'A device or program of yours shows a code of eight letters. Enter it here to see what the device asks for. Nothing is granted yet.',
  compare: 'Compare the code',
  compareText:
    'The link that you opened brought this code. Continue only if your own device shows {code} at this moment.',
  warning: 'Nobody should send you a code',
  warningText:
    'If anybody sent you this code or link, by mail, message or telephone, close this window: the person who holds the device would act as you.',
  label: 'Code',
  go: 'Continue',
  going: 'One moment …',
  framed: 'This page does not work inside another page. Open it in a window of its own.',
  unusable: 'This page cannot be used here',
  problems: {
    incomplete: 'A code has eight letters, such as BCDF-GHJK.',
    unknown:
      'No device waits with this code. Look at your device again: a code is valid for ten minutes and can be entered once.',
    refused: 'The request of this device is not allowed. Your device says why.',
    busy: 'Too many codes were entered here. Try again in {duration}.',
    away: 'The service cannot answer just now. Nothing was decided. Try again.',
  },
});
