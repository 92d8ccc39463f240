interface ErrorCode {
  readonly status: number;
  readonly meaning: string;
}

const INTRODUCTION = `# Errors

<!-- Written by \`npm run generate\` from packages/protocol/src/errors.ts. -->

Every answer that is not a success has this body. Programs go by \`code\`, which never changes its meaning;
\`message\` is for people. [Errors of the protocol](protocol/errors.md) has the bodies of OAuth and SCIM, rates and repetition.

\`\`\`json
{ "code": "NOT_FOUND", "message": "…", "requestId": "req_…", "details": {} }
\`\`\`
`;

const REASONS = `## Reasons of INVALID_GRANT

\`details.reason\` is one of these.

| Reason | Meaning and remedy |
| --- | --- |
`;

/** Makes the page on errors: a table for each status, and an anchor for each code. */
export function errorPage(
  codes: Readonly<Record<string, ErrorCode>>,
  grantReasons: Readonly<Record<string, string>> = {},
): string {
  const statuses = [...new Set(Object.values(codes).map(({ status }) => status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const rows = Object.entries(codes)
      .filter(([, code]) => code.status === status)
      .map(([code, { meaning }]) => `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${cell(meaning)} |`);
    return `## ${status}\n\n| Code | Meaning and remedy |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  const reasons = Object.entries(grantReasons).map(([reason, text]) => `| \`${reason}\` | ${cell(text)} |`);
  return [INTRODUCTION, ...sections, `${REASONS}${reasons.join('\n')}\n`].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
