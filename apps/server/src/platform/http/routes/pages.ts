import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, notFound } from '../../errors.ts';
import { finished, type Packable, packable } from '../../finished.ts';
import { documentIn, LANGUAGES, MESSAGES, pageLanguage } from '../../languages.ts';
import { variesBy } from '../answers/headers.ts';
import { prefersHtml, sendPage } from '../answers/plain-page.ts';
import { sendFinished, sendPacked } from '../answers/send.ts';
import type { Paths } from './declarations.ts';

/** The declarations of one path, for all methods. Several patterns may match: `/x/head` is also `/x/:id`. */
export interface KnownPath {
  readonly methods: readonly string[];
  readonly isForOwnPages: boolean;
  readonly fromAnyOrigin: boolean;
  /** Whether it is the path of a public document, or of one that other services publish. */
  readonly isPublic: boolean;
}

type Declared = Paths extends ReadonlyMap<string, infer One> ? One : never;

/** @returns a function that finds a path among those that are declared by its first call */
export function pathFinder(paths: Paths) {
  let patterns: (Declared & { readonly pattern: RegExp })[] | undefined;

  return (url: string): KnownPath => {
    patterns ??= [...paths].map(([path, declared]) => ({ pattern: patternOf(path), ...declared }));
    const path = url.replace(/[?#].*$/s, '');
    const found = patterns.filter(({ pattern }) => pattern.test(path));
    const methods = [...new Set(found.flatMap((each) => [...each.methods]))].sort();
    return {
      methods,
      isForOwnPages: found.some((each) => each.isForOwnPages),
      fromAnyOrigin: found.some((each) => each.fromAnyOrigin),
      isPublic: found.some((each) => each.isPublic) || (found.length === 0 && WELL_KNOWN.test(path)),
    };
  };
}

/** Programs try several forms of these paths (RFC 8414 §3.1, OpenID Discovery §4), and a page has to read each 404. */
const WELL_KNOWN = /\/\.well-known(\/|$)/;

const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '[.]').replace(/:\w+/g, '[^/]+')}$`);

/** A path without a route is 404. A path with other methods is 405, and the answer names them. */
export function unknownRoute({ methods }: Pick<KnownPath, 'methods'>, { method }: FastifyRequest): AppError {
  if (methods.length === 0) return new AppError('NOT_FOUND', 'No such route.');
  return new AppError('METHOD_NOT_ALLOWED', `This path does not take ${method}.`, { allow: methods });
}

/** Only the service's own files, and nothing that the browser would run from the document itself. */
const pagePolicy = (trustedTypes = "'none'") =>
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self'; require-trusted-types-for 'script'; trusted-types ${trustedTypes}`;

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
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
  /** Whether every text of the page has its messages. Any other page is English. */
  readonly isTranslated?: true;
  /** The policy of trusted types by which a script names the page's service worker. Any other page has none. */
  readonly workerPolicy?: string;
}

/** A page for people: a document at `/<name>`, which holds no secret, and its files below. */
export function addPage(app: FastifyInstance, page: Page): void {
  const { name, feature, summary, folder, onOwnHost, isTranslated, workerPolicy } = page;
  const host = onOwnHost && { onOwnHost };
  const files = loadFiles(folder);
  const document = files.get(`${name}.html`);
  if (!document) throw new Error(`The page ${name} has no document.`);
  const spoken = ['en', ...(isTranslated ? LANGUAGES : [])];
  const documents = new Map(spoken.map((each) => [each, documentIn(each, String(document.body))]));

  app.get(
    `/${name}`,
    {
      config: { access: 'none', rate: 'default', failures: [], ...host },
      schema: { operationId: `${feature}.page`, summary, response: { 200: Bytes } },
    },
    async ({ headers, url }, reply) => {
      const asked = new URL(url, 'http://localhost').searchParams.get('ui_locales');
      const chosen = pageLanguage(headers['accept-language'], asked);
      const language = documents.has(chosen) ? chosen : 'en';
      return reply
        .headers({
          'content-type': document.type,
          'content-security-policy': pagePolicy(workerPolicy),
          'content-language': language,
          vary: variesBy(reply, 'Accept-Language'),
        })
        .send(documents.get(language));
    },
  );
  addFiles(app, { at: `/${name}`, operationId: `${feature}.file`, files, ...host });
}

/**
 * The files that pages share. Their address ends as their folder does, so one relative path is right for the
 * browser, which goes no higher than the root, and for tools that read the sources.
 */
