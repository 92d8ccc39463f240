import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { notFound } from '../../errors.ts';
import { type Finished, finished } from '../../finished.ts';
import { sendFinished } from '../answers/send.ts';

/** Only the service's own files, and nothing that the browser would run from the document itself. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
]);

const FileName = Type.Object({ file: Type.String() });
const Bytes = Type.Unsafe<Buffer | string>(Type.String());

interface Page {
  /** The page's path, with its scripts and styles below; also the name of its document. */
  readonly name: string;
  /** The feature of the page, with which its operations begin. */
  readonly feature: string;
  readonly summary: string;
  readonly folder: string;
  /** A page that no domain of a developer has. */
  readonly onOwnHost?: true;
}

/** A page for people: a document at `/<name>`, which holds no secret, and its files below. */
export function addPage(app: FastifyInstance, { name, feature, summary, folder, onOwnHost }: Page): void {
  const host = onOwnHost && { onOwnHost };
  const files = loadFiles(folder);
  const document = files.get(`${name}.html`);
  if (!document) throw new Error(`The page ${name} has no document.`);

  app.get(
    `/${name}`,
    {
      config: { access: 'none', rate: 'default', failures: [], ...host },
      schema: { operationId: `${feature}.page`, summary, response: { 200: Bytes } },
    },
    async (_request, reply) =>
      reply
        .headers({ 'content-type': document.type, 'content-security-policy': PAGE_POLICY })
        .send(document.body),
  );
  addFiles(app, { at: `/${name}`, operationId: `${feature}.file`, files, ...host });
}

/**
 * The files that pages share. Their address ends as their folder does, so one relative path is right for the
 * browser, which goes no higher than the root, and for tools that read the sources.
 */
export const pagePartRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const files = loadFiles(join(import.meta.dirname, '../../page'));
  addFiles(app, { at: '/platform/page', operationId: 'pages.file', files });
};

interface Files {
  readonly at: string;
  readonly operationId: string;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly onOwnHost?: true;
}

function addFiles(app: FastifyInstance, { at, operationId, files, onOwnHost }: Files): void {
  app.withTypeProvider<TypeBoxTypeProvider>().get(
    `${at}/:file`,
    {
      config: { access: 'none', rate: 'default', failures: ['NOT_FOUND'], ...(onOwnHost && { onOwnHost }) },
      schema: {
        operationId,
        summary: 'A script or style of a page',
        params: FileName,
        response: { 200: Bytes, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const file = files.get(request.params.file);
      if (!file || file.type.startsWith('text/html')) throw notFound();
      const headers = { 'content-type': file.type, 'cache-control': 'no-cache', vary: 'Accept-Encoding' };
      if (!takesBrotli(request.headers['accept-encoding']))
        return sendFinished(request, reply, file, headers);
      return sendFinished(request, reply, file.packed(), { ...headers, 'content-encoding': 'br' });
    },
  );
}

/**
 * Whether a client names Brotli, and does not refuse it (RFC 9110, section 12.5.3). Browsers name it wherever passkeys
 * work: over HTTPS, and on the machine itself.
 */
const takesBrotli = (accepted: string | string[] = '') =>
  /(^|[\s,])br\s*(,|$|;\s*q=(1|0?\.\d*[1-9]))/i.test(accepted.toString());

/**
 * Comments on lines of their own. They, types among them, are a sixth of the bytes that browsers would fetch.
 */
const COMMENT = /^[ \t]*(?:\/\*(?:(?!\*\/)[\s\S])*\*\/|\/\/.*)\n/gm;

interface PageFile extends Finished {
  readonly type: string;
  /** The same, compressed at the first request for it. */
  packed(): Finished;
}

/** By folder and name. A process reads them once. */
const filesByFolder = new Map<string, ReadonlyMap<string, PageFile>>();

function loadFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = filesByFolder.get(folder) ?? readFiles(folder);
  filesByFolder.set(folder, files);
  return files;
}

/** Files by name. Any other file of the folder is not served. */
function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  return new Map(
    readdirSync(folder).flatMap((name) => {
      const type = TYPES.get(extname(name));
      if (type === undefined) return [];
      const body = Buffer.from(readFileSync(join(folder, name), 'utf8').replaceAll(COMMENT, ''));
      let packed: Finished | undefined;
      const pack = () => {
        packed ??= finished(brotliCompressSync(body));
        return packed;
      };
      return [[name, { ...finished(body), packed: pack, type }] as const];
    }),
  );
}
