import { webhookReceiver } from './receiver.ts';

/** `npm start` receives with the secret that `behest webhooks create` has shown. */
const { WEBHOOK_SECRET: secret, PORT = '8080' } = process.env;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret of the webhook: whsec_…');
const events = new Map<string, unknown>();
const store = (event: { readonly id: string; readonly type: string }) => {
  events.set(event.id, event);
  process.stdout.write(`${event.type} ${event.id}\n`);
};
webhookReceiver({ secret, seen: (id) => events.has(id), store }).listen(Number(PORT), () => {
  process.stdout.write(`Deliveries are taken at http://localhost:${PORT}\n`);
});
