export { escapeSlack, nameInMail, valueInMail } from './mail.rules.ts';
export { rates } from './send.ts';
