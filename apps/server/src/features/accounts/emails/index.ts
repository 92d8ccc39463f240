export { rates } from './emails.rates.ts';
export { escapeSlack, nameInMail } from './mail.rules.ts';
