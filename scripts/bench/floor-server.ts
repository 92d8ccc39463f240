import {
  createCipheriv,
  createDecipheriv,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { createClient } from '@redis/client';
import Fastify from 'fastify';
import pg from 'pg';

/**
 * Routes written by hand that do the input and output of a flow and nothing else: no key, limit, check, log or
 * shared transaction. The service's rates are shares of theirs.
 */
const TABLES = `
  create schema floor;
  create table floor.tokens (id text primary key, grant_id text not null, revoked boolean not null default false);
  create table floor.heads (developer text primary key, seq bigint not null, hash text not null);
  create table floor.entries (
    id text primary key, developer text not null, seq bigint not null, hash text not null, prev text, body jsonb not null
  );
  create table floor.events (id text primary key, body jsonb not null);
  insert into floor.tokens (id, grant_id) select 'j' || n, 'g' || n from generate_series(1, 10000) n;
  insert into floor.heads (developer, seq, hash) select 'd' || n, 0, '' from generate_series(0, 63) n;
  analyze floor.tokens, floor.heads`;
const TOKENS = 10_000;

const SELECT = 'select revoked, grant_id from floor.tokens where id = $1';

const APPEND = `
  with head as (select seq, hash from floor.heads where developer = $1 for update),
  entry as (
    insert into floor.entries (id, developer, seq, hash, prev, body)
    select $2, $1, seq + 1, encode(sha256(convert_to(hash || $3, 'utf8')), 'hex'), hash, $3::jsonb from head
    returning seq, hash
  )
  update floor.heads set seq = entry.seq, hash = entry.hash from entry where developer = $1
  returning heads.hash`;

const FOUR_ROWS = `
  with first as (insert into floor.events (id, body) values ($1, '{"a": 1}')),
  second as (insert into floor.events (id, body) values ($2, '{"a": 1}')),
  third as (insert into floor.events (id, body) values ($3, '{"a": 1}'))
  insert into floor.events (id, body) values ($4, '{"a": 1}')`;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const redis = createClient({ url: process.env.REDIS_URL ?? '' });
await Promise.all([pool.query(TABLES), redis.connect()]);

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const text = Buffer.alloc(600, 'x'); // about the signed part of a token
const signature = sign('sha256', text, privateKey);
const signOnPool = promisify(sign);

const secretKey = randomBytes(32);
const nonce = randomBytes(12);
const cipher = createCipheriv('aes-256-gcm', secretKey, nonce);
const sealed = Buffer.concat([cipher.update('x'.repeat(40)), cipher.final()]); // as long as a token of GitHub
const tag = cipher.getAuthTag();
const unseal = () => {
  const decipher = createDecipheriv('aes-256-gcm', secretKey, nonce).setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed), decipher.final()]).toString();
};

const count = () => redis.multi().incr('floor:count').expire('floor:count', 60).exec();
let turn = 0;
const select = () => {
  turn = (turn + 1) % TOKENS;
  return pool.query({ name: 'select', text: SELECT, values: [`j${turn + 1}`] });
};

const ok = { status: 'ok' };
const schema = { response: { 200: { type: 'object', properties: { status: { type: 'string' } } } } };
const app = Fastify();
app.get('/bare', { schema }, async () => ok);
app.get('/select', { schema }, async () => {
  await count();
  await select();
  return ok;
});
app.get('/verify', { schema }, async () => {
  await count();
  if (!verify('sha256', text, publicKey, signature)) throw new Error('The signature is wrong.');
  await select();
  return ok;
});
const append = (developer: string) => {
  const id = randomUUID();
  return pool.query({ name: 'append', text: APPEND, values: [developer, id, `{"id":"${id}"}`] });
};
app.get<{ Params: { developer: string } }>('/append/:developer', { schema }, async ({ params }) => {
  await append(params.developer);
  return ok;
});
app.get<{ Params: { developer: string } }>('/unseal/:developer', { schema }, async ({ params }) => {
  await select();
  if (!unseal()) throw new Error('There is nothing in it.');
  await append(params.developer);
  return ok;
});
app.get('/sign', { schema }, async () => {
  const values = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await Promise.all([
    signOnPool('sha256', text, privateKey),
    pool.query({ name: 'four', text: FOUR_ROWS, values }),
  ]);
  return ok;
});

await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
process.once('disconnect', () => process.exit());
