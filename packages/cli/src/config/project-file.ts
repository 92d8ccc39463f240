import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { readJsonFile } from './user-file.ts';

export interface ProjectConfig {
  readonly file: string;
  readonly url?: string;
  readonly profile?: string;
  readonly manifests?: readonly string[];
}

/** Finds `behest.json` in a folder or the nearest one above it. @throws CliError for one that holds a key */
export function readProject(folder: string): ProjectConfig | undefined {
  const file = join(folder, 'behest.json');
  if (!existsSync(file)) return dirname(folder) === folder ? undefined : readProject(dirname(folder));
  const { url, profile, manifests, ...rest } = readJsonFile(file);
  if ('apiKey' in rest) {
    throw new CliError(
      'CONFIGURATION',
      `${file} has an \`apiKey\`: project files are shared, and keys are not.`,
      {
        next: 'behest config set --key -',
      },
    );
  }
  const paths = [manifests ?? []].flat().map(String);
  return {
    file,
    ...(typeof url === 'string' && { url }),
    ...(typeof profile === 'string' && { profile }),
    ...(manifests !== undefined && { manifests: paths.map((path) => join(dirname(file), path)) }),
  };
}
