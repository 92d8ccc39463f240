import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { texts } from '../server/src/features/record/receipts/page-texts.ts';
import { LANGUAGES, MESSAGES } from '../server/src/platform/languages.ts';

const FOLDER = 'apps/server/src/features/record/receipts/page';

/**
 * Makes the page that checks receipts: one file with its script, its styles and its messages. Its own policy lets it load
 * and send nothing, from wherever it is opened.
 */
export async function verifyPage(root: string): Promise<string> {
  const script = await bundled(root);
  const styles = ['apps/server/src/platform/page/page.css', `${FOLDER}/verify.css`]
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('')
    .replaceAll(/^\s*\/\*[\s\S]*?\*\/\n/gm, '');
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(styles)}'`,
    ...['img-src data:', "base-uri 'none'", "form-action 'none'"],
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<title>${texts.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>${styles}</style>
</head>
<body>
<header class="masthead">Behest</header>
<main id="page"><noscript><h1>${texts.title}</h1></noscript></main>
<script type="application/json" id="receipt"></script>
<script type="application/json" id="messages">${JSON.stringify(messages())}</script>
<script>${script}</script>
</body>
</html>
`;
}

const digestOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

async function bundled(root: string): Promise<string> {
  const built = await build({
    ...{ root, configFile: false, logLevel: 'warn', publicDir: false },
    build: {
      ...{ write: false, modulePreload: false, target: 'es2023', minify: true },
      rolldownOptions: {
        input: join(root, FOLDER, 'verify.js'),
        output: { format: 'iife', comments: false },
      },
    },
  });
  const [output, ...more] = 'output' in built ? built.output : [];
  if (!output || more.length > 0) throw new Error('The page has to be one file.');
  return output.code.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

/** The messages of the page by language, from English. */
function messages(): Record<string, Record<string, string>> {
  const said = new Set(leaves(texts));
  return Object.fromEntries(
    LANGUAGES.map((language) => {
      const all: Record<string, string> = JSON.parse(
        readFileSync(join(MESSAGES, `${language}.json`), 'utf8'),
      );
      return [language, Object.fromEntries(Object.entries(all).filter(([english]) => said.has(english)))];
    }),
  );
}

const leaves = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(Object(value)).flatMap(leaves);
