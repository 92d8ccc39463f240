import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';

/**
 * Writes the reference of the SDK from its types and comments.
 *
 * @throws Error when a comment names something that is not there
 */
export async function writeReference(root: string, out: string): Promise<void> {
  const sdk = join(root, 'packages/sdk');
  const { exports } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'));
  const options: TypeDocOptions & PluginOptions = {
    name: '@behest/sdk',
    out,
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: Object.values<string>(exports).map((file) => join(sdk, file)),
    tsconfig: join(root, 'tsconfig.json'),
    readme: 'none',
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true, // or the reference would change with every commit
    hideGenerator: true,
    ...{ entryFileName: 'index', hidePageHeader: true, hideBreadcrumbs: true, useHTMLAnchors: true },
    skipErrorChecking: true, // the types are checked before
    validation: { notExported: false, invalidLink: true, invalidPath: true },
    treatWarningsAsErrors: true,
    logLevel: 'Warn',
  };
  const app = await Application.bootstrapWithPlugins(options);
  const project = await app.convert();
  if (!project) throw new Error('The sources could not be read.');
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('The reference has faults.');
}
