import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../platform/errors.ts';
import { type Packable, packable } from '../../../platform/finished.ts';

/** What `apps/console/build.ts` writes. Packages and the image of the service hold it too. */
const FILE = join(import.meta.dirname, '../../../../console/verify.html');

interface VerifierPage {
  readonly html: string;
  readonly packed: Packable;
  /** The content security policy of its own. */
  readonly policy: string;
}

/** Read at the first request, and once in a process. */
let known: VerifierPage | undefined;

/** The page that checks receipts. @throws SERVICE_UNAVAILABLE without a build */
export function verifierPage(): VerifierPage {
  if (known) return known;
  if (!existsSync(FILE)) {
    const message =
      'The page is not built. `npm start` builds it; beside any other start, run `node apps/console/build.ts`.';
    throw new AppError('SERVICE_UNAVAILABLE', message);
  }
  const html = readFileSync(FILE, 'utf8');
  const [, policy = ''] = /content-security-policy" content="([^"]*)"/.exec(html) ?? [];
  known = { html, packed: packable(html), policy };
  return known;
}
