import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { AppError, notFound } from '../../../platform/errors.ts';
import { type Packable, packable } from '../../../platform/finished.ts';

/** What `apps/console/build.ts` writes. Packages and the image of the service hold it too. */
const FOLDER = join(import.meta.dirname, '../../../../console');
const DOCUMENT = 'index.html';
/** Files whose names hold the digest of their content. */
const ASSETS = 'assets/';

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

interface ConsoleFile extends Packable {
  readonly type: string;
  readonly isDocument: boolean;
}

/** Read at the first request, and once in a process. */
let known: ReadonlyMap<string, ConsoleFile> | undefined;

/**
 * @param path below `/console/`
 * @returns an asset, and the document for every other path
 * @throws NOT_FOUND for an asset that the build does not have, SERVICE_UNAVAILABLE without a build
 */
export function findFile(path: string): ConsoleFile {
  known ??= readFiles();
  const document = known.get(DOCUMENT);
  if (!document) {
    known = undefined; // a build may come while the process runs
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      'The console is not built. `npm start` builds it; beside any other start, run `node apps/console/build.ts`.',
    );
  }
  if (!path.startsWith(ASSETS)) return document;
  const asset = known.get(path);
  if (!asset) throw notFound();
  return asset;
}

function readFiles(): ReadonlyMap<string, ConsoleFile> {
  if (!existsSync(FOLDER)) return new Map();
  return new Map(
    globSync(['index.html', 'assets/*'], { cwd: FOLDER }).flatMap((name) => {
      const type = TYPES.get(extname(name));
      if (type === undefined) return [];
      const file = packable(readFileSync(join(FOLDER, name)));
      return [[name, { ...file, type, isDocument: name === DOCUMENT }] as const];
    }),
  );
}
