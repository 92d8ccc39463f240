import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';

/** A file of the page as finished bytes. */
export interface PageFile {
  readonly body: Buffer;
  readonly type: string;
  readonly etag: string;
}

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
]);

/** The page's files by name, read once. Whatever else lies in the folder is not one of them. */
export function loadPage(): ReadonlyMap<string, PageFile> {
  const files = globSync(`${import.meta.dirname}/page/*.{html,css,js}`);
  return new Map(
    files.map((file) => {
      const body = readFileSync(file);
      const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
      return [basename(file), { body, type: TYPES.get(extname(file)) ?? '', etag }];
    }),
  );
}
