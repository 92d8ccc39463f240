import { withPassword } from './passwords.ts';
import type { Reader } from './setting.ts';

export const smtpUrl: Reader<string> = withPassword({
  accepts: 'an smtp:// or smtps:// URL',
  read: (text) => (/^smtps?:\/\/[^\s/?#]/.test(text) && URL.canParse(text) ? text : undefined),
});

/** An address alone, or after a name: `Behest <no-reply@auth.example>`. */
const ADDRESS = /^(?:[^<>\r\n]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

export const mailAddress: Reader<string> = {
  accepts: 'one e-mail address, with or without a display name',
  read: (text) => (text.length <= 320 && ADDRESS.test(text) ? text : undefined),
};
