import Fastify from 'fastify';

/** A route that does nothing: it shows the cost of HTTP and schemas alone. */
const app = Fastify();
const text = { type: 'string' };
const schema = {
  body: { type: 'object', required: ['token'], properties: { token: text } },
  response: { 200: { type: 'object', properties: { valid: { type: 'boolean' } } } },
};
app.post('/bare', { schema }, async () => ({ valid: false }));
await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
process.once('disconnect', () => process.exit());
