export { rates } from './emails.rates.ts';
export { escapeSlack, nameInMail, valueInMail } from './mail.rules.ts';
