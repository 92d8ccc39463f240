import { VERSION } from '../version.ts';
import type { Problem } from './check.ts';

/** @see SARIF 2.1.0, section 3.13 */
export const sarifOf = (problems: readonly Problem[]) => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: 'behest',
          version: VERSION,
          rules: [...new Set(problems.map(({ rule }) => rule))].map((id) => ({ id })),
        },
      },
      results: problems.map(({ file, line, column, severity, rule, path, message }) => ({
        ruleId: rule,
        level: severity,
        message: { text: path === '' ? message : `${path}: ${message}` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: file },
              region: { startLine: line, startColumn: column },
            },
          },
        ],
      })),
    },
  ],
});