export const pagePartRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const files = new Map([...loadFiles(join(import.meta.dirname, '../../page')), ...loadFiles(MESSAGES)]);
  addFiles(app, { at: '/platform/page', operationId: 'pages.file', files });
};

/** A key on the colour of the pages: a PNG, which every browser takes for this name. */
const ICON = finished(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAB60lEQVR42u2bvU7EMAzHs+dNmG5l6yN0ztSNbGxIiJX9FgZWEBMvwIROMLCyITH1EcoCa5BRQaVqUvdDaVr/LVmq+nXxL7aT5mKlGKKNzbSxe23sQRtbaWNdolrVbaS2ZmqqaGMLbWyZsMF9Sm0vxhi+08a+rtjwtpItO67xeeJuPiU8co7xbuOah9y+EgCg6gyHjcV8b07oyvZOmBZNAKVAAGVzkuOEaqbqWZNUAHtVTx2lAjgoIUOfd0hUgo3/UQAAAAAAAAAAgIl6dHrhzm7v3fPbu/v4/HK/Qsd0jq7RPZsDQEbdPb04rtC9qYEYDeDk+uZfb3OFnqFnVw2ADJgqqUBQSxifEgQ1NObHuH0oHJbOCYMA9CW8q4dHd3x++Xc/HdO5vsS4CgDUU6GebBreVroW8pwlvYANgMZyn4SMb0LwCb07eQA0ofG5PfcdfeEwV14Z0iY2AJ8Lc3qf4wVzCxcCG4BPhrpcLKEOAwCEgMAkOLRNyQ6DnJCbIyyTnQglByD2VDhJADE/hrp+p53ZowOI+Tnc5Tnt5LYIgJgLImQw9bpvesvxkk0viXG8ZPOLon1egmVx/DECAAAAAAAAAAAQAiB+m5z4jZLit8rK3iwtfrs8CiZQMoOiKZTNoXASpbMonhZbPv8NJTRGl/cI7A4AAAAASUVORK5CYII=',
    'base64',
  ),
);

/** The texts of the first page. @public The check of the messages reads it. */
export const texts = {
  title: 'You decide what AI agents may do',
  lead: 'Behest asks people before an AI agent acts in their name: what it may do, how much it may spend, and until when. Each permission can be ended at any time. If a link brought you here, go back to the app that sent it.',
  docs: { label: 'API documentation', about: 'Every call, with its parameters and answers.' },
  description: { label: 'API description', about: 'The same for programs, as OpenAPI.' },
};

interface Home {
  readonly hasDocs: boolean;
}

/** What a person meets who opens the service's own address. Pages under a developer's domain show neither. */
export async function homeRoutes(app: FastifyInstance, { hasDocs }: Home): Promise<void> {
  const { title, lead, docs, description } = texts;
  const links = [...(hasDocs ? [{ ...docs, href: '/docs' }] : []), { ...description, href: '/openapi.json' }];

  app.get(
    '/',
    {
      config: { access: 'none', rate: 'default', failures: ['NOT_FOUND'], onOwnHost: true },
      schema: {
        operationId: 'pages.home',
        summary: 'What the service is, for people',
        hide: true,
        response: { 200: Bytes },
      },
    },
    async (request, reply) => {
      if (!prefersHtml(request)) throw unknownRoute({ methods: [] }, request);
      return sendPage(reply, { title, lead, links });
    },
  );

  app.get(
    '/favicon.ico',
    {
      config: { access: 'none', rate: 'default', failures: [], onOwnHost: true },
      schema: {
        operationId: 'pages.icon',
        summary: 'The icon of the pages',
        hide: true,
        response: { 200: Bytes, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFinished(request, reply, ICON, {
        'content-type': 'image/png',
        'cache-control': 'public, max-age=31536000, immutable',
      }),
  );
}

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
      return sendPacked(request, reply, file, { 'content-type': file.type, 'cache-control': 'no-cache' });
    },
  );
}

/**
 * Comments on lines of their own. They, types among them, are a sixth of the bytes that browsers would fetch.
 */
const COMMENT = /^[ \t]*(?:\/\*(?:(?!\*\/)[\s\S])*\*\/|\/\/.*)\n/gm;

interface PageFile extends Packable {
  readonly type: string;
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
      if (type === undefined || name === 'tsconfig.json') return [];
      const text = readFileSync(join(folder, name), 'utf8').replaceAll(COMMENT, '');
      return [[name, { ...packable(Buffer.from(text)), type }] as const];
    }),
  );
}
