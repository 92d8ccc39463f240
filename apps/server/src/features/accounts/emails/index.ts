export { escapeSlack, nameInMail } from './emails.mail.rules.ts';
export { rates } from './emails.rates.ts';
