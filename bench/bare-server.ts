import Fastify from 'fastify';

/** What a route costs before it does anything: a shape in, a shape out, and nothing between. */
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
